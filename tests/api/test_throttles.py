"""Throttles from the table, switched on by configuration: 429, when to come back, and nobody else's calls used up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from api.merchants import add_merchant, find_merchant_id, run_command, wait_until
from gateway import Client, GatewayProcess

WINDOW_S = 60
ROWS = f"create_payment=5/{WINDOW_S},read_payment=2/{WINDOW_S},query_list=1/{WINDOW_S},wrong_token=3/{WINDOW_S}"


@pytest.fixture(scope="module")
def throttled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    environment = {"TOLLGATE_THROTTLES": ROWS}
    with GatewayProcess(tmp_path_factory.mktemp("throttled"), environment=environment) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def known(throttled: GatewayProcess) -> Client:
    return throttled.client()


@pytest.fixture
def caller(known: Client) -> Client:
    """A merchant whose windows have all passed."""
    assert known.post("/sandbox/clock", {"advance": str(WINDOW_S)}).status == 200
    return known


def test_one_call_too_many_is_429_and_says_when_to_come_back(caller: Client) -> None:
    assert [caller.pay().status for _ in range(5)] == [200] * 5

    answer = caller.pay()

    assert (answer.status, answer.code) == (429, "800.120.100")
    assert answer.json["result"]["description"] == "Too many requests. Please try again later."
    assert set(answer.json) == {"result", "buildNumber", "timestamp", "ndc", "id"}
    assert 0 < int(answer.headers["retry-after"]) <= WINDOW_S


def test_a_window_passes_by_the_hosts_clock(caller: Client) -> None:
    assert [caller.pay().status for _ in range(6)][-1] == 429

    caller.post("/sandbox/clock", {"advance": str(WINDOW_S)})

    assert caller.pay().status == 200


def test_reading_is_counted_for_each_payment_and_named_by_its_id(caller: Client) -> None:
    first, second = (caller.pay().json["id"] for _ in range(2))
    assert [caller.get(f"/v1/payments/{first}").status for _ in range(3)] == [200, 200, 429]

    assert caller.get(f"/v1/payments/{first}").json["id"] == first
    assert caller.get(f"/v1/payments/{second}").status == 200


def test_requests_that_fit_no_dispatch_row_are_counted_for_their_merchant(throttled: GatewayProcess) -> None:
    other = add_merchant(throttled, "Dispatched")
    wait_until(lambda: other.get("/v1/query/none").code == "700.400.580")
    run_command(throttled, "dispatch", "add", other.entity_id, "--currencies", "USD")
    merchant = replace(other, entity_id=find_merchant_id(throttled, other))
    wait_until(lambda: merchant.get("/v1/query/none").code == "700.400.580")

    codes = [merchant.pay().code for _ in range(6)]

    assert codes == ["600.200.500"] * 5 + ["800.120.100"]
    # Its channel has calls of its own, by whichever id it is named.
    assert [merchant.pay(currency="USD").status for _ in range(3)] == [200] * 3
    assert [other.pay().status for _ in range(3)] == [200, 200, 429]


def test_nobody_uses_up_anothers_calls(throttled: GatewayProcess, caller: Client) -> None:
    other = add_merchant(throttled, "Other")
    wait_until(lambda: other.get("/v1/query/none").code == "700.400.580")
    payment_id = caller.pay().json["id"]

    for _ in range(5):
        other.get(f"/v1/payments/{payment_id}")

    assert caller.get(f"/v1/payments/{payment_id}").status == 200


def test_a_caller_without_a_right_is_refused_before_it_is_counted(caller: Client) -> None:
    for _ in range(10):
        assert caller.send("POST", "/v1/payments", f"entityId={caller.entity_id}").status == 401

    assert caller.pay().status == 200


def test_rows_that_are_off_count_nothing(caller: Client) -> None:
    statuses = {caller.get(f"/v1/query/{'8a' + '0' * 30}").status for _ in range(20)}

    assert statuses == {400}


def test_wrong_tokens_are_slowed_down_and_the_right_one_is_served_from_the_same_address(caller: Client) -> None:
    guesser = replace(caller, token="OGEwMXxndWVzcw==")
    login = {"authentication.userId": "8a01", "authentication.password": "guess"}

    answers = [guesser.get("/v1/query/none") for _ in range(3)]
    by_login = caller.send("GET", f"/v1/query/none?entityId={caller.entity_id}&{urlencode(login)}")
    late = guesser.get("/v1/query/none")

    assert [(answer.status, answer.code) for answer in answers] == [(403, "800.900.300")] * 3
    for answer in (by_login, late):
        assert (answer.status, answer.code) == (429, "800.120.100")
        assert 0 < int(answer.headers["retry-after"]) <= WINDOW_S
    assert caller.pay().status == 200
    # Neither a missing header nor a right token for another entity is a guess.
    assert caller.send("GET", "/v1/query/none").status == 401
    assert replace(caller, entity_id="8a" + "0" * 30).get("/v1/query/none").status == 403
