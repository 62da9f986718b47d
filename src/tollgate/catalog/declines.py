"""Declines by the content of a request, as rows in the order of their checks. No content is declined elsewhere."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from tollgate.catalog.brand_rows import AccountName, Brand
from tollgate.catalog.tax_numbers import is_brazilian_tax_number
from tollgate.values import read_hundredths

Fields = Mapping[str, str]
"""Maps a canonical name to its value; every value has passed its own format and every rule."""


class Facts(NamedTuple):
    """Holds what a check may use besides the fields."""

    today: date
    brand: Brand | None = None
    """It is None while the brand is not known, as when a checkout is prepared."""
    creditor_iban: str = ""
    """The account that the channel's direct debits are paid to."""


@dataclass(frozen=True, slots=True)
class Decline:
    """A row: the code with which a payment is declined, without asking the acquirer, and when."""

    code: str
    text: str
    """One sentence for the reference: when it happens."""
    applies: Callable[[Fields, Facts], bool]
    names: frozenset[str]
    """The row applies only if one of these was sent."""


_EMAIL = re.compile(r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)*")
_PHONE = re.compile(r"[+0-9][0-9 .()/#-]{6,24}")
_LETTER = re.compile(r"[^\W\d_]")
_NEVER_IN_NAMES = re.compile(r"[<>{}\[\]\\|^~@$%=]")
_MANDATE_YEARS = 3
"""A mandate lapses when it is not used for so long."""

_PEOPLE = ("customer", "shipping.customer")


def is_email(text: str) -> bool:
    """Checks as browsers do: there is something before the @, and a host name after it."""
    return _EMAIL.fullmatch(text) is not None


def is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_phone(text: str) -> bool:
    return _PHONE.fullmatch(text) is not None


def _is_name(text: str) -> bool:
    # Nearly all names are letters and blanks, which need no search.
    if text.replace(" ", "").isalpha():
        return True
    return _LETTER.search(text) is not None and _NEVER_IN_NAMES.search(text) is None


def _any_not(accepts: Callable[[str], bool], *names: str) -> Callable[[Fields, Facts], bool]:
    """Applies if one of the values that were sent is not acceptable."""

    def applies(fields: Fields, _facts: Facts) -> bool:
        # This runs for every payment with a customer, and a generator would cost several times as much as a loop.
        for name in names:
            value = fields.get(name)
            if value is not None and not accepts(value):
                return True
        return False

    return applies


def _of_people(field: str) -> tuple[str, ...]:
    return tuple(f"{person}.{field}" for person in _PEOPLE)


_EMAILS, _ADDRESSES = _of_people("email"), _of_people("ip")
_BIRTH_DATES = (*_of_people("birthDate"), "sender.birthDate", "recipient.birthDate")


def _is_due_too_late(fields: Fields, facts: Facts) -> bool:
    year, rest = facts.today.year + _MANDATE_YEARS, facts.today.isoformat()[4:]
    return fields.get("transactionDueDate", "") > f"{year}{rest}"


def _is_born_later(fields: Fields, facts: Facts) -> bool:
    # Dates are written so that they sort as text.
    dates = [fields[name] for name in _BIRTH_DATES if name in fields]
    return bool(dates) and max(dates) > facts.today.isoformat()


def _has_false_tax_number(fields: Fields, _facts: Facts) -> bool:
    number = fields.get("customer.identificationDocId")
    if number is None or fields.get("billing.country") != "BR":
        return False
    return fields.get("customer.identificationDocType") == "TAXSTATEMENT" and not is_brazilian_tax_number(number)


def _names_account_otherwise(form: AccountName, accepts: Callable[[str], bool]) -> Callable[[Fields, Facts], bool]:
    def applies(fields: Fields, facts: Facts) -> bool:
        account_id = fields.get("virtualAccount.accountId")
        return (
            account_id is not None
            and facts.brand is not None
            and facts.brand.account_name is form
            and not accepts(account_id)
        )

    return applies


def _contains_more_than_the_amount(fields: Fields, _facts: Facts) -> bool:
    """Applies if taxAmount or shipping.cost is more than the amount that contains it."""
    if "amount" not in fields:
        return False
    amount = read_hundredths(fields["amount"])
    return any(name in fields and read_hundredths(fields[name]) > amount for name in ("taxAmount", "shipping.cost"))


def _pays_itself(fields: Fields, facts: Facts) -> bool:
    iban = fields.get("bankAccount.iban", "").upper()
    if iban and iban == facts.creditor_iban.upper():
        return True
    sender = fields.get("sender.accountNumber")
    return sender is not None and sender == fields.get("recipient.accountNumber")


def _named(*names: str) -> frozenset[str]:
    return frozenset(names)


DECLINES = (
    Decline(
        "100.100.402",
        "card.holder has no letter, or a character that no name has.",
        _any_not(_is_name, "card.holder"),
        _named("card.holder"),
    ),
    Decline(
        "100.210.101",
        "virtualAccount.accountId is no phone number, although the brand names accounts by one.",
        _names_account_otherwise(AccountName.PHONE, is_phone),
        _named("virtualAccount.accountId"),
    ),
    Decline(
        "100.211.105",
        "virtualAccount.accountId is no e-mail address, although the brand names accounts by one.",
        _names_account_otherwise(AccountName.EMAIL, is_email),
        _named("virtualAccount.accountId"),
    ),
    Decline(
        "100.500.301",
        f"transactionDueDate is more than {_MANDATE_YEARS} years ahead: the mandate would have lapsed.",
        _is_due_too_late,
        _named("transactionDueDate"),
    ),
    Decline(
        "100.550.701",
        "taxAmount or shipping.cost is more than the amount that contains it.",
        _contains_more_than_the_amount,
        _named("taxAmount", "shipping.cost"),
    ),
    Decline(
        "100.700.801",
        "A customer in Brazil sends a tax number (CPF or CNPJ) whose check digits are wrong.",
        _has_false_tax_number,
        _named("customer.identificationDocId"),
    ),
    Decline(
        "100.800.302",
        "billing.city has no letter.",
        _any_not(lambda city: _LETTER.search(city) is not None, "billing.city"),
        _named("billing.city"),
    ),
    Decline("100.900.101", "customer.email is no e-mail address.", _any_not(is_email, *_EMAILS), _named(*_EMAILS)),
    Decline("100.900.401", "customer.ip is no IP address.", _any_not(is_ip, *_ADDRESSES), _named(*_ADDRESSES)),
    Decline("100.900.450", "A birth date lies in the future.", _is_born_later, _named(*_BIRTH_DATES)),
    Decline(
        "700.450.001",
        "bankAccount.iban is the channel's own account, or sender and recipient name the same one.",
        _pays_itself,
        _named("bankAccount.iban", "sender.accountNumber"),
    ),
)


_NAMES = frozenset[str]().union(*(row.names for row in DECLINES))
_CHOICES_KEPT = 512


def find_decline(fields: Fields, facts: Facts, *, is_lenient: bool) -> str | None:
    """Returns the result code of the first row that applies; None where there is none, as on a lenient channel."""
    if is_lenient:
        return None
    for row in _choose_rows(_NAMES.intersection(fields)):
        if row.applies(fields, facts):
            return row.code
    return None


@lru_cache(_CHOICES_KEPT)
def _choose_rows(names: frozenset[str]) -> tuple[Decline, ...]:
    """Is cached, because a shop's requests differ in their values and hardly ever in their names."""
    return tuple(row for row in DECLINES if not row.names.isdisjoint(names))
