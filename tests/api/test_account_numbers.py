"""The number of an account does not reach the store in clear, whichever operation is tried and however it is spelled.

The account is opened and compared on every operation that could write a text of the merchant's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from api.chains import APPROVED, FAULTY, authorise, capture, debit, refund, result_of
from api.checking_out import PREPARED, prepare, submit
from api.registration_requests import BANK, CHARGE, IBAN, PATH, change, register, remove, store
from api.scheduling import FAR, deschedule, plan, reschedule, schedule
from api.server import SharedServer
from gateway import CARD, PAYMENT, Answer, Client
from tollgate.catalog.card_numbers import keep_digits

NUMBER = "4539578763621486"
OTHER = "5425233430109903"
SPELLINGS = {
    "plain": NUMBER,
    "separators": "4539_5787.6362/1486",
    "fullwidth": NUMBER.translate({48 + value: 0xFF10 + value for value in range(10)}),
    "Arabic": "\u200b".join(NUMBER.translate({48 + value: 0x0660 + value for value in range(10)})),
}
OWN = {**CARD, "card.number": NUMBER}
MEMO = "customParameters[memo]"
REFERENCE = "merchantInvoiceId"
"""A field in which any run of digits may stand, but not the number of the account."""
KEY = "Idempotency-Key"
NAMES = {"customer.givenName": "Jane", "customer.surname": "Jones"}
SHOP_URL = "https://shop.example/back"


@dataclass(frozen=True)
class Stored:
    """Everything of one card that a request can name."""

    client: Client
    authorised: str
    captured: str
    registration: str
    schedule: str


@pytest.fixture(scope="module")
def stored(embedded_server: SharedServer) -> Stored:
    client = embedded_server.client
    authorised = authorise(client, card__number=NUMBER)
    captured = capture(client, authorised, "10.00")
    assert result_of(captured) == APPROVED
    registration = register(client, OWN)
    return Stored(client, authorised, captured.json["id"], registration, plan(client, registration))


Send = Callable[[Stored, dict[str, str], dict[str, str]], Answer]

OPERATIONS: dict[str, Send] = {
    "payment": lambda at, fields, headers: at.client.post("/v1/payments", {**PAYMENT, **OWN, **fields}, headers),
    "payment by registration": lambda at, fields, headers: at.client.post(
        f"{PATH}/{at.registration}/payments", {**CHARGE, **fields}, headers
    ),
    "payment that names a registration": lambda at, fields, headers: at.client.post(
        "/v1/payments",
        {"amount": "1.00", "currency": "EUR", "paymentType": "DB", "registrationId": at.registration, **fields},
        headers,
    ),
    "capture": lambda at, fields, headers: at.client.post(
        f"/v1/payments/{at.authorised}", {"paymentType": "CP", "amount": "1.00", "currency": "EUR", **fields}, headers
    ),
    "refund of a capture": lambda at, fields, headers: at.client.post(
        f"/v1/payments/{at.captured}", {"paymentType": "RF", "amount": "1.00", "currency": "EUR", **fields}, headers
    ),
    "capture by reference": lambda at, fields, headers: at.client.post(
        "/v1/payments",
        {"paymentType": "CP", "amount": "1.00", "currency": "EUR", "referenceUuid": at.authorised, **fields},
        headers,
    ),
    "chargeback": lambda at, fields, headers: at.client.post(
        f"/sandbox/payments/{at.captured}", {"paymentType": "CB", **fields}, headers
    ),
    "registration": lambda at, fields, headers: store(at.client, {**OWN, **fields}, headers),
    "registration update": lambda at, fields, headers: change(at.client, at.registration, fields, headers),
    "registration extension": lambda at, fields, headers: at.client.post(
        f"{PATH}/{at.registration}/extendlife", fields, headers
    ),
    "registration removal": lambda at, fields, headers: remove(at.client, at.registration, fields, headers),
    "schedule": lambda at, fields, headers: schedule(at.client, at.registration, {**FAR, **fields}, headers),
    "new plan": lambda at, fields, headers: reschedule(at.client, at.schedule, {**FAR, **fields}, headers),
    "end of a schedule": lambda at, fields, headers: deschedule(at.client, at.schedule, fields, headers),
    "checkout": lambda at, fields, headers: at.client.post(
        "/v1/checkouts", {**PREPARED, **OWN, "card.cvv": None, **fields}, headers
    ),
    "authentication": lambda at, fields, headers: at.client.post(
        "/v1/threeDSecure", {**PAYMENT, **OWN, "paymentType": None, "shopperResultUrl": SHOP_URL, **fields}, headers
    ),
}
KEYLESS = {"chargeback"}
"""Operations of the sandbox do not read an Idempotency-Key."""


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_no_operation_takes_the_accounts_number_as_a_value(stored: Stored, operation: str, text: str) -> None:
    answer = OPERATIONS[operation](stored, {REFERENCE: f"card {text}"}, {})

    assert result_of(answer) == FAULTY
    assert answer.faults == {REFERENCE: "must not contain the number of the account"}
    assert NUMBER not in keep_digits(answer.body.decode())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_operation_takes_the_accounts_number_as_a_key(stored: Stored, operation: str) -> None:
    answer = OPERATIONS[operation](stored, {f"customParameters[a.{NUMBER}]": "x"}, {})

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["customParameters[a.]"]


@pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - KEYLESS))
def test_no_operation_takes_the_accounts_number_as_an_idempotency_key(stored: Stored, operation: str) -> None:
    answer = OPERATIONS[operation](stored, {}, {KEY: "order-4539-5787-6362-1486"})

    assert result_of(answer) == FAULTY
    assert answer.faults == {KEY: "must not contain the number of the account"}


def test_a_form_cannot_send_the_number_of_the_account_that_it_pays_with(stored: Stored) -> None:
    checkout = prepare(stored.client, {**PREPARED, "registrations[0].id": stored.registration})
    said = {"customer.givenName": SPELLINGS["separators"], "customer.surname": "Jones"}

    by_card = submit(stored.client, checkout, SHOP_URL, {**OWN, **said})
    by_registration = submit(stored.client, checkout, SHOP_URL, {"registrationId": stored.registration, **said})

    assert list(by_card.faults) == list(by_registration.faults) == ["customer.givenName"]


def test_what_a_checkout_was_prepared_with_is_compared_when_it_is_changed_and_paid(stored: Stored) -> None:
    checkout = prepare(stored.client, {**PREPARED, REFERENCE: NUMBER})

    changed = stored.client.post(f"/v1/checkouts/{checkout}", {"card.number": NUMBER})
    paid = submit(stored.client, checkout, SHOP_URL, OWN)

    assert list(changed.faults) == list(paid.faults) == [REFERENCE]


def test_the_account_of_a_direct_debit_is_compared_too(stored: Stored) -> None:
    registration = register(stored.client, BANK)

    answer = change(stored.client, registration, {"customer.companyName": IBAN[4:], **NAMES})

    assert list(answer.faults) == ["customer.companyName"]


def test_another_cards_number_is_refused_on_a_strict_channel_and_masked_on_a_lenient_one(stored: Stored) -> None:
    lenient = replace(stored.client, entity_id=stored.client.lenient_entity_id)
    memo = {MEMO: f"old card {OTHER}, call 0800"}

    refused = stored.client.post("/v1/payments", {**PAYMENT, **memo})
    masked = lenient.post("/v1/payments", {**PAYMENT, **memo})
    follow_up = refund(lenient, masked.json["id"], "1.00", **memo)

    assert refused.faults == {MEMO: "must not contain the number of a card"}
    for answer in (masked, follow_up, lenient.get(f"/v1/payments/{masked.json['id']}")):
        assert result_of(answer) == APPROVED
        assert answer.json["customParameters"]["memo"] == "old card XXXXXXXXXXXXXXXX, call 0800"


def test_a_merchants_own_references_may_look_like_a_card_number(stored: Stored) -> None:
    payment = debit(stored.client, merchantTransactionId=OTHER, merchantInvoiceId=OTHER)

    assert result_of(refund(stored.client, payment, "1.00", merchantTransactionId=OTHER)) == APPROVED


def test_nothing_at_rest_has_the_number(stored: Stored, embedded_server: SharedServer) -> None:
    assert result_of(stored.client.post("/v1/payments", {**PAYMENT, **OWN})) == APPROVED

    written = b"".join(path.read_bytes() for path in embedded_server.gateway.data.rglob("*") if path.is_file())

    for text in (*SPELLINGS.values(), "4539-5787-6362-1486"):
        assert text.encode() not in written
