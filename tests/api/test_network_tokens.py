"""Network tokens over HTTP: registered cards that are charged by them, events that change them, who may send those."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from api.chains import result_of
from api.merchants import add_channel, run_command, wait_until
from api.registration_requests import CHARGE, change, get_registration, list_topics, pay_with, read, register, remove
from api.server import SharedServer
from api.token_vaults import PROOF, RecordingVault
from gateway import CARD, Answer, Client, GatewayProcess
from tollgate.connectors import tokens

VALID = {**CARD, "card.expiryYear": "2031"}
ALONE = {
    "standingInstruction.mode": "REPEATED",
    "standingInstruction.source": "MIT",
    "standingInstruction.type": "UNSCHEDULED",
}
EXTERNAL = {"testMode": "EXTERNAL"}


@pytest.fixture(scope="module")
def vault() -> Iterator[RecordingVault]:
    with RecordingVault() as vault:
        yield vault


@pytest.fixture(scope="module")
def shop(server: SharedServer) -> Client:
    """A channel that uses the simulated vault."""
    return add_channel(server.gateway, server.client, "Tokens", "--network-tokens")


@pytest.fixture(scope="module")
def external_shop(server: SharedServer, vault: RecordingVault) -> Client:
    """A channel with an acquirer and a token vault of its own."""
    return add_channel(
        server.gateway,
        server.client,
        "Foreign tokens",
        "--network-tokens",
        *("--test-url", server.acquirer.url, "--token-test-url", vault.url, "--token-requestor-id", "R-7"),
    )


@pytest.fixture(scope="module")
def registration_id(shop: Client) -> str:
    """A registered card with a token, to which nothing happens."""
    return keep_token(shop)


@pytest.fixture(scope="module")
def foreign_id(external_shop: Client) -> str:
    return keep_token(external_shop, **EXTERNAL)


def look(client: Client, registration_id: str) -> Any:
    return client.get(f"/sandbox/registrations/{registration_id}/networkToken").json


def wait_for(client: Client, registration_id: str, state: str) -> Any:
    wait_until(lambda: (look(client, registration_id)["networkToken"] or {}).get("state") == state)
    return look(client, registration_id)["networkToken"]


def fire(client: Client, registration_id: str, event: str, **more: str) -> Answer:
    return client.post(f"/sandbox/registrations/{registration_id}/networkToken", {"event": event, **more})


def keep_token(client: Client, year: str = "2031", state: str = "ACTIVE", **more: str) -> str:
    registration_id = register(client, {**CARD, "card.expiryYear": year, **more})
    wait_for(client, registration_id, state)
    return registration_id


def get_use(answer: Answer) -> dict[str, str]:
    details = answer.json["resultDetails"]
    return {name: text for name, text in details.items() if name.startswith("NetworkToken")}


# ---- with the simulated vault ----


@pytest.mark.both_databases
def test_a_registered_card_is_charged_by_its_token_with_and_without_its_shopper(
    shop: Client, registration_id: str
) -> None:
    token = look(shop, registration_id)["networkToken"]

    for words in ({}, {"card.cvv": "123"}, ALONE):
        answer = pay_with(shop, registration_id, words)
        assert answer.status == 200
        assert get_use(answer) == {"NetworkTokenUsed": "true", "NetworkTokenLast4Digits": token["last4Digits"]}
        assert answer.json["card"]["last4Digits"] == "0000"
        assert answer.json["registrationId"] == registration_id
        assert shop.get(f"/v1/payments/{answer.json['id']}").json["resultDetails"] == answer.json["resultDetails"]


def test_a_card_that_a_payment_stored_gets_a_token_too(shop: Client) -> None:
    paid = shop.pay(createRegistration="true", card__expiryYear="2031")
    assert get_use(paid) == {}

    wait_for(shop, paid.json["registrationId"], "ACTIVE")

    answer = shop.post("/v1/payments", {**CHARGE, "registrationId": paid.json["registrationId"]})
    assert get_use(answer)["NetworkTokenUsed"] == "true"


def test_a_card_without_a_good_token_is_charged_by_its_number(shop: Client) -> None:
    """All at once, so that they wait together."""
    years = {"2032": "800.100.301", "2033": "800.100.302", "2036": "800.100.312", "2041": "800.100.307"}
    kept = {year: register(shop, {**CARD, "card.expiryYear": year}) for year in years}

    for year, code in years.items():
        wait_for(shop, kept[year], "ACTIVE" if year == "2041" else "REFUSED")
        answer = pay_with(shop, kept[year])
        assert answer.status == 200
        assert get_use(answer) == {"NetworkTokenUsed": "false", "NetworkTokenResponse": code}


def test_a_channel_without_the_setting_has_no_tokens_and_answers_none(client: Client, gateway: GatewayProcess) -> None:
    registration_id = register(client, VALID)

    answer = pay_with(client, registration_id)

    assert get_use(answer) == {}
    assert look(client, registration_id)["networkToken"] is None
    assert get_registration(gateway, client, registration_id)[2] is None


@pytest.mark.both_databases
def test_a_token_goes_through_its_life_by_events_that_are_fired(shop: Client, gateway: GatewayProcess) -> None:
    registration_id = keep_token(shop)

    assert fire(shop, registration_id, "SUSPENDED").status == 200
    wait_for(shop, registration_id, "SUSPENDED")
    assert get_use(pay_with(shop, registration_id))["NetworkTokenResponse"] == "800.100.317"
    fire(shop, registration_id, "RESUMED")
    wait_for(shop, registration_id, "ACTIVE")
    assert get_use(pay_with(shop, registration_id))["NetworkTokenUsed"] == "true"
    fire(shop, registration_id, "DELETED")
    wait_for(shop, registration_id, "DELETED")
    assert get_use(pay_with(shop, registration_id))["NetworkTokenResponse"] == "800.100.326"
    assert get_registration(gateway, shop, registration_id)[2] is None
    assert list_topics(gateway, shop, registration_id) == ["registration.created"]


@pytest.mark.both_databases
def test_a_renewed_card_shows_its_new_summary_and_is_announced_once(shop: Client, gateway: GatewayProcess) -> None:
    registration_id = keep_token(shop)

    for _ in range(2):
        assert fire(shop, registration_id, "CARD_UPDATED", eventId="renewal-1").status == 200
        wait_until(lambda: read(shop, registration_id).json["card"]["last4Digits"] == "1111")

    answer = pay_with(shop, registration_id)
    assert answer.json["card"]["expiryYear"] == "2035"
    assert get_use(answer)["NetworkTokenUsed"] == "true"
    assert list_topics(gateway, shop, registration_id) == ["registration.created", "registration.updated"]


def test_the_years_of_a_cycle_and_of_a_renewal_move_with_the_clock(shop: Client) -> None:
    cycling, renewed = keep_token(shop, "2034"), keep_token(shop, "2035")

    for state in ("SUSPENDED", "ACTIVE", "DELETED"):
        assert shop.post("/sandbox/clock", {"advance": "60"}).status == 200
        wait_for(shop, cycling, state)

    assert read(shop, renewed).json["card"]["expiryYear"] == "2039"


@pytest.mark.both_databases
def test_who_removes_a_registration_removes_its_token(shop: Client) -> None:
    registration_id = keep_token(shop)

    assert remove(shop, registration_id).status == 200

    wait_until(lambda: look(shop, registration_id)["vaultStatus"] == "deleted")
    assert look(shop, registration_id)["networkToken"]["state"] == "DELETED"
    assert fire(shop, registration_id, "CARD_UPDATED").status == 200
    assert result_of(read(shop, registration_id))[0] == 400


def test_another_merchants_registration_is_as_unknown(shop: Client, stranger: Client, registration_id: str) -> None:

    for answer in (
        fire(stranger, registration_id, "DELETED"),
        stranger.get(f"/sandbox/registrations/{registration_id}/networkToken"),
    ):
        assert answer.code == "100.150.200"
    assert fire(replace(shop, token="x" * 40), registration_id, "DELETED").status == 403
    assert look(shop, registration_id)["vaultStatus"] == "active"


@pytest.mark.parametrize("fields", [{"event": "EXPLODED"}, {}, {"event": "DELETED", "eventId": "a b"}])
def test_an_event_that_is_none_is_a_fault(shop: Client, registration_id: str, fields: dict[str, str]) -> None:
    answer = shop.post(f"/sandbox/registrations/{registration_id}/networkToken", fields)

    assert (answer.status, answer.code) == (400, "200.300.404")


def test_a_registration_without_a_token_has_no_events(client: Client) -> None:
    assert fire(client, register(client, VALID), "SUSPENDED").status == 404


# ---- with a vault of its own ----


def test_the_acquirer_receives_the_token_and_not_the_number(
    external_shop: Client, foreign_id: str, server: SharedServer, vault: RecordingVault
) -> None:
    registration_id = foreign_id
    number = f"489537{int(registration_id, 16) % 10**10:010d}"

    pay_with(external_shop, registration_id, EXTERNAL)
    by_shopper = server.acquirer.last_charge
    pay_with(external_shop, registration_id, {**EXTERNAL, **ALONE})
    by_merchant = server.acquirer.last_charge

    assert by_shopper["token"] == {"number": number, "type": "NETWORK", "expiry": "2038-01", "cryptogram": PROOF}
    assert by_merchant["token"] == {"number": number, "type": "NETWORK", "expiry": "2038-01"}
    assert "card" not in by_shopper
    asked = next(message for path, message in vault.received if message["key"] == registration_id)
    assert (asked["number"], asked["requestor"], asked["network"]) == (CARD["card.number"], "R-7", "visa")


def test_a_vault_that_answers_nonsense_leaves_the_number_and_the_result(
    external_shop: Client, foreign_id: str, server: SharedServer, vault: RecordingVault
) -> None:
    registration_id = foreign_id
    vault.is_broken = True
    try:
        answer = pay_with(external_shop, registration_id, EXTERNAL)
    finally:
        vault.is_broken = False

    assert answer.status == 200
    assert get_use(answer) == {"NetworkTokenUsed": "false", "NetworkTokenResponse": "800.100.321"}
    assert server.acquirer.last_charge["card"]["number"] == CARD["card.number"]


def test_the_vaults_own_endpoint_is_open_to_nobody_else_and_believes_the_vault_alone(
    external_shop: Client, gateway: GatewayProcess, vault: RecordingVault
) -> None:
    registration_id = keep_token(external_shop, **EXTERNAL)
    path = urlsplit(vault.find_events_url(registration_id)).path
    knock = json.dumps({"id": "e-1", "key": registration_id, "event": "CARD_UPDATED"})
    asked = vault.count(tokens.INQUIRIES, registration_id)

    for wrong in (path[:-6] + "AAAAAA", path[:-43], "/v1/networkTokens/events/x"):
        assert external_shop.send("POST", wrong, knock).status == 404
    assert external_shop.send("POST", path, b"\xff\x00").status == 404
    assert vault.count(tokens.INQUIRIES, registration_id) == asked

    vault.statuses[registration_id] = "renewed"
    assert external_shop.send("POST", path, knock).status == 200
    wait_until(lambda: read(external_shop, registration_id).json["card"]["last4Digits"] == "9876")
    assert external_shop.send("POST", path, knock).status == 200
    wait_until(lambda: vault.count(tokens.INQUIRIES, registration_id) >= asked + 2)
    assert list_topics(gateway, external_shop, registration_id) == ["registration.created", "registration.updated"]
    assert path.rpartition("/")[2] not in gateway.log_path.read_text()


@pytest.mark.both_databases
def test_a_change_by_the_merchant_does_not_cost_the_token(external_shop: Client, foreign_id: str) -> None:
    registration_id = foreign_id

    assert change(external_shop, registration_id, {"card.holder": "Jane Doe"}).status == 200

    assert get_use(pay_with(external_shop, registration_id, EXTERNAL))["NetworkTokenUsed"] == "true"


def test_a_channel_says_that_it_uses_tokens(shop: Client, gateway: GatewayProcess) -> None:
    line = next(row for row in run_command(gateway, "channel", "list").splitlines() if row.startswith(shop.entity_id))

    assert "network tokens" in line
