"""The description of a checkout for the payment form: its amount, its brands and the fields to ask for. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import AccountType, Brand, Need, Protocol
from tollgate.catalog.brand_terms import find_obstacle, find_question, is_met_by_account, list_missing
from tollgate.catalog.brands import BRANDS, find_brand
from tollgate.catalog.ibans import list_sepa_lengths
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.mandates import render_mandate
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.postal_codes import POSTAL_CODES
from tollgate.catalog.results import get_result
from tollgate.catalog.wallets import WALLET_SHEETS, Wallet
from tollgate.contract.answers import Answer, Envelope, Json, encode_answer
from tollgate.contract.checkouts import find_payment_type
from tollgate.contract.registered import list_missing_beside
from tollgate.contract.shopper_urls import make_checkout_return_url
from tollgate.payments.accounts import WalletPublic
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState
from tollgate.payments.registration import Registration
from tollgate.values import Instant, to_datetime

_FORM_KINDS = {
    "CC": "card",
    "DC": "card",
    "DD": "directDebit",
    "OT": "onlineTransfer",
    "VA": "virtualAccount",
    "PP": "prepayment",
}
_STATES = {CheckoutState.OPEN: "open", CheckoutState.LOCKED: "busy"}
_BRANDS_MAX = 200
_LANGUAGES_MAX = 5
_STORED_NAMES = {
    AccountType.BANK: ("bankAccount.iban", "bankAccount.number"),
    AccountType.VIRTUAL: ("virtualAccount.accountId",),
    AccountType.WALLET: (),
}
"""The parameters by which an account is recognized."""
_DEBIT_NEEDS = ("bankAccount.holder", "bankAccount.iban")

_UNKNOWN = "there is no brand of this name"
_OTHER_TYPE = "it does not begin with the payment type of this checkout"
_NOT_STORED = "it cannot be stored"
_NOT_ASKED = "it needs {}, which the form does not ask for"
_NO_CREDITOR = "the channel has no creditor for direct debits"
_NO_ACQUIRER = "the channel has no acquirer"
_NO_SHEET = "the payment form has no sheet for this wallet"
_NO_WALLET_KEY = "the channel has no key that opens the tokens of this wallet"


class FormTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a form that its merchant did not prepare."""

    is_test: bool
    requires_cvv: bool = True
    registrations: Sequence[Registration] = ()
    codes: str = ""
    """The codes of the brands that the page shows, with blanks between them."""
    takes_debits: bool = False
    """The channel has a creditor for direct debits."""
    creditor_id: str = ""
    """The identifier of that creditor."""
    languages: str = ""
    """The codes of the languages of the page, with blanks between them."""
    has_acquirer: bool = True
    merchant_name: str = ""
    """The shopper knows the merchant by this name."""
    wallets: Mapping[str, WalletPublic] = {}
    """The newest key of each wallet whose tokens the channel can open."""
    is_lenient: bool = False


def answer_form(
    checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms, envelope: Envelope, now: Instant
) -> Answer:
    home = checkout.return_url
    given = sorted(name for name in prepared if first_word(name) in WORDS[Use.FORM_QUESTION])
    more: Json = {"id": checkout.id, "kind": checkout.kind.value, "state": _STATES.get(checkout.state, "paid")}
    more |= {name: prepared[name] for name in ("amount", "currency") if name in prepared}
    more |= {
        "isTest": terms.is_test,
        "attemptsLeft": max(0, LIMITS.checkout_attempts_max - checkout.attempts),
        "requiresCvv": terms.requires_cvv,
        "resultUrl": prepared.get("shopperResultUrl"),
        "returnUrl": make_checkout_return_url(home, checkout) if home and checkout.is_paid else None,
        "given": given,
        "postcodes": dict(POSTAL_CODES),
        **_sort_brands(checkout, prepared, terms),
        "registrations": [
            _show_registration(registration)
            for registration in terms.registrations
            if _can_use(registration, checkout, prepared, terms)
            and not _is_expired(registration, to_datetime(now).date())
        ],
    }
    result = get_result(codes.PENDING)
    return encode_answer(result.http_status, envelope.wrap(result, checkout.id, now, **more))


def _sort_brands(checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms) -> Json:
    """Returns the brands that can be paid with, by the code that the page uses, and why the others are left out."""
    brands: Json = {}
    left_out: Json = {}
    for code in list(dict.fromkeys(terms.codes.split()))[:_BRANDS_MAX]:
        brand = find_brand(code, lenient=terms.is_lenient)
        obstacle = _UNKNOWN if brand is None else _check_form(brand, checkout, prepared, terms)
        if brand is None or obstacle is not None:
            left_out[code] = obstacle
        else:
            brands[code] = _show_brand(brand, checkout, prepared, terms)
    return {"brands": brands, "leftOut": left_out}


def _check_form(brand: Brand, checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms) -> str | None:
    """Returns why the form does not offer this brand, for the developer of the page."""
    obstacle = _check_request(brand, checkout, prepared, terms)
    if obstacle is not None:
        return obstacle
    missing = _list_missing(brand, checkout, prepared, is_lenient=terms.is_lenient)
    unasked = [" or ".join(need) for need in missing if find_question(need) is None]
    return _NOT_ASKED.format(", ".join(unasked)) if unasked else None


def _list_missing(brand: Brand, checkout: Checkout, prepared: Mapping[str, str], *, is_lenient: bool) -> list[Need]:
    """Lists the needs that the checkout does not meet; an account is stored without what its payments bring."""
    missing = list_missing(brand, prepared, is_lenient=is_lenient)
    if checkout.kind is CheckoutKind.PAYMENT:
        return missing
    return [need for need in missing if is_met_by_account(need)]


def _can_use(registration: Registration, checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms) -> bool:
    """Returns True where a payment with the stored account would be accepted; the form asks for nothing beside it."""
    brand = BRANDS[registration.brand]
    if list_missing_beside(prepared, brand, is_lenient=terms.is_lenient):
        return False
    return _check_request(brand, checkout, {**prepared, **registration.echo}, terms) is None


def _check_request(brand: Brand, checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms) -> str | None:
    """Returns why a payment with this brand would be refused, for the developer of the page."""
    payment_type = find_payment_type(prepared, brand.code)
    if payment_type is not None and payment_type not in brand.list_payment_types(lenient=terms.is_lenient):
        return _OTHER_TYPE
    if checkout.kind is CheckoutKind.REGISTRATION and not _can_store(brand, prepared):
        return _NOT_STORED
    obstacle = find_obstacle(brand, prepared, prepared.get("currency"))
    if obstacle is not None:
        return obstacle
    if brand.protocol is Protocol.SEPA:
        return None if terms.takes_debits else _NO_CREDITOR
    if not terms.has_acquirer:
        return _NO_ACQUIRER
    if brand.account is not AccountType.WALLET:
        return None
    if brand.code not in WALLET_SHEETS:
        return _NO_SHEET
    return None if brand.wallet in terms.wallets else _NO_WALLET_KEY


def _can_store(brand: Brand, prepared: Mapping[str, str]) -> bool:
    """A provider's page does not disclose the account, so there is nothing to store without a number."""
    if brand.account is AccountType.CARD or brand.protocol is Protocol.SEPA:
        return True
    return any((name,) in brand.needs or name in prepared for name in _STORED_NAMES[brand.account])


def _is_expired(registration: Registration, today: date) -> bool:
    card = registration.card
    return card is not None and (int(card.expiry_year), int(card.expiry_month)) < (today.year, today.month)


def _show_brand(brand: Brand, checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms) -> Mapping[str, Any]:
    kind = "wallet" if brand.account is AccountType.WALLET else _FORM_KINDS[brand.method]
    # A lenient channel pays without some of them, but a provider would ask for them on a page of its own.
    questions = map(find_question, _list_missing(brand, checkout, prepared, is_lenient=False))
    needs = _DEBIT_NEEDS if kind == "directDebit" else filter(None, questions)
    return {
        "label": brand.label,
        "kind": kind,
        "prefixes": brand.prefixes,
        "lengths": brand.lengths,
        "cvvLength": brand.cvv_length,
        "luhn": brand.luhn,
        "grouping": brand.grouping,
        "shares": brand.shares,
        "asks": [name for name in needs if name not in prepared],
        "accountName": brand.account_name.name.lower(),
        "countries": brand.countries,
        "banks": brand.banks,
        **({"wallet": _show_wallet(brand, terms)} if kind == "wallet" else {}),
        **(_show_debit(terms) if brand.protocol is Protocol.SEPA else {}),
    }


def _show_debit(terms: FormTerms) -> Mapping[str, Any]:
    """Shows what the shopper agrees to, in the languages of the page, and how long an IBAN is."""
    texts = {
        language: text
        for language in list(dict.fromkeys(terms.languages.split()))[:_LANGUAGES_MAX]
        if (text := render_mandate(language, terms.merchant_name, terms.creditor_id)) is not None
    }
    mandate = {"creditor": terms.merchant_name, "identifier": terms.creditor_id, "texts": texts}
    return {"mandate": mandate, "ibanLengths": list_sepa_lengths()}


def _show_wallet(brand: Brand, terms: FormTerms) -> Mapping[str, Any]:
    """Shows what the form needs to ask the wallet for a token: the wallet's own script, or the sheet of a test host."""
    sheet = WALLET_SHEETS[brand.code]
    if terms.is_test:
        return {"name": sheet.name, "sheet": f"/sandbox/wallets/{sheet.name}"}
    shown = {"name": sheet.name, "script": sheet.script_url, "merchantName": terms.merchant_name}
    public = terms.wallets[brand.wallet]
    addressee, _, gateway = public.recipient.partition(":")
    if brand.wallet == Wallet.B and addressee == "gateway":
        shown |= {"gateway": gateway, "gatewayMerchantId": public.gateway_merchant or ""}
    return shown


def _show_registration(registration: Registration) -> Mapping[str, str]:
    """Shows what the shopper recognizes a stored account by."""
    shown = {"id": registration.id, "brand": registration.brand}
    card = registration.card
    if card is not None:
        shown |= {
            "number": f"•••• {card.last_digits}",
            "last4": card.last_digits,
            "expiryMonth": card.expiry_month,
            "expiryYear": card.expiry_year,
        }
        return shown | ({"holder": card.holder} if card.holder else {})
    tail = registration.echo.get("bankAccount.iban", "")[-4:]
    holder = registration.echo.get("bankAccount.holder")
    return shown | ({"number": f"•••• {tail}", "last4": tail} if tail else {}) | ({"holder": holder} if holder else {})
