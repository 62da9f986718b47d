"""The payment form gets the brands that can be paid with, and the reason why others are left out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from tollgate.catalog.wallets import WALLET_SHEETS
from tollgate.contract.checkout_forms import FormTerms, answer_form
from tollgate.payments.accounts import WalletPublic
from tollgate.payments.checkout import CheckoutKind
from unit.app_fixture import NOW
from unit.contract.test_checkouts import CHECKOUT, ENVELOPE, PREPARED

APPLES, GOOGLES = (
    {"name": sheet.name, "script": sheet.script_url, "merchantName": "Jones"} for sheet in WALLET_SHEETS.values()
)


@pytest.mark.parametrize(
    ("code", "changes", "terms", "reason"),
    [
        ("VISAA", {}, {}, "there is no brand of this name"),
        ("PREPAYMENT", {}, {}, "it does not begin with the payment type of this checkout"),
        ("PAYPAL", {"paymentType": None}, {}, "it cannot be stored"),
        ("APPLEPAY", {"paymentType": None}, {}, "it cannot be stored"),
        ("DIRECTDEBIT_SEPA", {"currency": "USD"}, {}, "DIRECTDEBIT_SEPA is paid in EUR"),
        ("TWINT", {}, {}, "TWINT is paid in CHF"),
        ("EPS", {"bankAccount.country": "DE"}, {}, "EPS is paid from AT: check bankAccount.country"),
        ("RATENKAUF", {"billing.country": "AT"}, {}, "RATENKAUF is paid from DE: check billing.country"),
        (
            "TRUSTLY",
            {},
            {},
            "it needs customer.merchantCustomerId, merchantTransactionId, which the form does not ask for",
        ),
        ("DIRECTDEBIT_SEPA", {}, {"takes_debits": False}, "the channel has no creditor for direct debits"),
        ("VISA", {}, {"has_acquirer": False}, "the channel has no acquirer"),
        ("SAMSUNGPAY", {}, {}, "the payment form has no sheet for this wallet"),
        ("GOOGLEPAY", {}, {}, "the channel has no key that opens the tokens of this wallet"),
    ],
)
def test_a_brand_that_is_left_out_is_reported_with_its_reason(
    code: str, changes: dict[str, str | None], terms: dict[str, Any], reason: str
) -> None:
    prepared = {name: text for name, text in {**PREPARED, **changes}.items() if text is not None}
    usual = {"takes_debits": True, "wallets": {"walletA": WalletPublic()}}
    kind = CheckoutKind.PAYMENT if "paymentType" in prepared else CheckoutKind.REGISTRATION
    checkout = replace(CHECKOUT, kind=kind)

    shown = answer_form(checkout, prepared, FormTerms(is_test=True, codes=code, **{**usual, **terms}), ENVELOPE, NOW)

    body = orjson.loads(shown.body)
    assert (body["brands"], body["leftOut"]) == ({}, {code: reason})


@pytest.mark.parametrize(
    ("code", "is_test", "public", "received"),
    [
        ("APPLEPAY", True, WalletPublic(), {"name": "applePay", "sheet": "/sandbox/wallets/applePay"}),
        ("GOOGLEPAY", True, WalletPublic(), {"name": "googlePay", "sheet": "/sandbox/wallets/googlePay"}),
        (
            "APPLEPAY",
            False,
            WalletPublic(recipient="merchant.shop"),
            APPLES,
        ),
        (
            "GOOGLEPAY",
            False,
            WalletPublic(recipient="gateway:gate", gateway_merchant="shop-1"),
            {**GOOGLES, "gateway": "gate", "gatewayMerchantId": "shop-1"},
        ),
        (
            "GOOGLEPAY",
            False,
            WalletPublic(recipient="merchant:1"),
            GOOGLES,
        ),
    ],
)
def test_the_form_learns_how_to_ask_a_wallet_for_a_token(
    code: str, is_test: bool, public: WalletPublic, received: dict[str, str]
) -> None:
    wallets = {"walletA": public, "walletB": public}
    terms = FormTerms(is_test=is_test, codes=code, merchant_name="Jones", wallets=wallets)

    body = orjson.loads(answer_form(CHECKOUT, PREPARED, terms, ENVELOPE, NOW).body)

    assert (body["brands"][code]["kind"], body["brands"][code]["wallet"]) == ("wallet", received)
