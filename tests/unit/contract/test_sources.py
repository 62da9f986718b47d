"""The source of an order depends on whether the shopper is present and where the account is."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.contract.orders import read_order
from tollgate.payments.accounts import BankAccount, CardAccount, CardSummary, Instrument, TokenAccount
from tollgate.payments.merchants import Channel, Creditor
from tollgate.payments.order import Order, Sequence
from tollgate.payments.registration import InitialPayment
from tollgate.values import ChannelId, InvalidParameters, MerchantId, Money, Secret
from unit.contract.registration_samples import REGISTRATION_ID, make_registered

TODAY = date(2026, 11, 15)
CHANNEL = Channel(id=ChannelId("8a01"), merchant_id=MerchantId("8a02"), name="Shop", created_at=1)
INSISTING = replace(CHANNEL, requires_cvv=True)
ACCOUNT = {"card.number": "4200000000000000", "card.expiryMonth": "05", "card.expiryYear": "2034"}
CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034", holder="Jane Jones")
BANK = BankAccount(holder="Jane Jones", iban=Secret("DE89370400440532013000"), mandate_id="M-1", signed_on=TODAY)
REFERENCE = "standingInstruction.initialTransactionId"
CREDITOR = Creditor(name="Shop", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999")
ALONE = {
    "standingInstruction.mode": "REPEATED",
    "standingInstruction.source": "MIT",
    "standingInstruction.type": "RECURRING",
}


def read(
    changes: dict[str, str], account: Instrument | None = None, channel: Channel = CHANNEL, **on_file: Any
) -> Order:
    """Paid from what is stored, where an account is given."""
    sent = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", **changes}
    operation = "create_payment" if account is None else "pay_registration"
    fields = read_fields(list(sent.items()), Situation(operation, None, channel.is_lenient, False))
    return read_order(
        fields,
        channel,
        today=TODAY,
        short_id="1234.5678.9012",
        is_live=False,
        on_file=None if account is None else make_registered(account, **on_file),
    )


# ---- security codes ----


@pytest.mark.parametrize("words", [ALONE, {"recurringType": "REPEATED"}, {"standingInstruction.source": "MIT"}])
def test_a_merchant_alone_has_no_security_code_to_send(words: dict[str, str]) -> None:
    assert read(words, CARD, INSISTING).objection is None
    assert read({**ACCOUNT, **words, REFERENCE: "MCC1"}, channel=INSISTING).objection is None


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"recurringType": "INITIAL"},
        {"recurringType": "REGISTRATION_BASED"},
        {"standingInstruction.source": "CIT", "standingInstruction.mode": "REPEATED"},
        {"recurringType": "REPEATED", "standingInstruction.source": "CIT"},
    ],
)
def test_with_the_shopper_present_a_channel_that_insists_gets_its_code(words: dict[str, str]) -> None:
    assert read(words, CARD, INSISTING).objection == "100.100.600"
    assert read({**ACCOUNT, **words}, channel=INSISTING).objection == "100.100.600"
    assert read({**words, "card.cvv": "731"}, CARD, INSISTING).objection is None


def test_the_code_of_a_wallets_stored_card_is_as_long_as_its_networks() -> None:
    device = replace(CARD, number=Secret("377777777777770"), wallet="applePay", number_type="DPAN")
    card_summary = CardSummary(bin="377777", last_digits="7770", expiry_month="05", expiry_year="2034")

    order = read({"card.cvv": "7311"}, device, brand="APPLEPAY", card=card_summary)

    assert (order.brand, order.network, order.objection) == ("APPLEPAY", "AMEX", None)


# ---- series ----


def test_a_repeat_on_what_is_stored_carries_its_reference_to_acquirer_and_merchant() -> None:
    order = read(ALONE, CARD)

    assert order.details.standing_instruction is not None
    assert order.details.standing_instruction.initial_transaction_id == "SCHEME1"
    assert order.echo[REFERENCE] == "SCHEME1"
    assert order.objection is None


def test_a_repeat_carries_the_ids_of_the_first_payment_to_the_acquirer_by_their_positions() -> None:
    initial = InitialPayment(payment_type="DB", reference="c", amount=Money(990, "EUR"), connector_ids=("a", None, "c"))

    order = read(ALONE, CARD, initial=initial)

    assert {name: text for name, text in order.echo.items() if name.startswith("recurringMigration.")} == {
        "recurringMigration.amount": "9.90",
        "recurringMigration.connectorTxId1": "a",
        "recurringMigration.connectorTxId3": "c",
    }
    for other in (read({}, CARD, initial=initial), read({**ALONE, REFERENCE: "OWN"}, CARD, initial=initial)):
        assert not any(name.startswith("recurringMigration.") for name in other.echo)


def test_a_reference_that_the_merchant_names_is_the_one_that_is_sent() -> None:
    order = read({**ALONE, REFERENCE: "OWN"}, CARD)

    assert order.details.standing_instruction is not None
    assert order.details.standing_instruction.initial_transaction_id == "OWN"
    assert order.echo[REFERENCE] == "OWN"


def test_an_older_word_alone_carries_the_reference_too() -> None:
    standing = read({"recurringType": "REPEATED"}, CARD).details.standing_instruction

    assert standing is not None
    assert (standing.mode, standing.source, standing.initial_transaction_id) == ("REPEATED", "MIT", "SCHEME1")


def test_one_click_without_any_word_is_a_payment_like_any_other() -> None:
    order = read({}, CARD)

    assert order.details.standing_instruction is None
    assert REFERENCE not in order.echo


def test_a_merchant_alone_is_refused_on_sent_data_only() -> None:
    token = {"tokenAccount.number": "4895370012003478", "tokenAccount.type": "NETWORK"}

    assert read({**ACCOUNT, **ALONE}).objection == "100.150.300"
    assert read({**token, **ALONE}).objection == "100.150.300"
    assert read({**token, **ALONE, REFERENCE: "MCC1"}).objection is None
    assert read(ALONE, CARD, has_initial=False).objection is None
    assert read(ALONE, TokenAccount(number=Secret("4895370012003478"), type="NETWORK")).objection is None


def test_an_expired_card_is_named_before_a_missing_beginning() -> None:
    expired = replace(CARD, expiry_year="2026", expiry_month="10")

    assert read({**ACCOUNT, "card.expiryYear": "2020", **ALONE}).objection == "100.100.303"
    assert read(ALONE, expired).objection == "100.100.303"


# ---- what is stored, and what comes along ----


def test_on_a_lenient_channel_a_registration_is_paid_with_whatever_else_came_along() -> None:
    sent = {**ACCOUNT, "card.number": "5454545454545454", "createRegistration": "true"}
    with pytest.raises(InvalidParameters):
        read(sent, CARD)

    order = read(sent, CARD, replace(CHANNEL, is_lenient=True))

    assert isinstance(order.account, CardAccount)
    assert order.account.number.matches(CARD.number)
    assert (order.brand, order.registers) == ("VISA", False)
    assert order.card_summary is not None
    assert order.card_summary.last_digits == "0000"
    assert order.registration_id == REGISTRATION_ID
    assert "createRegistration" not in order.echo


def test_only_money_stores_an_account() -> None:
    assert read({**ACCOUNT, "createRegistration": "true"}).registers
    assert not read(ACCOUNT).registers
    sent = {
        "amount": "92.00",
        "currency": "EUR",
        "shopperResultUrl": "https://shop.example/",
        "createRegistration": "true",
    }
    fields = read_fields(list({**ACCOUNT, **sent}.items()), Situation("authenticate", None, False, False))
    assert not read_order(fields, CHANNEL, today=TODAY, short_id="1", is_live=False).registers


def test_another_brand_than_the_stored_one_is_refused() -> None:
    with pytest.raises(InvalidParameters):
        read({"paymentBrand": "MASTER"}, CARD)


@pytest.mark.parametrize("words", [{}, {"createRegistration": "true"}])
def test_debits_of_a_registration_follow_a_first_one_until_the_last(words: dict[str, str]) -> None:
    shop = replace(CHANNEL, creditor=CREDITOR)

    later = read(words, BANK, shop, brand="DIRECTDEBIT_SEPA", method="DD", card=None)
    last = read({**words, "sequence": "FINAL"}, BANK, shop, brand="DIRECTDEBIT_SEPA", method="DD", card=None)

    assert (later.sequence, last.sequence) == (Sequence.LATER, Sequence.LAST)
    assert isinstance(later.account, BankAccount)
    assert (later.account.mandate_id, later.account.signed_on) == ("M-1", TODAY)


# ---- the issuer's question ----


@pytest.mark.parametrize(
    ("changes", "indicator"),
    [
        ({}, None),
        ({"createRegistration": "true"}, "04"),
        ({"standingInstruction.mode": "INITIAL", "standingInstruction.source": "CIT"}, "04"),
        ({"recurringType": "INITIAL"}, "04"),
        ({"recurringType": "INITIAL", "threeDSecure.challengeIndicator": "02"}, "02"),
        ({"standingInstruction.mode": "REPEATED", "standingInstruction.source": "CIT"}, None),
        ({"recurringType": "INITIAL", "threeDSecure.threeRIInd": "RECURRING"}, None),
    ],
)
def test_where_others_shall_follow_the_issuer_is_asked_to_challenge(
    changes: dict[str, str], indicator: str | None
) -> None:
    order = read({**ACCOUNT, "shopperResultUrl": "https://shop.example/", **changes})

    assert order.authentication is not None
    assert order.authentication.challenge_indicator == indicator
