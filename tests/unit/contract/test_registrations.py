"""Requests about registrations as they are read, what an update leaves alone, and what is answered."""

from __future__ import annotations

from datetime import date
from typing import Any

import orjson
import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract import registrations
from tollgate.contract.answers import Answer, Envelope
from tollgate.contract.fields import Fields, read_fields
from tollgate.payments import accounts
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.payments.registration import RegistrationState
from tollgate.values import ChannelId, InvalidParameters, MerchantId, Money, Refusal, RegistrationId, Secret
from unit.contract.registration_samples import REGISTRATION_ID, make_registered

TODAY = date(2026, 11, 15)
CHANNEL = Channel(id=ChannelId("8a01"), merchant_id=MerchantId("8a02"), name="Shop", created_at=1)
ENVELOPE = Envelope("build")
SENT = {"card.number": "4200000000000000", "card.expiryMonth": "05", "card.expiryYear": "2034"}
SEPA = {
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": "DE89370400440532013000",
    "bankAccount.bic": "COBADEFFXXX",
}
FIRST_ID = "recurringMigration.connectorTxId1"
FORCE = "customParameters[forceResultCode]"
CARD = accounts.CardAccount(
    number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034", holder="Jane Jones"
)
BANK = accounts.BankAccount(holder="Jane Jones", iban=Secret("DE89370400440532013000"), bic="COBADEFFXXX")
TOKEN = accounts.TokenAccount(number=Secret("4895370012003478"), type="NETWORK", expiry_month="07", expiry_year="2033")
VIRTUAL = accounts.VirtualAccount(account_id="jane@example.org")


def read(
    sent: dict[str, str], *, is_live: bool = False, opened: accounts.OpenedCard | str | None = None
) -> registrations.RegistrationOrder:
    fields = read_fields(list(sent.items()), Situation("create_registration", None, False, is_live))
    return registrations.read_registration_order(fields, CHANNEL, today=TODAY, is_live=is_live, opened=opened)


# ---- storing ----


def test_an_order_to_store_has_the_account_and_what_may_be_shown_of_it() -> None:
    order = read({**SENT, "card.cvv": "123", "customer.givenName": "Jane", "customer.surname": "Jones"})

    assert isinstance(order.account, accounts.CardAccount)
    assert (order.brand, order.method, order.objection, order.initial) == ("VISA", "CC", None, None)
    assert order.card_summary == accounts.CardSummary(
        bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034"
    )
    assert "card.number" not in order.echo
    assert "card.cvv" not in order.echo
    assert order.echo["customer.givenName"] == "Jane"


@pytest.mark.parametrize(
    ("sent", "is_live", "mode"),
    [({}, False, TestMode.INTERNAL), ({"testMode": "EXTERNAL"}, False, TestMode.EXTERNAL), ({}, True, None)],
)
def test_the_mode_is_that_of_the_host_unless_it_is_said(
    sent: dict[str, str], is_live: bool, mode: TestMode | None
) -> None:
    assert read({**SENT, **sent}, is_live=is_live).test_mode is mode


def test_a_live_host_knows_no_test_mode_and_forces_nothing() -> None:
    with pytest.raises(Refusal, match=r"600\.200\.701"):
        read({**SENT, "testMode": "INTERNAL"}, is_live=True)
    assert read({**SENT, FORCE: "800.100.151"}, is_live=True).forced_code is None
    assert read({**SENT, FORCE: "800.100.151"}).forced_code == "800.100.151"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"paymentBrand": "PAYPAL"}, "100.150.100"),
        ({"paymentBrand": "PAYPAL", "virtualAccount.accountId": "jane"}, None),
        ({"paymentBrand": "ENTERCASH", "bankAccount.country": "DE"}, "100.150.100"),
        ({"paymentBrand": "ENTERCASH", "bankAccount.number": "0532013000"}, None),
        (SEPA, None),
        ({**SENT, "card.expiryYear": "2026", "card.expiryMonth": "10"}, "100.100.303"),
        ({**SENT, "card.expiryYear": "2026", "card.expiryMonth": "11"}, None),
        ({**SENT, "recurringMigration.paymentType": "DB"}, None),
        ({**SEPA, "recurringMigration.paymentType": "CD"}, None),
        ({"paymentBrand": "PAYPAL", "recurringMigration.paymentType": "DB"}, "100.150.100"),
        (
            {"paymentBrand": "PAYPAL", "virtualAccount.accountId": "jane", "recurringMigration.paymentType": "DB"},
            "100.350.602",
        ),
    ],
)
def test_what_cannot_be_kept_or_go_on_is_objected_to(sent: dict[str, str], code: str | None) -> None:
    assert read(sent).objection == code


def test_a_wallet_is_stored_as_the_card_inside_it_or_says_why_not() -> None:
    inside = accounts.CardAccount(
        number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034", wallet="walletA"
    )
    card_summary = accounts.CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034")
    sent = {"paymentBrand": "APPLEPAY", "walletA.paymentToken": "x"}

    opened = read(sent, opened=accounts.OpenedCard(account=inside, card_summary=card_summary, network="VISA"))
    closed = read(sent, opened="200.100.603")

    assert (opened.account, opened.card_summary, opened.objection) == (inside, card_summary, None)
    assert (closed.account, closed.objection) == (None, "200.100.603")
    assert "x" not in opened.echo.values()


@pytest.mark.parametrize(
    ("sent", "amount", "made_at", "reference"),
    [
        ({}, None, None, None),
        ({"recurringMigration.amount": "9.90"}, None, None, None),
        ({"recurringMigration.amount": "9.90", "currency": "EUR"}, Money(990, "EUR"), None, None),
        ({"recurringMigration.requestTimestamp": "1970-01-02 00:00:01"}, None, 86_401_000_000, None),
        ({"recurringMigration.connectorTxId2": "two", "recurringMigration.connectorTxId1": "one"}, None, None, "two"),
        (
            {"recurringMigration.connectorTxId3": "three", "recurringMigration.connectorTxId1": "one"},
            None,
            None,
            "three",
        ),
    ],
)
def test_a_migrated_series_is_known_by_what_was_sent_of_its_first_payment(
    sent: dict[str, str], amount: Money | None, made_at: int | None, reference: str | None
) -> None:
    initial = read({**SENT, "recurringMigration.paymentType": "PA", **sent}).initial

    assert initial is not None
    assert (initial.payment_type, initial.amount, initial.made_at, initial.reference) == (
        "PA",
        amount,
        made_at,
        reference,
    )
    assert initial.payment_id is None


@pytest.mark.parametrize(
    ("sent", "kept"),
    [({}, ()), ({1: "a"}, ("a", None, None)), ({1: "a", 3: "c"}, ("a", None, "c")), ({2: "b"}, (None, "b", None))],
)
def test_the_ids_of_a_migrated_series_keep_their_positions(sent: dict[int, str], kept: tuple[str | None, ...]) -> None:
    ids = {f"recurringMigration.connectorTxId{position}": text for position, text in sent.items()}

    initial = read({**SENT, "recurringMigration.paymentType": "PA", **ids}).initial

    assert initial is not None
    assert initial.connector_ids == kept


def test_a_migrated_amount_that_its_currency_cannot_write_is_declined() -> None:
    migrated = {"recurringMigration.paymentType": "DB", "recurringMigration.amount": "9.90"}

    assert read({**SENT, **migrated, "currency": "JPY"}).objection == "100.550.303"
    assert read({**SENT, **migrated, "currency": "EUR"}).objection is None


@pytest.mark.parametrize("name", ["referenceUuid", "registrationId"])
def test_storing_stands_alone(name: str) -> None:
    fields = read_fields([*SENT.items(), (name, "8a" * 16)], Situation("create_registration", None))

    with pytest.raises(Refusal, match=r"100\.350\.601"):
        registrations.check_alone(fields)
    registrations.check_alone(read_fields(list(SENT.items()), Situation("create_registration", None)))


# ---- changing ----


def read_update(sent: dict[str, str]) -> Fields:
    return read_fields(list(sent.items()), Situation("update_registration", None))


def update(account: accounts.Instrument | None, sent: dict[str, str], **on_file: Any) -> tuple[Any, Any]:
    registration = make_registered(account or CARD, **on_file).registration
    return registrations.apply_update(read_update(sent), registration, account, CHANNEL, today=TODAY)


@pytest.mark.parametrize(
    ("account", "sent", "members"),
    [
        (CARD, {"card.holder": "Jane Smith"}, {"holder": "Jane Smith", "expiry_month": "05"}),
        (CARD, {"card.expiryMonth": "12"}, {"holder": "Jane Jones", "expiry_month": "12", "expiry_year": "2034"}),
        (TOKEN, {"tokenAccount.expiryYear": "2035"}, {"expiry_year": "2035", "expiry_month": "07"}),
        (BANK, {"bankAccount.holder": "Jane Smith"}, {"holder": "Jane Smith", "bic": "COBADEFFXXX"}),
        (
            BANK,
            {"bankAccount.mandate.id": "M-ONE", "bankAccount.mandate.dateOfSignature": "2026-02-28"},
            {"mandate_id": "M-ONE", "signed_on": date(2026, 2, 28)},
        ),
        (VIRTUAL, {"customer.ip": "10.0.0.1"}, {"account_id": "jane@example.org"}),
    ],
)
def test_an_update_changes_one_member_and_leaves_the_others(
    account: accounts.Instrument, sent: dict[str, str], members: dict[str, object]
) -> None:
    registration, changed = update(account, sent)

    assert {name: getattr(changed, name) for name in members} == members
    assert getattr(changed, "number", None) is getattr(account, "number", None)
    if isinstance(changed, accounts.CardAccount):
        assert registration.card is not None
        assert (registration.card.holder, registration.card.expiry_month) == (changed.holder, changed.expiry_month)


def test_what_is_echoed_is_merged_and_never_holds_a_card_or_a_code() -> None:
    registration, _ = update(
        CARD,
        {"customer.phone": "+49301234", "card.holder": "Jane Smith", "card.cvv": "123", "amount": "9.00"},
        echo={"customer.givenName": "Jane", "customer.phone": "+1"},
    )

    assert registration.echo == {"customer.givenName": "Jane", "customer.phone": "+49301234"}


@pytest.mark.parametrize(
    ("account", "sent", "names"),
    [
        (CARD, {"bankAccount.holder": "Jane Smith"}, ["bankAccount.holder"]),
        (BANK, {"card.holder": "Jane Smith", "card.expiryYear": "2035"}, ["card.holder", "card.expiryYear"]),
        (VIRTUAL, {"tokenAccount.expiryYear": "2035"}, ["tokenAccount.expiryYear"]),
        (None, {"card.holder": "Jane Smith"}, ["card.holder"]),
        (CARD, {"paymentBrand": "MASTER"}, ["paymentBrand"]),
    ],
)
def test_an_update_of_another_kind_of_account_is_a_fault(
    account: accounts.Instrument | None, sent: dict[str, str], names: list[str]
) -> None:
    with pytest.raises(InvalidParameters) as refused:
        update(account, sent)

    assert [fault.name for fault in refused.value.faults] == names


@pytest.mark.parametrize(
    ("account", "sent", "code"),
    [
        (CARD, {"card.expiryYear": "2026", "card.expiryMonth": "10"}, "100.100.303"),
        (CARD, {"card.expiryYear": "2020"}, "100.100.303"),
        (TOKEN, {"tokenAccount.expiryYear": "2020"}, "800.100.330"),
    ],
)
def test_an_expiry_that_has_passed_is_refused(account: accounts.Instrument, sent: dict[str, str], code: str) -> None:
    with pytest.raises(Refusal, match=code.replace(".", r"\.")):
        update(account, sent)


def test_what_is_known_of_a_card_that_expired_may_still_be_changed() -> None:
    expired = accounts.CardAccount(number=CARD.number, expiry_month="05", expiry_year="2020")

    registration, _ = update(expired, {"customer.phone": "+49301234"})

    assert registration.echo == {"customer.phone": "+49301234"}


def test_a_confirmation_is_known_by_its_type() -> None:
    assert registrations.is_confirmation(read_update({"paymentType": "CF"}))
    assert not registrations.is_confirmation(read_update({"paymentType": "RR"}))
    assert not registrations.is_confirmation(read_update({}))


def test_the_mode_of_a_change_is_as_asked_or_as_stored() -> None:
    registration = make_registered(CARD, test_mode=TestMode.INTERNAL).registration

    assert registrations.find_mode(read_update({}), registration, is_live=False) is TestMode.INTERNAL
    assert (
        registrations.find_mode(read_update({"testMode": "EXTERNAL"}), registration, is_live=False) is TestMode.EXTERNAL
    )
    with pytest.raises(Refusal, match=r"600\.200\.701"):
        registrations.find_mode(read_update({"testMode": "EXTERNAL"}), registration, is_live=True)


# ---- answering ----


@pytest.mark.parametrize(
    ("code", "expected"),
    [("", (200, "000.200.000")), ("000.100.110", (200, "000.100.110")), ("100.100.101", (400, "100.100.101"))],
)
def test_the_status_follows_from_the_result_and_no_result_is_open(code: str, expected: tuple[int, str]) -> None:
    answer = registrations.answer_registration(make_registered(CARD, result_code=code).registration, ENVELOPE)

    assert (answer.status, answer.code) == expected


def test_a_read_answers_the_time_of_creation_and_a_change_its_own() -> None:
    registration = make_registered(CARD, result_code="000.100.110", state=RegistrationState.ACTIVE).registration

    made = unpack(registrations.answer_registration(registration, ENVELOPE))
    changed = unpack(registrations.answer_registration(registration, ENVELOPE, ndc="other", at=86_400_000_000))

    assert (made["ndc"], made["timestamp"]) == ("ndc", "1970-01-01 00:00:00+0000")
    assert (changed["ndc"], changed["timestamp"]) == ("other", "1970-01-02 00:00:00+0000")
    assert made["card"] == changed["card"]


def test_the_end_is_answered_as_a_day() -> None:
    registration = make_registered(CARD, result_code="000.100.110", keep_until=1_790_000_000_000_000).registration

    assert registrations.render_keep_until(registration) == {"keptUntil": "2026-09-21"}


def test_a_removal_is_answered_without_anything_of_the_account() -> None:
    body = unpack(registrations.answer_removal(RegistrationId(REGISTRATION_ID), "000.100.110", ENVELOPE, "ndc", 0))

    assert list(body) == ["id", "result", "buildNumber", "timestamp", "ndc"]


def unpack(answer: Answer) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(answer.body)
    return body
