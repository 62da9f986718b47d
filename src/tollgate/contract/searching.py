"""Searching payments: what a payment can be found by, and whether one fits a query.

The text of a search box is read in `search_words`, and the index of terms is stored elsewhere.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from tollgate.catalog.results import RESULTS
from tollgate.payments.payment import OPEN_STATES, Payment, State
from tollgate.payments.reporting import FOREVER
from tollgate.values import Instant


class Trait(StrEnum):
    """The traits by which a payment is found. Those that few payments share come first."""

    ID = "payment id"
    SHORT_ID = "short id"
    REFERENCE = "merchantTransactionId"
    EMAIL = "e-mail"
    LAST_DIGITS = "last four digits"
    RULE = "risk rule"
    RESULT_CODE = "result code"
    AMOUNT = "amount"


_INDEXED = {
    Trait.SHORT_ID: "s",
    Trait.EMAIL: "e",
    Trait.LAST_DIGITS: "l",
    Trait.RULE: "r",
    Trait.RESULT_CODE: "c",
    Trait.AMOUNT: "a",
}
"""The traits with terms in the index, and how terms begin; the others have an index of their own."""
_LAST_DIGITS = re.compile("[0-9]{4}")
_ACCOUNTS = ("bankAccount.iban", "bankAccount.number", "tokenAccount.number")
_FAMILY_LENGTH = len("800.100")


class Reading(msgspec.Struct, frozen=True):
    """A trait with a value, which a word may mean or a payment may have."""

    trait: Trait
    text: str

    @property
    def term(self) -> str | None:
        """Returns its term in the index; None if it is found by another way."""
        prefix = _INDEXED.get(self.trait)
        return None if prefix is None else f"{prefix}:{self.text}"


class Word(msgspec.Struct, frozen=True):
    """A word of a search, which a payment fits that has one of the traits."""

    text: str
    readings: tuple[Reading, ...]

    @property
    def rank(self) -> int:
        """Returns how many payments the word may find: a low number is few."""
        return max(_RANKS[reading.trait] for reading in self.readings)


_RANKS = {trait: rank for rank, trait in enumerate(Trait)}


def get_email(payment: Payment) -> str:
    return payment.echo.get("customer.email", "")


def get_last_digits(payment: Payment) -> str:
    """Returns the last four digits of the card or account, as far as they are kept in clear."""
    if payment.card is not None:
        return payment.card.last_digits
    shown = next((payment.echo[name] for name in _ACCOUNTS if name in payment.echo), "")[-4:]
    return shown if _LAST_DIGITS.fullmatch(shown) else ""


def list_readings(payment: Payment) -> Iterator[Reading]:
    """Yields everything that a payment can be found by."""
    yield Reading(Trait.ID, payment.id)
    yield Reading(Trait.SHORT_ID, payment.short_id)
    yield Reading(Trait.AMOUNT, str(payment.money.hundredths))
    if payment.merchant_transaction_id is not None:
        yield Reading(Trait.REFERENCE, payment.merchant_transaction_id)
    if email := get_email(payment):
        yield Reading(Trait.EMAIL, email.lower())
    if last_digits := get_last_digits(payment):
        yield Reading(Trait.LAST_DIGITS, last_digits)
    if payment.result_code:
        yield Reading(Trait.RESULT_CODE, payment.result_code)
        yield Reading(Trait.RESULT_CODE, payment.result_code[:_FAMILY_LENGTH])
    if payment.risk is not None:
        yield from (Reading(Trait.RULE, hit.rule_id) for hit in payment.risk.hits)


def list_terms(payment: Payment) -> list[str]:
    """Lists the terms of a payment in the index."""
    return [reading.term for reading in list_readings(payment) if reading.term is not None]


class ResultState(StrEnum):
    """The states by which people tell payments apart."""

    APPROVED = "approved"
    DECLINED = "declined"
    OPEN = "open"
    """It was sent or waits for somebody, and is not decided yet."""
    IN_FLIGHT = "in progress"


def get_result_state(payment: Payment) -> ResultState:
    if payment.state in OPEN_STATES:
        return ResultState.OPEN
    return _STATES[payment.state]


_STATES = {
    State.STARTED: ResultState.IN_FLIGHT,
    State.APPROVED: ResultState.APPROVED,
    State.DECLINED: ResultState.DECLINED,
}


class PaymentQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A search among the payments of a merchant; members that are not set do not narrow it."""

    channel_ids: tuple[str, ...]
    """The channels whose payments are found."""
    words: tuple[Word, ...] = ()
    begins_at: Instant = 0
    ends_at: Instant = FOREVER
    """The first instant that is not meant any more."""
    payment_type: str = ""
    brand: str = ""
    result: str = ""
    """A state, or a group of result codes."""
    currency: str = ""
    amount_min: int | None = None
    amount_max: int | None = None

    def fits(self, payment: Payment) -> bool:
        return (
            payment.channel_id in self.channel_ids
            and self.begins_at <= payment.created_at < self.ends_at
            and self.payment_type in ("", payment.payment_type)
            and self.brand in ("", payment.brand)
            and self.currency in ("", payment.money.currency)
            and (self.amount_min is None or payment.money.hundredths >= self.amount_min)
            and (self.amount_max is None or payment.money.hundredths <= self.amount_max)
            and (not self.result or self._has_result(payment))
            and (not self.words or self._has_words(payment))
        )

    def _has_result(self, payment: Payment) -> bool:
        known = RESULTS.get(payment.result_code)
        return self.result == get_result_state(payment) or (known is not None and self.result == known.group)

    def _has_words(self, payment: Payment) -> bool:
        had = set(list_readings(payment))
        return all(not had.isdisjoint(word.readings) for word in self.words)

    def choose_driver(self) -> Word | None:
        """Returns the word by which the fewest payments are looked at; None if there is no word."""
        return min(self.words, key=lambda word: word.rank, default=None)
