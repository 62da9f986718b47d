"""The journal after messages of every connector: no number, code or proof is in it, and each payment finds its own."""

from __future__ import annotations

import json
from functools import partial

import sqlalchemy as sa

from api import challenges, shoppers
from api.direct_debits import IBAN, begin_debit
from api.merchants import add_channel, wait_until
from api.registration_requests import ask_store, pay_with, register
from gateway import CARD, Client, GatewayProcess
from office_client import OfficeClient
from tollgate.store.schema import journal
from tollgate.store.statements import Statement

_ALL = Statement(sa.select(journal.c.payment_id, journal.c.kind, journal.c.text).order_by(journal.c.at, journal.c.id))
VALID = {**CARD, "card.expiryYear": "2031"}
DIGITS = ("4200000000000000", challenges.CHALLENGED, challenges.FRICTIONLESS, IBAN, IBAN[4:])


def read_journal(gateway: GatewayProcess) -> list[tuple[str, str, str]]:
    return [(str(row[0]), str(row[1]), str(row[2])) for row in ask_store(gateway, lambda db: db.fetch(_ALL, {}))]


def find_labels(gateway: GatewayProcess, subject_id: str) -> list[str]:
    return [json.loads(text)["label"] for each, _, text in read_journal(gateway) if each == subject_id]


def has_labels(gateway: GatewayProcess, subject_id: str, labels: list[str]) -> bool:
    # The provider of a payment that waits is asked again and again.
    return find_labels(gateway, subject_id)[: len(labels)] == labels


def has_token(client: Client, registration_id: str) -> bool:
    token = client.get(f"/sandbox/registrations/{registration_id}/networkToken").json["networkToken"] or {}
    return bool(token.get("state") == "ACTIVE")


def test_messages_of_every_connector_are_kept_without_secrets(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    card = client.pay().json["id"]
    debit = begin_debit(client)
    redirected = shoppers.open_order(client, "GIROPAY", **{"bankAccount.iban": IBAN, "bankAccount.country": "DE"})
    frictionless = challenges.order(client, challenges.FRICTIONLESS).json["id"]
    challenged = challenges.open_order(client)
    challenges.pass_challenge(client, challenged)
    shop = add_channel(gateway, client, "Tokens with messages", "--network-tokens")
    registration_id = register(shop, VALID)
    wait_until(lambda: has_token(shop, registration_id))
    tokenized = pay_with(shop, registration_id).json["id"]

    wait_until(lambda: "cryptogram request" in find_labels(gateway, tokenized))
    expected = {
        card: ["charge request"],
        debit: ["charge request"],
        redirected.json["id"]: ["charge request"],
        frictionless: ["authentication request", "charge request"],
        challenged.json["id"]: ["authentication request", "challenge result", "charge request"],
        tokenized: ["cryptogram request", "charge request"],
        registration_id: ["token request"],
    }
    for subject_id, labels in expected.items():
        wait_until(partial(has_labels, gateway, subject_id, labels))
    for _, _, text in read_journal(gateway):
        assert not any(digits in text for digits in DIGITS)
        for name in ('"cvv":', '"cryptogram":', '"authenticationValue":', '"iban":', '"number":', '"acctNumber":'):
            assert all(part.startswith('"***"') for part in text.split(name)[1:])
        assert "/v1/shopper/" not in text
        assert "/v1/threeDSecure/results/" not in text

    page = office.get(f"{office.base}/payments/{challenged.json['id']}").body.decode()
    assert [f"{label}: HTTP 200" in page for label in ("Authentication request", "Challenge result")] == [True, True]
    assert ">verificationId</dt><dd>***<" in page
