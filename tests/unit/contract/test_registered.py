"""A payment takes some values of a registration, echoes some and refuses others."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from tollgate.catalog.brands import BRANDS
from tollgate.contract import registered
from tollgate.contract.fields import Fields
from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.values import InvalidParameters, Secret
from unit.connectors.samples import ORDER
from unit.contract.registration_samples import REGISTRATION_ID, make_registered

TODAY = date(2026, 11, 15)
CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="11", expiry_year="2026", holder="Jane Jones")
NAMELESS = replace(CARD, holder=None)
BANK = BankAccount(holder="Jane Jones", iban=Secret("DE89370400440532013000"), mandate_id="M-1")
TOKEN = TokenAccount(number=Secret("4895370012003478"), type="NETWORK", expiry_month="10", expiry_year="2026")


def sent(**values: str) -> Fields:
    named = {name.replace("__", "."): text for name, text in values.items()}
    return Fields(named, frozenset(name.partition(".")[0] for name in named), dict(named))


# ---- createRegistration ----


def test_an_account_that_is_stored_already_is_not_stored_again() -> None:
    assert registered.asks_to_register({"createRegistration": "true"})
    assert registered.asks_to_register({"createRegistration": "1"})
    assert not registered.asks_to_register({"createRegistration": "false"})
    assert not registered.asks_to_register({"createRegistration": "true", "registrationId": REGISTRATION_ID})
    assert registered.find_registration_id(sent(registrationId=REGISTRATION_ID)) == REGISTRATION_ID


def test_create_registration_stays_only_where_the_registration_was_made() -> None:
    echo = {"createRegistration": "true", "customer.email": "jane@shop.example"}

    reused = registered.drop_wish(echo)

    assert _tell(echo, "8a1") == (True, False)
    assert _tell(reused, "8a2") == (False, False)
    assert registered.read_registration_link(ORDER) is None
    assert reused["customer.email"] == "jane@shop.example"


def test_a_payment_says_whether_it_begins_a_series_on_what_it_names() -> None:
    initial = {"standingInstruction.mode": "INITIAL"}

    assert _tell(initial, "8a1") == (False, True)
    assert _tell({**initial, "standingInstruction.source": "MIT"}, "8a1") == (False, False)


def _tell(echo: dict[str, str], registration_id: str) -> tuple[bool, bool]:
    """Whether an order with this echo makes its registration, and whether it begins a series."""
    link = registered.read_registration_link(replace(ORDER, echo=echo, registration_id=registration_id))
    assert link is not None
    assert link.id == registration_id
    return link.is_new, link.begins_series


def test_a_registration_keeps_whose_it_is_and_nothing_of_the_one_payment() -> None:
    echo = {
        "customer.email": "jane@shop.example",
        "customer.browser.language": "de",
        "billing.city": "Bonn",
        "bankAccount.iban": "DE89**************3000",
        "customParameters[SHOPPER_x]": "1",
        "merchantTransactionId": "order-1",
        "createRegistration": "true",
        "standingInstruction.mode": "INITIAL",
        "threeDSecure.eci": "05",
        "shopperResultUrl": "https://shop.example/back",
        "cart.items[0].name": "Shoe",
    }

    kept = registered.keep_for_registration(echo)

    assert kept.keys() == {
        "customer.email",
        "customer.browser.language",
        "billing.city",
        "bankAccount.iban",
        "customParameters[SHOPPER_x]",
        "merchantTransactionId",
    }


# ---- taken ----


def test_a_security_code_comes_with_the_payment_and_never_out_of_the_store() -> None:
    account, _ = registered.take_registered(sent(card__cvv="731"), make_registered(CARD))
    bare, _ = registered.take_registered(sent(), make_registered(replace(CARD, cvv=Secret("999"))))

    assert isinstance(account, CardAccount)
    assert isinstance(bare, CardAccount)
    assert account.cvv is not None
    assert account.cvv.matches(Secret("731"))
    assert bare.cvv is None


@pytest.mark.parametrize("words", ["true", "1"])
def test_a_holder_is_taken_where_none_is_stored_and_it_is_wanted(words: str) -> None:
    account, card_summary = registered.take_registered(
        sent(card__holder="Joe Doe", overrideHolder=words), make_registered(NAMELESS)
    )

    assert isinstance(account, CardAccount)
    assert card_summary is not None
    assert (account.holder, card_summary.holder) == ("Joe Doe", "Joe Doe")


@pytest.mark.parametrize(
    ("on_file", "fields"),
    [
        (CARD, sent(card__holder="Joe Doe", overrideHolder="true")),
        (CARD, sent(card__holder="Joe Doe")),
        (CARD, sent(overrideHolder="true")),
    ],
)
def test_a_stored_holder_is_never_overridden(on_file: CardAccount, fields: Fields) -> None:
    account, card_summary = registered.take_registered(fields, make_registered(on_file))

    assert isinstance(account, CardAccount)
    assert card_summary is not None
    assert (account.holder, card_summary.holder) == ("Jane Jones", "Jane Jones")


def test_without_an_override_an_empty_holder_stays_empty() -> None:
    account, card_summary = registered.take_registered(
        sent(card__holder="Joe Doe", overrideHolder="false"), make_registered(NAMELESS)
    )

    assert isinstance(account, CardAccount)
    assert card_summary is not None
    assert (account.holder, card_summary.holder) == (None, None)


def test_a_bank_accounts_holder_is_taken_the_same_way() -> None:
    wanted = sent(bankAccount__holder="Joe Doe", overrideHolder="true")

    taken, _ = registered.take_registered(wanted, make_registered(replace(BANK, holder=None), brand="DIRECTDEBIT_SEPA"))
    kept, _ = registered.take_registered(wanted, make_registered(BANK, brand="DIRECTDEBIT_SEPA"))

    assert isinstance(taken, BankAccount)
    assert isinstance(kept, BankAccount)
    assert (taken.holder, kept.holder) == ("Joe Doe", "Jane Jones")
    assert taken.mandate_id == "M-1"


@pytest.mark.parametrize("account", [TOKEN, VirtualAccount(account_id="jane@wallet.example")])
def test_what_has_neither_code_nor_holder_is_taken_as_it_is(account: Instrument) -> None:
    fields = sent(card__cvv="731", card__holder="Joe Doe", overrideHolder="true")

    assert registered.take_registered(fields, make_registered(account)) == (account, None)


# ---- refused ----


@pytest.mark.parametrize(
    ("today", "objection"),
    [
        (date(2026, 11, 1), None),
        (date(2026, 11, 30), None),
        (date(2026, 12, 1), "100.100.303"),
        (date(2027, 1, 1), "100.100.303"),
    ],
)
def test_a_card_is_good_until_the_last_day_of_its_month(today: date, objection: str | None) -> None:
    assert (
        registered.find_registration_objection(sent(), CARD, BRANDS["VISA"], cvv_required=False, today=today)
        == objection
    )


@pytest.mark.parametrize(("today", "objection"), [(date(2026, 10, 31), None), (date(2026, 11, 1), "800.100.330")])
def test_a_registered_token_expires_too(today: date, objection: str | None) -> None:
    assert (
        registered.find_registration_objection(sent(), TOKEN, BRANDS["VISA"], cvv_required=True, today=today)
        == objection
    )


@pytest.mark.parametrize(
    ("brand", "cvv", "is_required", "objection"),
    [
        ("VISA", None, True, "100.100.600"),
        ("VISA", None, False, None),
        ("VISA", "731", True, None),
        ("VISA", "7311", False, "100.100.601"),
        ("AMEX", "731", False, "100.100.601"),
        ("AMEX", "7311", True, None),
    ],
)
def test_a_security_code_is_asked_for_and_measured(
    brand: str, cvv: str | None, is_required: bool, objection: str | None
) -> None:
    fields = sent(card__cvv=cvv) if cvv else sent()

    found = registered.find_registration_objection(fields, CARD, BRANDS[brand], cvv_required=is_required, today=TODAY)

    assert found == objection


def test_what_came_out_of_a_wallet_has_no_security_code_to_ask_for() -> None:
    device = replace(CARD, wallet="applePay", number_type="DPAN")

    assert (
        registered.find_registration_objection(sent(), device, BRANDS["VISA"], cvv_required=True, today=TODAY) is None
    )


def test_another_brand_beside_a_registration_is_a_mistake_that_a_lenient_channel_overlooks() -> None:
    registered.check_brand(sent(paymentBrand="VISA"), BRANDS["VISA"], is_lenient=False)
    registered.check_brand(sent(), BRANDS["VISA"], is_lenient=False)
    registered.check_brand(sent(paymentBrand="MASTER"), BRANDS["VISA"], is_lenient=True)
    with pytest.raises(InvalidParameters) as refused:
        registered.check_brand(sent(paymentBrand="MASTER"), BRANDS["VISA"], is_lenient=False)
    [fault] = refused.value.faults
    assert fault.name == "paymentBrand"


# ---- answers ----


def test_a_payment_answers_the_account_that_is_charged_and_not_one_that_was_sent_beside_it() -> None:
    echo = {
        "bankAccount.iban": "DE89**************3000",
        "bankAccount.holder": "Jane Jones",
        "customer.email": "a@b.example",
    }
    on_file = make_registered(BANK, brand="DIRECTDEBIT_SEPA", echo=echo)
    fields = sent(bankAccount__iban="FR76****", customer__email="new@b.example", createRegistration="true")

    shown = registered.show_registered(fields, on_file, BANK)

    assert shown == {
        "bankAccount.iban": "DE89**************3000",
        "bankAccount.holder": "Jane Jones",
        "customer.email": "new@b.example",
    }


def test_a_one_time_proof_is_not_answered_for_a_number_made_for_one_device() -> None:
    fields = sent(threeDSecure__verificationId="AAABBB=", threeDSecure__eci="05")
    device = replace(CARD, number_type="DPAN")

    assert "threeDSecure.verificationId" not in registered.show_registered(fields, make_registered(device), device)
    assert "threeDSecure.verificationId" not in registered.show_registered(fields, make_registered(TOKEN), TOKEN)
    assert "threeDSecure.verificationId" in registered.show_registered(fields, make_registered(CARD), CARD)
