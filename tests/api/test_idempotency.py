"""Idempotency-Key: the same request twice is one payment, also in a race."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest

from gateway import PAYMENT, Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

DAY_S = 24 * 3600


def pay(client: Client, key: str, **changes: str | None) -> Answer:
    return client.pay({"Idempotency-Key": key}, **changes)


def count_payments(client: Client, reference: str) -> int:
    return len(client.get("/v1/query", {"merchantTransactionId": reference}).json.get("payments", []))


def test_the_same_request_gets_the_first_answer_again(client: Client) -> None:
    first = pay(client, "again-1", merchantTransactionId="answered-twice")
    second = pay(client, "again-1", merchantTransactionId="answered-twice")

    assert (second.status, second.body) == (first.status, first.body)
    assert second.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert count_payments(client, "answered-twice") == 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("declined", {"customParameters[forceResultCode]": "800.100.151"}),
        ("objected", {"card.number": "4444444444444444"}),
        ("silent", {"customParameters[simulatorFault]": "lost"}),
    ],
)
def test_a_failure_that_was_an_attempt_is_kept_too(client: Client, name: str, changes: dict[str, str]) -> None:
    first = pay(client, f"kept-{name}", **changes)
    second = pay(client, f"kept-{name}", **changes)

    assert first.status == 400
    assert (second.status, second.body) == (first.status, first.body)


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": "92.01"},
        {"card.number": "4242424242424242"},
        {"card.holder": "Jane Janes"},
        {"merchantTransactionId": "one-more-field"},
        {"card.holder": None},
    ],
)
def test_a_key_used_for_another_request_is_a_conflict(client: Client, changes: dict[str, str | None]) -> None:
    pay(client, "other-body")

    answer = pay(client, "other-body", **changes)

    assert (answer.status, answer.code) == (409, "800.110.100")


def test_what_is_never_stored_is_not_compared(client: Client) -> None:
    first = pay(client, "other-cvv", card__cvv="123")

    assert pay(client, "other-cvv", card__cvv="321").json["id"] == first.json["id"]
    assert pay(client, "other-cvv", card__cvv=None).json["id"] == first.json["id"]


def test_the_order_of_fields_and_unknown_names_do_not_make_another_request(client: Client) -> None:
    first = pay(client, "reordered")
    reordered = urlencode({**dict(reversed(PAYMENT.items())), "csrf": "x", "entityId": client.entity_id})

    again = client.send("POST", "/v1/payments", reordered, client.authorized({"Idempotency-Key": "reordered"}))

    assert again.json["id"] == first.json["id"]


def test_a_key_belongs_to_its_entity(client: Client, lenient: Client, stranger: Client) -> None:
    ids = {pay(caller, "same-key").json["id"] for caller in (client, lenient, stranger)}

    assert len(ids) == 3


def test_faults_are_not_kept(client: Client) -> None:
    assert pay(client, "mended", card__cvv="x").code == "200.300.404"

    assert pay(client, "mended").status == 200


@pytest.mark.parametrize("key", ["k" * 256, "two words", "schl\xfcssel"])
def test_a_bad_key_is_named(client: Client, key: str) -> None:
    answer = pay(client, key)

    assert (answer.status, list(answer.faults)) == (400, ["Idempotency-Key"])


def test_the_longest_key_is_taken_and_an_empty_one_is_none(client: Client) -> None:
    assert pay(client, "k" * 255).json["id"] == pay(client, "k" * 255).json["id"]
    assert pay(client, "").json["id"] != pay(client, "").json["id"]


def test_thirty_parallel_requests_make_one_payment(client: Client) -> None:
    reference, together = "thirty-at-once", threading.Barrier(30)

    def send(_number: int) -> Answer:
        together.wait()
        return pay(
            client,
            "race-30",
            merchantTransactionId=reference,
            **{"customParameters[simulatorDelay]": "200"},
        )

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(send, range(30)))

    codes = Counter((answer.status, answer.code) for answer in answers)
    assert set(codes) <= {(200, "000.100.110"), (409, "800.600.100")}
    assert len({answer.json["id"] for answer in answers if answer.status == 200}) == 1
    assert count_payments(client, reference) == 1
    assert pay(
        client, "race-30", merchantTransactionId=reference, **{"customParameters[simulatorDelay]": "200"}
    ).headers["idempotency-replayed"]


def test_a_key_outlives_a_restart(gateway: GatewayProcess, client: Client) -> None:
    first = pay(client, "restarted")

    assert gateway.stop() == 0
    gateway.start()

    assert pay(client, "restarted").body == first.body


def test_a_key_is_free_again_after_a_day_by_the_hosts_clock(client: Client) -> None:
    first = pay(client, "expires")
    advance(client, DAY_S - 60)
    assert pay(client, "expires").json["id"] == first.json["id"]

    advance(client, 61)

    second = pay(client, "expires", amount="5.00")
    assert second.status == 200
    assert second.json["id"] != first.json["id"]


def advance(client: Client, seconds: int) -> None:
    assert client.post("/sandbox/clock", {"advance": str(seconds)}).status == 200
