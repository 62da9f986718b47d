"""Payments that leave an account behind and payments with a stored one: who decides, who is asked, what is charged."""

from __future__ import annotations

import pytest

from api.chains import APPROVED, FAULTY, PENDING, result_of
from api.challenges import BILLING, BROWSER, CHALLENGED, SHOP_URL, choose, open_order, pass_challenge, see_challenge
from api.checking_out import ask
from api.merchants import find_merchant_id
from api.paying_forms import open_checkout, post
from api.recording import RecordingAcquirer
from api.registration_requests import (
    BANK,
    CHARGE,
    FORCE,
    IBAN,
    TOKEN,
    ask_store,
    get_registration,
    list_topics,
    pay_with,
    read,
    register,
)
from api.shoppers import decide
from api.shoppers import open_order as open_page
from gateway import CARD, Client, GatewayProcess
from tollgate.payments.registration import RegistrationState
from tollgate.store.instructions import list_instructions
from tollgate.store.payments import find_payment
from tollgate.values import MerchantId

pytestmark = pytest.mark.both_databases

CREATE_REGISTRATION = {"createRegistration": "true"}


# ---- made with a payment ----


@pytest.mark.parametrize("fields", [CARD, BANK, TOKEN], ids=["card", "bank", "token"])
def test_a_payment_leaves_its_account_behind(gateway: GatewayProcess, client: Client, fields: dict[str, str]) -> None:
    answer = client.post("/v1/payments", {**CHARGE, **fields, **CREATE_REGISTRATION})

    assert result_of(answer) == APPROVED
    registration_id = answer.json["registrationId"]
    assert answer.json["registration"] == {"id": registration_id}
    assert registration_id != answer.json["id"]
    assert result_of(read(client, registration_id)) == APPROVED
    assert result_of(pay_with(client, registration_id)) == APPROVED
    assert list_topics(gateway, client, registration_id) == ["registration.created"]


def test_without_create_registration_nothing_is_registered(client: Client) -> None:
    for requested in ({}, {"createRegistration": "false"}):
        assert "registrationId" not in client.pay(None, **requested).json


def test_a_lenient_channel_accepts_a_one_for_create_registration(client: Client, lenient: Client) -> None:
    """PHP renders true like that."""
    answer = lenient.pay(None, createRegistration="1")

    assert result_of(pay_with(lenient, answer.json["registrationId"])) == APPROVED
    assert result_of(client.pay(None, createRegistration="1")) == FAULTY


@pytest.mark.parametrize("changes", [{FORCE: "800.100.151"}, {"card.expiryYear": "2020"}], ids=["declined", "objected"])
def test_a_payment_that_fails_leaves_nothing_behind(
    gateway: GatewayProcess, client: Client, changes: dict[str, str]
) -> None:
    answer = client.pay(None, createRegistration="true", **changes)

    registration_id = find_made(gateway, client, answer.json["id"])
    assert answer.status == 400
    assert result_of(read(client, registration_id)) == result_of(answer)
    assert result_of(pay_with(client, registration_id)) == (400, "100.150.203")
    row, sealed, _ = get_registration(gateway, client, registration_id)
    assert (row.state, row.fingerprint, sealed) == (RegistrationState.REJECTED, None, None)
    assert list_topics(gateway, client, registration_id) == []


@pytest.mark.parametrize("changes", [{FORCE: "800.100.151"}, {"card.expiryYear": "2020"}], ids=["declined", "objected"])
def test_an_id_that_could_never_be_used_is_not_answered(client: Client, changes: dict[str, str]) -> None:
    """The id is missing in the answer, when the payment is read or reported, and in the result of a checkout."""
    reference = f"no-registration-{len(changes)}-{next(iter(changes))[:4]}"
    declined = client.pay(None, **CREATE_REGISTRATION, merchantTransactionId=reference, **changes)
    prepared = {FORCE: changes[FORCE]} if FORCE in changes else {}
    checkout_id = open_checkout(client, **CREATE_REGISTRATION, **prepared)
    post(client, checkout_id, {**CARD, **changes})

    path = declined.json["id"]
    bodies = [declined.json, client.get(f"/v1/payments/{path}").json, client.get(f"/v1/query/{path}").json]
    bodies += client.get("/v1/query", {"merchantTransactionId": reference}).json["payments"]
    bodies += [ask(client, checkout_id).json]

    assert [body["result"]["code"] for body in bodies] == [declined.code] * 5
    assert [body.keys() & {"registrationId", "registration"} for body in bodies] == [set()] * 5


def find_made(gateway: GatewayProcess, client: Client, payment_id: str) -> str:
    """Returns the registration that a payment was to make, from its row."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))
    payment = ask_store(gateway, lambda database: find_payment(database, merchant_id, payment_id))
    assert payment is not None
    assert payment.registration_id is not None
    return payment.registration_id


def test_a_challenged_payment_names_its_registration_before_it_can_be_used(client: Client) -> None:
    answer = open_order(client, **CREATE_REGISTRATION)
    registration_id = answer.json["registrationId"]

    assert result_of(read(client, registration_id)) == PENDING
    assert result_of(pay_with(client, registration_id)) == (400, "100.150.201")

    pass_challenge(client, answer)

    assert client.get(f"/v1/payments/{answer.json['id']}").json["registrationId"] == registration_id
    assert result_of(read(client, registration_id)) == APPROVED
    assert result_of(pay_with(client, registration_id)) == APPROVED


def test_a_challenge_that_fails_rejects_the_registration(gateway: GatewayProcess, client: Client) -> None:
    answer = open_order(client, **CREATE_REGISTRATION)

    choose(client, see_challenge(client, answer), "100.380.401")

    registration_id = answer.json["registrationId"]
    assert "registrationId" not in client.get(f"/v1/payments/{answer.json['id']}").json
    assert read(client, registration_id).status == 400
    assert result_of(pay_with(client, registration_id)) == (400, "100.150.203")
    assert get_registration(gateway, client, registration_id)[1] is None


@pytest.mark.parametrize(
    ("button", "expected"), [("approve", APPROVED), ("decline", (400, "100.150.203"))], ids=["approved", "declined"]
)
def test_a_providers_page_decides_about_the_account_that_was_sent_there(
    client: Client, button: str, expected: tuple[int, str]
) -> None:
    answer = open_page(client, "PAYPAL", **CREATE_REGISTRATION, **{"virtualAccount.accountId": "jane@example.org"})
    registration_id = answer.json["registrationId"]
    way_back = {"shopperResultUrl": SHOP_URL}
    assert result_of(pay_with(client, registration_id, way_back)) == (400, "100.150.201")

    decide(client, answer, button)

    again = pay_with(client, registration_id, way_back)
    assert result_of(again) == (PENDING if expected == APPROVED else expected)
    if expected == APPROVED:
        assert again.json["virtualAccount"] == {"accountId": "jane@example.org"}
        assert "redirect" in again.json


def test_debits_of_a_registration_go_under_one_mandate(gateway: GatewayProcess, client: Client) -> None:
    first = client.post("/v1/payments", {**CHARGE, **BANK, **CREATE_REGISTRATION})
    registration_id = first.json["registrationId"]
    later = pay_with(client, registration_id)

    merchant_id = MerchantId(find_merchant_id(gateway, client))
    ids = [first.json["id"], later.json["id"]]
    instructions = ask_store(gateway, lambda database: list_instructions(database, merchant_id, ids))
    told_to_bank = {each.id: each for each in instructions}

    assert [result_of(each) for each in (first, later)] == [APPROVED, APPROVED]
    assert [told_to_bank[each].sequence for each in ids] == ["FRST", "RCUR"]
    assert {each.mandate_id for each in told_to_bank.values()} == {registration_id}


# ---- paying with a stored one ----


@pytest.mark.parametrize("payment_type", ["DB", "PA", "PA.CP", "CD"])
def test_a_registered_card_pays_in_every_way_that_a_card_does(client: Client, payment_type: str) -> None:
    registration_id = register(client)

    answer = pay_with(client, registration_id, {"paymentType": payment_type, "card.cvv": "123"})

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["paymentBrand"]) == (payment_type, "VISA")
    assert answer.json["registrationId"] == registration_id
    assert answer.json["card"]["last4Digits"] == "0000"


def test_both_addresses_pay_alike_and_the_path_counts_for_more(client: Client) -> None:
    registration_id, other = register(client), register(client, TOKEN)

    named = client.post("/v1/payments", {**CHARGE, "registrationId": registration_id})
    both = pay_with(client, registration_id, {"registrationId": other})

    assert [result_of(named), result_of(both)] == [APPROVED, APPROVED]
    assert [named.json["registrationId"], both.json["registrationId"]] == [registration_id, registration_id]


@pytest.mark.parametrize("name", ["amount", "currency", "paymentType"])
def test_paying_with_a_registration_needs_what_a_payment_needs(client: Client, name: str) -> None:
    answer = pay_with(client, register(client), {name: None})

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == [name]


def test_a_payment_at_the_address_of_a_registration_follows_no_other(client: Client) -> None:
    registration_id = register(client)
    paid = pay_with(client, registration_id).json["id"]

    answer = pay_with(client, registration_id, {"paymentType": "RF", "referenceUuid": paid})

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["paymentType", "referenceUuid"]


def test_a_registered_card_may_be_challenged(client: Client) -> None:
    registration_id = register(client, {**CARD, "card.number": CHALLENGED})

    answer = pay_with(client, registration_id, {**BROWSER, **BILLING, "shopperResultUrl": SHOP_URL, "card.cvv": "731"})
    assert result_of(answer) == PENDING
    pass_challenge(client, answer)

    assert result_of(client.get(f"/v1/payments/{answer.json['id']}")) == APPROVED


def test_the_acquirer_receives_the_stored_number_and_the_fresh_security_code(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    registration_id = register(external)
    assert result_of(pay_with(external, registration_id, {"testMode": "EXTERNAL"})) == (400, "100.100.600")

    answer = pay_with(external, registration_id, {"testMode": "EXTERNAL", "card.cvv": "731"})

    assert answer.code == "000.100.112"
    card = acquirer.last_charge["card"]
    assert (card["number"], card["expiry"], card["cvv"]) == (CARD["card.number"], "2034-05", "731")


def test_a_key_replays_a_payment_with_a_registration(client: Client) -> None:
    registration_id = register(client)
    path, key = f"/v1/registrations/{registration_id}/payments", {"Idempotency-Key": f"pay-{registration_id}"}

    first, second = (client.post(path, CHARGE, key) for _ in range(2))

    assert result_of(first) == APPROVED
    assert (second.status, second.body) == (first.status, first.body)
    assert second.headers["idempotency-replayed"] == "true"


# ---- a holder where none is stored ----


@pytest.mark.parametrize(
    ("stored", "requested", "charged"),
    [
        (None, "true", "John Jones"),
        (None, "false", None),
        (None, None, None),
        ("Jane Jones", "true", "Jane Jones"),
        ("Jane Jones", None, "Jane Jones"),
    ],
)
def test_a_holder_may_be_sent_where_none_is_stored_and_counts_once(
    external: Client, acquirer: RecordingAcquirer, stored: str | None, requested: str | None, charged: str | None
) -> None:
    registration_id = register(external, {**CARD, "card.holder": stored})
    sent = {"card.holder": "John Jones", "overrideHolder": requested, "card.cvv": "123", "testMode": "EXTERNAL"}

    answer = pay_with(external, registration_id, sent)

    assert answer.code == "000.100.112"
    assert acquirer.last_charge["card"].get("holder") == charged
    assert answer.json["card"].get("holder") == charged
    assert read(external, registration_id).json["card"].get("holder") == stored
    pay_with(external, registration_id, {"card.cvv": "123", "testMode": "EXTERNAL"})
    assert acquirer.last_charge["card"].get("holder") == stored


@pytest.mark.parametrize(
    ("stored", "requested", "shown"),
    [(None, "true", "John Jones"), (None, None, None), ("Jane Jones", "true", "Jane Jones")],
)
def test_so_may_the_holder_of_a_bank_account(
    client: Client, stored: str | None, requested: str | None, shown: str | None
) -> None:
    registration_id = register(
        client, {"paymentBrand": "GIROPAY", "bankAccount.iban": IBAN, "bankAccount.holder": stored}
    )
    sent = {"bankAccount.holder": "John Jones", "overrideHolder": requested, "shopperResultUrl": SHOP_URL}

    answer = pay_with(client, registration_id, sent)

    assert result_of(answer) == PENDING
    assert answer.json["bankAccount"].get("holder") == shown
    assert read(client, registration_id).json["bankAccount"].get("holder") == stored
