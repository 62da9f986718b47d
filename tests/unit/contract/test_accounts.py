"""Fields become what is paid with, and of that no more is shown again than its owner needs to know it."""

from __future__ import annotations

from datetime import date

import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.accounts import find_wallet_call, hide_middle
from tollgate.contract.fields import read_fields
from tollgate.contract.orders import read_order
from tollgate.payments.accounts import BankAccount, CardAccount, TokenAccount, VirtualAccount
from tollgate.payments.merchants import Channel, Creditor
from tollgate.payments.order import Order
from tollgate.values import ChannelId, InvalidParameters, MerchantId, Secret

TODAY = date(2026, 11, 15)
CREDITOR = Creditor(name="Shop", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999")
CHANNEL = Channel(
    id=ChannelId("8a01"),
    merchant_id=MerchantId("8a02"),
    name="Shop",
    created_at=1,
    requires_cvv=True,
    creditor=CREDITOR,
)
IBAN = "DE89370400440532013000"
MONEY = {"amount": "92.00", "currency": "EUR", "paymentType": "DB"}
CARD = {"card.number": "4200000000000000", "card.expiryMonth": "05", "card.expiryYear": "2034", "card.cvv": "731"}
TOKEN = {"tokenAccount.number": "4200000000000000", "tokenAccount.type": "NETWORK"}
BANK = {"paymentBrand": "DIRECTDEBIT_SEPA", "bankAccount.holder": "Jane Jones", "bankAccount.iban": IBAN}
MANDATE = {"bankAccount.mandate.id": "M-A", "bankAccount.mandate.dateOfSignature": "2026-01-31"}


def read(*groups: dict[str, str]) -> Order:
    sent: dict[str, str] = MONEY.copy()
    for group in groups:
        sent |= group
    fields = read_fields([*sent.items()], Situation("create_payment", None, CHANNEL.is_lenient, False))
    return read_order(fields, CHANNEL, today=TODAY, short_id="1234.5678.9012", is_live=False)


def same(secret: Secret | None, text: str) -> bool:
    return secret is not None and secret.matches(Secret(text))


# ---- cards ----


def test_a_card_is_read_whole_and_shown_by_its_ends() -> None:
    order = read(CARD, {"card.holder": "Jane Jones"})

    card, card_summary = order.account, order.card_summary
    assert isinstance(card, CardAccount)
    assert same(card.number, "4200000000000000")
    assert same(card.cvv, "731")
    assert (card.expiry_month, card.expiry_year, card.holder, card.number_type) == ("05", "2034", "Jane Jones", "PAN")
    assert card_summary is not None
    assert (card_summary.bin, card_summary.last_digits, card_summary.expiry_month, card_summary.holder) == (
        "420000",
        "0000",
        "05",
        "Jane Jones",
    )
    assert not {"card.number", "card.cvv"} & order.echo.keys()


def test_a_number_made_for_one_device_is_recognized() -> None:
    order = read(CARD, {"card.numberType": "DPAN"})

    assert isinstance(order.account, CardAccount)
    assert order.account.number_type == "DPAN"
    assert order.authentication is None


def test_what_a_merchant_opened_itself_is_a_devices_number_unless_it_says_otherwise() -> None:
    opened = {"paymentBrand": "GOOGLEPAY", "walletB.source": "web", "threeDSecure.eci": "05"}
    opened |= {"threeDSecure.verificationId": "AAAAAAAAAAAAAAAAAAAAAAAAAAA="}
    card = {name: text for name, text in CARD.items() if name != "card.cvv"}

    order, plain = read(card, opened), read(card, opened, {"card.numberType": "PAN"})

    assert isinstance(order.account, CardAccount)
    assert isinstance(plain.account, CardAccount)
    assert (order.account.number_type, plain.account.number_type) == ("DPAN", "PAN")
    assert (order.account.wallet, order.brand, order.network) == ("walletB", "GOOGLEPAY", "VISA")
    # The channel insists on a security code, which no wallet knows.
    assert order.objection is None


# ---- tokens ----


@pytest.mark.parametrize("kind", ["NETWORK", "EXTERNAL"])
def test_a_token_is_read_whole_and_shown_by_its_ends(kind: str) -> None:
    order = read(
        TOKEN,
        {
            "tokenAccount.type": kind,
            "tokenAccount.expiryMonth": "05",
            "tokenAccount.expiryYear": "2034",
            "tokenAccount.cryptogram": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "tokenAccount.dtvc": "1234",
        },
    )

    token = order.account
    assert isinstance(token, TokenAccount)
    assert (token.type, token.expiry_month, token.expiry_year) == (kind, "05", "2034")
    assert same(token.number, "4200000000000000")
    assert same(token.cryptogram, "AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    assert same(token.dtvc, "1234")
    assert (order.brand, order.card_summary, order.authentication, order.objection) == ("VISA", None, None, None)
    assert order.echo["tokenAccount.number"] == "4200********0000"
    assert not {"tokenAccount.cryptogram", "tokenAccount.dtvc"} & order.echo.keys()
    assert "4200000000000000" not in repr(order)


@pytest.mark.parametrize(
    ("changes", "objection"),
    [
        ({"tokenAccount.number": "4200000000000001"}, "100.100.101"),
        ({"tokenAccount.number": "4200000000000001", "tokenAccount.type": "EXTERNAL"}, None),
        ({"tokenAccount.expiryMonth": "10", "tokenAccount.expiryYear": "2026"}, "800.100.330"),
        ({"tokenAccount.expiryMonth": "11", "tokenAccount.expiryYear": "2026"}, None),
        ({"tokenAccount.expiryYear": "2020"}, None),
    ],
)
def test_what_is_wrong_with_a_token_is_an_objection(changes: dict[str, str], objection: str | None) -> None:
    assert read(TOKEN, changes).objection == objection


def test_a_token_without_its_type_is_not_read() -> None:
    with pytest.raises(InvalidParameters) as refused:
        read({"tokenAccount.number": "4200000000000000"})

    assert [fault.name for fault in refused.value.faults] == ["tokenAccount.type"]


def test_a_token_wins_over_a_card_and_stands_for_nothing_else() -> None:
    assert isinstance(read(CARD, TOKEN).account, TokenAccount)
    assert isinstance(read(BANK, {"bankAccount.bic": "COBADEFFXXX"}, TOKEN).account, BankAccount)


# ---- bank accounts ----


def test_a_bank_account_is_read_with_what_can_be_found_out_about_it() -> None:
    order = read(BANK, MANDATE, {"bankAccount.bankCode": "37040044"})

    account = order.account
    assert isinstance(account, BankAccount)
    assert same(account.iban, IBAN)
    assert (account.holder, account.bic, account.country) == ("Jane Jones", "COBADEFFXXX", "DE")
    assert (account.mandate_id, account.signed_on) == ("M-A", date(2026, 1, 31))
    assert order.echo["bankAccount.iban"] == "DE89**************3000"
    assert order.echo["bankAccount.bic"] == "COBADEFFXXX"
    assert order.objection is None
    assert IBAN not in repr(order)


def test_an_iban_is_written_large_whatever_was_sent() -> None:
    account = read(BANK, {"bankAccount.iban": IBAN.lower(), "bankAccount.bic": "cobadeffxxx"}).account

    assert isinstance(account, BankAccount)
    assert same(account.iban, IBAN)
    assert account.bic == "COBADEFFXXX"


def test_bank_code_and_number_make_an_iban_where_the_country_says_how() -> None:
    old = {name: text for name, text in BANK.items() if name != "bankAccount.iban"}
    named = {"bankAccount.number": "532013000", "bankAccount.bankCode": "37040044"}

    built, unnamed = read(old, named, {"bankAccount.country": "DE"}), read(old, named)

    assert isinstance(built.account, BankAccount)
    assert same(built.account.iban, IBAN)
    assert built.objection is None
    assert unnamed.objection == "100.200.100"
    assert "532013000" not in repr(built)


@pytest.mark.parametrize(("bic", "objection"), [("COBADEFFXXX", None), ("GIBAATWWXXX", "100.200.103")])
def test_an_account_sent_by_number_does_not_contradict_its_bic(bic: str, objection: str | None) -> None:
    old = {name: text for name, text in BANK.items() if name != "bankAccount.iban"}
    named = {"bankAccount.number": "532013000", "bankAccount.bankCode": "37040044", "bankAccount.country": "DE"}

    assert read(old, named, {"bankAccount.bic": bic}).objection == objection


@pytest.mark.parametrize(
    "changes",
    [{"bankAccount.country": "AT"}, {"bankAccount.bic": "GIBAATWWXXX"}, {"bankAccount.bankCode": "10000000"}],
)
def test_an_iban_that_contradicts_what_stands_beside_it_is_an_objection(changes: dict[str, str]) -> None:
    assert read(BANK, {"bankAccount.bic": "COBADEFFXXX"}, changes).objection == "100.200.103"


# ---- others ----


def test_an_account_at_a_provider_may_be_as_empty_as_the_shop_knows_it() -> None:
    known = read(
        {"paymentBrand": "PAYPAL", "shopperResultUrl": "https://shop.example/back", "virtualAccount.accountId": "jane"}
    )
    unknown = read({"paymentBrand": "PAYPAL", "shopperResultUrl": "https://shop.example/back"})

    assert (known.account, unknown.account) == (VirtualAccount(account_id="jane"), VirtualAccount())


def test_a_wallets_token_is_a_secret_from_the_beginning() -> None:
    token = '{"data":"x"}'
    fields = read_fields(
        [*MONEY.items(), ("paymentBrand", "APPLEPAY"), ("walletA.paymentToken", token)],
        Situation("create_payment", None, False, False),
    )

    call = find_wallet_call(fields)

    assert call is not None
    assert (call.wallet, same(call.token, token)) == ("walletA", True)
    assert token not in repr(call)
    assert "walletA.paymentToken" not in fields.echo


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("123", "***"),
        ("1234", "1**4"),
        ("12345678", "12****78"),
        ("4200000000000000", "4200********0000"),
        ("1" * 31, "1111" + "*" * 23 + "1111"),
    ],
)
def test_the_shorter_a_number_the_less_of_it_is_shown(text: str, shown: str) -> None:
    assert hide_middle(text) == shown
