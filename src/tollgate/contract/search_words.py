"""Reads the text of the search box: what each word means, and what people are told about it.

Which payments fit is decided in `searching`.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import msgspec

from tollgate.catalog import currencies, limits
from tollgate.contract.searching import Reading, Trait, Word
from tollgate.payments.reporting import FOREVER
from tollgate.values import Instant, is_id, read_hundredths, render_hundredths, to_datetime, to_instant


class Meaning(msgspec.Struct, frozen=True):
    """The meaning of a word as it was read, to be shown beside the result."""

    text: str
    meaning: str


class ReadText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a search box as it was read; several dates narrow each other."""

    words: tuple[Word, ...] = ()
    begins_at: Instant = 0
    ends_at: Instant = FOREVER
    currency: str = ""
    meanings: tuple[Meaning, ...] = ()


RULE_WORD = "rule:"
"""The beginning of a word that names a risk rule, or an entry of the block list, by its id."""
_TOKEN = re.compile(r'"([^"]+)"|(\S+)')
_AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{2})?|[0-9]{1,3}(?:,[0-9]{3}){1,3}(?:\.[0-9]{2})?")
_READERS: tuple[tuple[Trait, re.Pattern[str], Callable[[str], str]], ...] = (
    (Trait.SHORT_ID, re.compile(r"[0-9]{4}\.[0-9]{4}\.[0-9]{4}"), str),
    (Trait.LAST_DIGITS, re.compile("[0-9]{4}"), str),
    (Trait.RULE, re.compile(f"{RULE_WORD}[0-9a-f]{{32}}"), lambda text: text.removeprefix(RULE_WORD)),
    (Trait.EMAIL, re.compile(r"[^@\s]+@[^@\s]+"), str.lower),
    (Trait.RESULT_CODE, re.compile(r"[0-9]{3}\.[0-9]{3}(?:\.[0-9]{3})?"), str),
    (Trait.AMOUNT, _AMOUNT, lambda text: str(read_hundredths(text.replace(",", "")))),
)
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)


def read_text(text: str, now: Instant) -> ReadText:
    """Reads the words of a search. Days are those of UTC, and a week begins on Monday."""
    read = ReadText()
    tokens = [(quoted, True) if quoted else (bare, False) for quoted, bare in _TOKEN.findall(text)]
    tokens = tokens[: limits.LIMITS.search_words_max]
    today = to_datetime(now).date()
    while tokens:
        (token, is_quoted), *rest = tokens
        pair = f"{token} {rest[0][0]}".lower() if rest and not is_quoted and not rest[0][1] else ""
        days = None if is_quoted else find_days(pair, today)
        if days is not None:
            token, rest = pair, rest[1:]
        elif not is_quoted:
            days = find_days(token.lower(), today)
        if days is not None:
            read = _narrow(read, token, *days)
        elif not is_quoted and token.upper() in currencies.CURRENCIES:
            currency = token.upper()
            read = msgspec.structs.replace(read, currency=currency, meanings=_add(read, token, f"currency {currency}"))
        else:
            read = _add_word(read, _read_word(token, is_quoted=is_quoted))
        tokens = rest
    return read


def find_days(text: str, today: date) -> tuple[date, date] | None:
    """Returns the first day that a date word means, and the first day after it; None if it is no such word."""
    monday, first = today - timedelta(days=today.weekday()), today.replace(day=1)
    named = {
        "today": (today, today + _DAY),
        "yesterday": (today - _DAY, today),
        "this week": (monday, monday + _WEEK),
        "last week": (monday - _WEEK, monday),
        "this month": (first, _get_next_month(first)),
        "last month": ((first - _DAY).replace(day=1), first),
    }
    if text in named:
        return named[text]
    day, month = re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text), re.fullmatch("[0-9]{4}-[0-9]{2}", text)
    try:
        if day is not None:
            begin = date.fromisoformat(text)
            return begin, begin + _DAY
        if month is not None:
            begin = date.fromisoformat(f"{text}-01")
            return begin, _get_next_month(begin)
    except (ValueError, OverflowError):
        pass
    return None


def begin_day(day: date) -> Instant:
    return to_instant(datetime(day.year, day.month, day.day, tzinfo=UTC))


def _get_next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _narrow(read: ReadText, token: str, begin: date, end: date) -> ReadText:
    last = end - _DAY
    meaning = f"created on {begin}" if begin == last else f"created from {begin} to {last}"
    return msgspec.structs.replace(
        read,
        begins_at=max(read.begins_at, begin_day(begin)),
        ends_at=min(read.ends_at, begin_day(end)),
        meanings=_add(read, token, f"{meaning} (UTC)"),
    )


def _read_word(token: str, *, is_quoted: bool) -> Word:
    """Any word may be the merchant's own reference as well, and one in quotes is nothing else."""
    readings: list[Reading] = []
    if not is_quoted:
        if is_id(token.lower()):
            readings.append(Reading(Trait.ID, token.lower()))
        readings += [Reading(trait, read(token)) for trait, shape, read in _READERS if shape.fullmatch(token)]
    return Word(token, (*readings, Reading(Trait.REFERENCE, token)))


def _add_word(read: ReadText, word: Word) -> ReadText:
    meaning = " or ".join(map(_describe, word.readings))
    return msgspec.structs.replace(read, words=(*read.words, word), meanings=_add(read, word.text, meaning))


def _describe(reading: Reading) -> str:
    if reading.trait is Trait.AMOUNT:
        return f"{reading.trait} {render_hundredths(int(reading.text))}"
    return str(reading.trait)


def _add(read: ReadText, text: str, meaning: str) -> tuple[Meaning, ...]:
    return (*read.meanings, Meaning(text, meaning))
