"""Finds account numbers in text, however they are spelled. What is stored and what is logged use the same functions.

Digits of any script count, and so do digits with separators between them.
"""

import re
import unicodedata
from collections.abc import Iterator

from tollgate.catalog.brands import fits_any_brand, passes_luhn

OWN_NUMBER_MIN = 8
"""The shortest account number that is looked for in other fields; shorter ones are in any text by chance."""
CARD_NUMBER_MIN, CARD_NUMBER_MAX = 12, 19
_IBAN_HEAD_LENGTH = 4

_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_NOT_DIGITS = bytes(code for code in range(256) if not 48 <= code <= 57)
# A line break inside a JSON string is written as a backslash and a letter. NUL stands between two texts.
_SEPARATORS = r"(?:\\[nrt]|[^\w\0]|_){0,3}"
# Looking for this costs a fraction of looking for the run itself, and nearly no text has it.
_LONG_RUN = re.compile(rf"[0-9][^A-Za-z\0]{{{CARD_NUMBER_MIN - 1}}}")
# Digits inside of an id, a UUID or a time are there by chance, and a log without them could not be searched.
_RUN = re.compile(
    r"(?<![0-9a-fA-F])[0-9a-fA-F]{32,}(?![0-9a-fA-F])"
    r"|(?<![0-9a-zA-Z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9a-zA-Z])"
    r"|(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?:[+-][0-9]{2}:?[0-9]{2})?(?![0-9])"
    rf"|(?P<run>(?<![0-9])[0-9](?:{_SEPARATORS}[0-9]){{{CARD_NUMBER_MIN - 1},}})"
)
_GROUP = re.compile("[0-9]+")
_GROUP_MIN = 3
"""Numbers on cards are printed in groups of three digits and more; shorter ones are counts, days or hours."""


def fold_digits(text: str) -> str:
    """Normalizes text so that a digit of any script is the ASCII digit."""
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return folded if folded.isascii() else _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), folded)


def keep_digits(text: str) -> str:
    """Returns the digits of a text without anything between them."""
    return fold_digits(text).encode(errors="replace").translate(None, _NOT_DIGITS).decode()


def normalize_number(number: str) -> str:
    """Returns the part of an account number that other texts must not contain; empty if it is too short.

    That is its digits, or its letters and digits if there are few digits.
    """
    # Nearly every number is a card's, whose shape has made sure that it is nothing but digits.
    digits = number if number.isascii() and number.isdecimal() else keep_digits(number)
    if len(digits) >= OWN_NUMBER_MIN:
        return digits
    compact = _compact(number)
    return compact if len(compact) >= OWN_NUMBER_MIN else ""


def contains_number(text: str, normalized: str) -> bool:
    """Tells whether a text contains an account number, which `normalize_number` has prepared, in any spelling."""
    return normalized in (keep_digits(text) if normalized.isdecimal() else _compact(text))


def normalize_iban(iban: str) -> str:
    """Leaves out the country and the check digits, which the banks of a country do not write."""
    return normalize_number(iban[_IBAN_HEAD_LENGTH:])


def has_long_run(text: str) -> bool:
    """Tells cheaply whether a text has enough digits in a row to hold a card number. Most texts have not."""
    return _may_have_run(fold_digits(text))


def hide_card_numbers(text: str, mask: str = "*") -> str:
    """Replaces each run of digits that could be the number of a card.

    Such a run has a valid check digit, and a prefix and a length that go together in the row of a brand.
    """
    folded = fold_digits(text)
    if not _may_have_run(folded):
        return text
    hidden = _RUN.sub(lambda match: _hide_run(match, mask), folded)
    return text if hidden == folded else hidden


def _may_have_run(folded: str) -> bool:
    return _LONG_RUN.search(folded) is not None or "\\" in folded


def _compact(text: str) -> str:
    return "".join(filter(str.isalnum, fold_digits(text))).upper()


def _hide_run(match: re.Match[str], mask: str) -> str:
    run = match["run"]
    if run is None:
        return match[0]
    parts: list[str] = []
    shown_to = 0
    for start, end in _iterate_cards(run):
        parts += (run[shown_to:start], mask * (end - start))
        shown_to = end
    return "".join((*parts, run[shown_to:]))


def _iterate_cards(run: str) -> Iterator[tuple[int, int]]:
    """Yields where card numbers start and end: the whole run, or else neighbouring groups of it."""
    if _is_card(keep_digits(run)):
        yield 0, len(run)
        return
    groups = [(match.start(), match.end()) for match in _GROUP.finditer(run)]
    first = 0
    while first < len(groups):
        last = _find_last(run, groups, first)
        if last is None:
            first += 1
        else:
            yield groups[first][0], groups[last][1]
            first = last + 1


def _find_last(run: str, groups: list[tuple[int, int]], first: int) -> int | None:
    digits = ""
    for place in range(first, len(groups)):
        start, end = groups[place]
        digits += run[start:end]
        if end - start < _GROUP_MIN or len(digits) > CARD_NUMBER_MAX:
            return None
        if _is_card(digits):
            return place
    return None


def _is_card(digits: str) -> bool:
    return CARD_NUMBER_MIN <= len(digits) <= CARD_NUMBER_MAX and passes_luhn(digits) and fits_any_brand(digits)
