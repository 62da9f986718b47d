"""Tests of access: tokens, entities, and ids of other merchants, which look unknown."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from api.merchants import add_merchant, find_merchant_id, run_command, wait_until
from gateway import PAYMENT, Answer, Client, GatewayProcess

UNKNOWN_ID = "8a" + "0" * 30


@pytest.mark.parametrize(
    "header",
    [None, "", "Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "Bearer two words", "Token abc", "Bearer \xe9"],
)
def test_a_missing_or_malformed_header_is_401_with_a_challenge(client: Client, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}

    answer = client.send("POST", "/v1/payments", urlencode({"entityId": client.entity_id, **PAYMENT}), headers)

    assert (answer.status, answer.code) == (401, "800.900.300")
    assert answer.json["result"]["description"] == "invalid authentication information"
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert_envelope(answer)


def test_a_wrong_token_is_403(client: Client) -> None:
    for token in ("wrong", client.token[:-4] + "AAAA", client.token.lower()):
        answer = replace(client, token=token).pay()

        assert (answer.status, answer.code) == (403, "800.900.300")
        assert_envelope(answer)


def test_the_header_may_spell_bearer_in_lower_case_and_pad_the_token(client: Client) -> None:
    for header in (f"bearer {client.token}", f"Bearer  {client.token}", f" Bearer {client.token} "):
        answer = client.send("GET", f"/v1/payments/{UNKNOWN_ID}", None, {"Authorization": header})

        assert answer.status == 404


def test_no_entity_or_a_malformed_one_is_named(client: Client) -> None:
    for entity_id in (None, "", "abc", "8A" + "0" * 30, "g" * 32, "8a" + "0" * 31):
        answer = client.post("/v1/payments", {**PAYMENT, "entityId": entity_id})

        assert (answer.status, answer.code) == (400, "200.300.404")
        assert list(answer.faults) == ["entityId"]


def test_an_entity_may_be_named_in_the_older_spelling(client: Client) -> None:
    answer = client.post("/v1/payments", {**PAYMENT, "entityId": None, "authentication.entityId": client.entity_id})

    assert answer.status == 200


def test_an_entity_in_the_query_of_a_post_counts(client: Client) -> None:
    answer = client.send("POST", f"/v1/payments?entityId={client.entity_id}", urlencode(PAYMENT), client.authorized())

    assert answer.status == 200


def test_an_entity_glued_to_another_query_is_trimmed(client: Client) -> None:
    answer = client.get(f"/v1/query/{UNKNOWN_ID}", {"entityId": f"{client.entity_id}?paymentTypes=DB"})

    assert answer.code == "700.400.580"


def test_a_repeated_entity_is_refused_on_every_channel(client: Client, lenient: Client) -> None:
    for caller in (client, lenient):
        for name in ("entityId", "authentication.entityId"):
            body = urlencode({**PAYMENT, "entityId": caller.entity_id}) + f"&{name}={caller.entity_id}"

            answer = caller.send("POST", "/v1/payments", body, caller.authorized())

            assert answer.faults == {name: "must not be repeated"}


def test_an_entity_is_optional_where_an_id_says_enough(client: Client) -> None:
    payment_id = client.pay().json["id"]

    assert client.get(f"/v1/payments/{payment_id}", {"entityId": None}).json["id"] == payment_id
    assert client.send("GET", "/v1/resultcodes").status == 200


def test_one_token_serves_all_channels_of_its_merchant(client: Client, lenient: Client) -> None:
    assert client.token == lenient.token
    assert client.pay().status == lenient.pay().status == 200


def test_anothers_entity_answers_exactly_as_an_unknown_one(client: Client, stranger: Client) -> None:
    for path in ("/v1/query/none", "/v1/payments/none"):
        foreign = client.get(path, {"entityId": stranger.entity_id})

        assert (foreign.status, foreign.code) == (403, "800.900.201")
        assert comparable(foreign) == comparable(client.get(path, {"entityId": UNKNOWN_ID}))
    foreign = client.pay(entityId=stranger.entity_id)
    assert comparable(foreign) == comparable(client.pay(entityId=UNKNOWN_ID))


@pytest.mark.both_databases
def test_anothers_payment_answers_exactly_as_an_unknown_one(client: Client, stranger: Client) -> None:
    payment_id = stranger.pay(merchantTransactionId="their-order-01").json["id"]

    for path in ("/v1/payments/{}", "/v1/query/{}"):
        foreign, unknown = client.get(path.format(payment_id)), client.get(path.format(UNKNOWN_ID))
        assert foreign.code == "700.400.580"
        assert comparable(foreign) == comparable(unknown)
    found = client.get("/v1/query", {"merchantTransactionId": "their-order-01"})
    unknown = client.get("/v1/query", {"merchantTransactionId": "no-such-order"})
    assert comparable(found) == comparable(unknown)
    assert stranger.get(f"/v1/payments/{payment_id}").status == 200


@pytest.mark.both_databases
def test_a_report_shows_only_the_channel_it_is_asked_for(client: Client, lenient: Client) -> None:
    payment_id = client.pay(merchantTransactionId="one-channel-1").json["id"]

    assert client.get(f"/v1/query/{payment_id}").status == 200
    assert lenient.get(f"/v1/query/{payment_id}").code == "700.400.580"
    assert lenient.get("/v1/query", {"merchantTransactionId": "one-channel-1"}).code == "700.400.580"


@pytest.mark.both_databases
def test_a_revoked_token_and_a_closed_channel_stop_working_without_a_restart(gateway: GatewayProcess) -> None:
    leaving = add_merchant(gateway, "Leaving")
    wait_until(lambda: leaving.pay().status == 200)

    run_command(gateway, "channel", "set", leaving.entity_id, "--closed")
    wait_until(lambda: leaving.pay().code == "500.100.203")

    run_command(gateway, "channel", "set", leaving.entity_id, "--open")
    wait_until(lambda: leaving.pay().status == 200)

    run_command(gateway, "token", "revoke", find_token_id(gateway, leaving))
    wait_until(lambda: leaving.pay().status == 403)


def find_token_id(gateway: GatewayProcess, client: Client) -> str:
    merchant_id = find_merchant_id(gateway, client)
    return next(line for line in run_command(gateway, "token", "list").splitlines() if merchant_id in line).split()[0]


def assert_envelope(answer: Answer) -> None:
    assert set(answer.json) == {"result", "buildNumber", "timestamp", "ndc"}
    assert answer.headers["content-type"].startswith("application/json")


def comparable(answer: Answer) -> tuple[int, bytes, dict[str, str]]:
    """Returns the answer without what names the moment and the request."""
    body = answer.body
    for name in ("ndc", "timestamp"):
        body = body.replace(json.dumps(answer.json[name]).encode(), b'""')
    return answer.status, body, {name: value for name, value in answer.headers.items() if name != "date"}
