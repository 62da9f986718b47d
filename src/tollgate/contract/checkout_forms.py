"""What the shopper's form is told of a checkout: what it pays for, with what, and what is still to be asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from tollgate.catalog import BRANDS, LIMITS, Account, Brand, Protocol, find_brand, get_result
from tollgate.contract.answers import Answer, Envelope, Json, encode_answer
from tollgate.contract.checkouts import name_kind
from tollgate.contract.fields import first_word
from tollgate.contract.tickets import make_checkout_return_url
from tollgate.payments import Checkout, CheckoutKind, CheckoutState, Registration
from tollgate.values import Instant, to_datetime

_FORM_KINDS = {
    "CC": "card",
    "DC": "card",
    "DD": "directDebit",
    "OT": "onlineTransfer",
    "VA": "virtualAccount",
    "PP": "prepayment",
}
_STATES = {CheckoutState.OPEN: "open", CheckoutState.CLAIMED: "busy"}
_ASKED_GROUPS = frozenset({"customer", "billing", "bankAccount", "virtualAccount", "createRegistration"})
_BRANDS_MAX = 200
_STORED_NAMES = {
    Account.BANK: ("bankAccount.iban", "bankAccount.number"),
    Account.VIRTUAL: ("virtualAccount.accountId",),
    Account.WALLET: (),
}
"""By which an account is known again."""
_DEBIT_NEEDS = ("bankAccount.holder", "bankAccount.iban")


class FormTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for a form beside what its merchant prepared."""

    is_test: bool
    requires_cvv: bool = True
    registrations: Sequence[Registration] = ()
    codes: str = ""
    """Of the brands that the page shows, with blanks between them."""
    takes_debits: bool = False
    """Whether the channel has a creditor for direct debits."""
    is_lenient: bool = False


def answer_form(
    checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms, envelope: Envelope, now: Instant
) -> Answer:
    given = sorted(name for name in prepared if first_word(name) in _ASKED_GROUPS)
    more: Json = {"id": checkout.id, "kind": checkout.kind.value, "state": _STATES.get(checkout.state, "paid")}
    more |= {name: prepared[name] for name in ("amount", "currency") if name in prepared}
    more |= {
        "isTest": terms.is_test,
        "attemptsLeft": max(0, LIMITS.checkout_attempts_max - checkout.attempts),
        "requiresCvv": terms.requires_cvv,
        "resultUrl": prepared.get("shopperResultUrl"),
        "returnUrl": _find_home(checkout) if checkout.is_paid else None,
        "given": given,
        "brands": {
            code: _show_brand(brand, prepared)
            for code, brand in _list_brands(terms)
            if _can_serve(brand, checkout, prepared, terms)
        },
        "registrations": [
            _show_registration(registration)
            for registration in terms.registrations
            if _can_serve(BRANDS[registration.brand], checkout, prepared, terms)
            and not _is_expired(registration, to_datetime(now).date())
        ],
    }
    result = get_result("000.200.000")
    return encode_answer(result.http_status, envelope.wrap(result, checkout.id, now, **more))


def _find_home(checkout: Checkout) -> str | None:
    return make_checkout_return_url(checkout.return_url, checkout) if checkout.return_url else None


def _list_brands(terms: FormTerms) -> Iterable[tuple[str, Brand]]:
    """Each brand by the code that the page uses. Wallets have sheets of their own, which a form cannot show."""
    wanted = list(dict.fromkeys(terms.codes.split()))[:_BRANDS_MAX]
    found = ((code, find_brand(code, lenient=terms.is_lenient)) for code in wanted)
    return [(code, brand) for code, brand in found if brand is not None and brand.account is not Account.WALLET]


def _can_serve(brand: Brand, checkout: Checkout, prepared: Mapping[str, str], terms: FormTerms) -> bool:
    """Nobody is offered what could only be refused."""
    kind = name_kind(prepared, brand.code)
    if kind is not None and kind not in brand.list_kinds(lenient=terms.is_lenient):
        return False
    if checkout.kind is CheckoutKind.REGISTRATION and not _can_store(brand, prepared):
        return False
    if brand.currencies and prepared.get("currency", brand.currencies[0]) not in brand.currencies:
        return False
    return terms.takes_debits or brand.protocol is not Protocol.SEPA


def _can_store(brand: Brand, prepared: Mapping[str, str]) -> bool:
    """A provider's page asks for an account without telling it; without a number there is nothing to keep."""
    if brand.account is Account.CARD or brand.protocol is Protocol.SEPA:
        return True
    return any(name in brand.needs or name in prepared for name in _STORED_NAMES[brand.account])


def _is_expired(registration: Registration, today: date) -> bool:
    card = registration.card
    return card is not None and (int(card.expiry_year), int(card.expiry_month)) < (today.year, today.month)


def _show_brand(brand: Brand, prepared: Mapping[str, str]) -> Mapping[str, Any]:
    kind = _FORM_KINDS[brand.method]
    needs = _DEBIT_NEEDS if kind == "directDebit" else (*brand.needs, *brand.strict_needs)
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
    }


def _show_registration(registration: Registration) -> Mapping[str, str]:
    """As much as lets the shopper know it again."""
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
