"""Dispatching as it is written down: the conditions of a row, and what a request tells about itself.

Which row a request fits is decided in `payments`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tollgate.catalog import brands, codes, countries, currencies, payment_types, results
from tollgate.catalog.parameters import names
from tollgate.contract.fields import Pairs
from tollgate.payments.dispatching import WEEKDAYS, Conditions, DispatchRow, Ground, Misfit, Traits
from tollgate.payments.registration import Registration
from tollgate.values import Fault, Instant, Refusal, read_hundredths, render_hundredths

_WORDS_MAX = 200
_BIN_DIGITS = 8
_HOURS = re.compile("([01][0-9]|2[0-3])-([01][0-9]|2[0-4])")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{2})?")


class ConditionTerm(msgspec.Struct, frozen=True):
    """A condition as operators write it."""

    member: str
    ground: Ground
    text: str
    read: Callable[[str], Any]
    """Raises a ValueError that says what the text is not."""


def _read_words(normalize: Callable[[str], str], is_known: Callable[[str], bool], noun: str) -> Callable[[str], Any]:
    def read(text: str) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(normalize(word.strip()) for word in text.split(",") if word.strip()))
        if len(words) > _WORDS_MAX:
            raise ValueError(f"more than {_WORDS_MAX} in one row")
        wrong = [word for word in words if not is_known(word)]
        if wrong:
            raise ValueError(f"not {noun}: {', '.join(wrong)}")
        return words

    return read


def _read_amount(text: str) -> int:
    if _AMOUNT.fullmatch(text) is None:
        raise ValueError("not an amount such as 100.00")
    return read_hundredths(text)


def _read_hours(text: str) -> str:
    match = _HOURS.fullmatch(text)
    if match is None or int(match[1]) == int(match[2]) % 24:
        raise ValueError("not hours such as 08-20 or 22-06")
    return text


_is_bin = re.compile("[0-9]{1,8}").fullmatch

TERMS: tuple[ConditionTerm, ...] = (
    ConditionTerm(
        "brands",
        Ground.BRAND,
        "Brands, such as VISA,MASTER.",
        _read_words(str.upper, brands.BRANDS.__contains__, "a brand of this gateway"),
    ),
    ConditionTerm(
        "currencies",
        Ground.CURRENCY,
        "Currencies, such as EUR,USD.",
        _read_words(str.upper, currencies.CURRENCIES.__contains__, "a currency of ISO 4217"),
    ),
    ConditionTerm("amount_min", Ground.AMOUNT, "The smallest amount, such as 10.00.", _read_amount),
    ConditionTerm("amount_max", Ground.AMOUNT, "The largest amount.", _read_amount),
    ConditionTerm(
        "bins",
        Ground.BIN,
        "First digits of card numbers, up to 8 of them, such as 4200,51.",
        _read_words(str, lambda word: _is_bin(word) is not None, "1 to 8 digits"),
    ),
    ConditionTerm(
        "countries",
        Ground.COUNTRY,
        "Countries of the billing address, or else of the shipping address, such as DE,AT.",
        _read_words(str.upper, countries.COUNTRIES.__contains__, "a country of ISO 3166"),
    ),
    ConditionTerm(
        "payment_types",
        Ground.PAYMENT_TYPE,
        "Payment types, such as PA,DB.",
        _read_words(str.upper, payment_types.PAYMENT_TYPES.__contains__, "a payment type"),
    ),
    ConditionTerm("hours", Ground.TIME, "Hours of the day in UTC, such as 08-20; 20 is not included.", _read_hours),
    ConditionTerm(
        "weekdays",
        Ground.TIME,
        "Days of the week in UTC, such as mon,tue.",
        _read_words(str.lower, WEEKDAYS.__contains__, f"one of {', '.join(WEEKDAYS)}"),
    ),
)


def read_conditions(sent: Mapping[str, str]) -> Conditions:
    """Reads the conditions by the names of `TERMS`, or names every one that is wrong; an empty text is no condition."""
    read: dict[str, Any] = {}
    faults = []
    for term in TERMS:
        text = sent.get(term.member, "").strip()
        if not text:
            continue
        try:
            read[term.member] = term.read(text)
        except ValueError as fault:
            faults.append(Fault(term.member, str(fault)))
    least, most = read.get("amount_min"), read.get("amount_max")
    if least is not None and most is not None and least > most:
        faults.append(Fault("amount_max", "is less than amount_min"))
    if faults:
        raise results.make_invalid(*faults)
    return Conditions(**read)


def render_conditions(conditions: Conditions) -> dict[str, str]:
    """Renders the conditions that are set as the texts that would set them."""
    values = {term.member: getattr(conditions, term.member) for term in TERMS}
    return {name: _render(value) for name, value in values.items() if value not in ((), "", None)}


def _render(value: tuple[str, ...] | str | int) -> str:
    if isinstance(value, int):
        return render_hundredths(value)
    return ",".join(value) if isinstance(value, tuple) else value


def render_row(row: DispatchRow, place: int) -> dict[str, Any]:
    return {"id": row.id, "place": place, "channel": row.channel_id, **render_conditions(row.conditions)}


_CODES: Mapping[Ground, str] = {
    Ground.PAYMENT_TYPE: codes.TYPE_NOT_CONFIGURED,
    Ground.BRAND: codes.CURRENCY_NOT_CONFIGURED,
    Ground.CURRENCY: codes.CURRENCY_NOT_CONFIGURED,
    Ground.COUNTRY: codes.CURRENCY_NOT_CONFIGURED,
    Ground.BIN: codes.NO_CONTRACT,
    Ground.AMOUNT: codes.NO_CONTRACT,
    Ground.TIME: codes.NO_CONTRACT,
}


def make_misfit_refusal(misfit: Misfit) -> Refusal:
    """Tells the first condition of the nearest row that is not met; what the request had instead is the merchant's."""
    ground = misfit.grounds[0]
    shown = render_conditions(misfit.row.conditions)
    asked = ", ".join(
        f"{each.member} {shown[each.member]}" for each in TERMS if each.ground is ground and each.member in shown
    )
    detail = f"no dispatch row fits; row {misfit.place}, the nearest, asks for another {ground}: {asked}"
    return Refusal(results.get_result(_CODES[ground]), detail)


# ---- what a request tells about itself ----

STARTING = frozenset(
    {
        "create_payment",
        "pay_registration",
        "authenticate",
        "create_checkout",
        "create_payment_link",
        "create_registration",
        "schedule",
    }
)
"""The operations that begin something; all others are about what has its channel already, or about all channels."""

_IMPLIED_TYPES: Mapping[str, str] = {"create_registration": "RG", "authenticate": "3D", "schedule": "SD"}
"""The payment types of operations whose requests need not name one."""


def find_followed_id(pairs: Pairs) -> str | None:
    """Finds the payment that a request follows up by a parameter."""
    return _read_sent(pairs).get("referenceUuid")


def find_registration_id(pairs: Pairs) -> str | None:
    """Finds the registration that a request pays with; those that a checkout offers are a choice of the shopper's."""
    return _read_sent(pairs).get("registrationId")


def read_traits(pairs: Pairs, operation: str, at: Instant, registration: Registration | None = None) -> Traits:
    """Reads by what a request is dispatched, before any channel has checked it: what cannot be read is not known."""
    sent = _read_sent(pairs)
    number = re.sub("[ -]", "", sent.get("card.number") or sent.get("tokenAccount.number") or "")
    number = number if number.isascii() and number.isdecimal() else ""
    digits = number[:_BIN_DIGITS]
    stored = {} if registration is None else registration.echo
    if registration is not None and registration.card is not None:
        digits = registration.card.bin
    amount = sent.get("amount", "")
    only_registers = operation == "create_checkout" and sent.get("createRegistration", "").lower() == "true"
    return Traits(
        at=at,
        brand=_get_brand(sent.get("paymentBrand", ""), number) if registration is None else registration.brand,
        currency=sent.get("currency", "").upper(),
        amount=read_hundredths(amount) if _AMOUNT.fullmatch(amount) else None,
        bin=digits,
        country=_get_country(sent) or _get_country(stored),
        payment_type=sent.get("paymentType", "").upper()
        or ("RG" if only_registers else _IMPLIED_TYPES.get(operation, "")),
    )


def _get_country(values: Mapping[str, str]) -> str:
    return (values.get("billing.country") or values.get("shipping.country") or "").upper()


def _get_brand(code: str, number: str) -> str:
    """Returns the named brand, or else that of the card number, as the channels do; empty where it is not known."""
    brand = brands.find_brand(code, lenient=True) if code else brands.detect_brand(number)
    return "" if brand is None else brand.code


def _read_sent(pairs: Pairs) -> dict[str, str]:
    """Returns values by canonical name; a strict channel refuses repeated names later, on others the last counts."""
    sent = {}
    for name, value in pairs:
        resolved = names.resolve(name) if value else None
        if resolved is not None and not isinstance(resolved, Fault):
            sent[resolved.canonical_name] = value.strip()
    return sent
