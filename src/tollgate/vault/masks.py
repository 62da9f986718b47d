"""The last gate before a log: whatever looks like a card number leaves as stars. Nothing is stored or opened here."""

from __future__ import annotations

import re

from tollgate.catalog import passes_luhn

# An id is 32 hex digits: a run of decimals in one is chance, and a starred ndc could not be searched for.
_LONG_NUMBER = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|(?P<number>(?<![0-9])[0-9](?:[ -]?[0-9]){11,18}(?![0-9]))"
)
# What has no such run has no card number, and a look for it costs a tenth of the look for the number itself.
_DIGIT_RUN = re.compile("[0-9][0-9 -]{11}")


def hide_card_numbers(text: str) -> str:
    """Nothing should come here with one; a mistake elsewhere must still not end in a log file."""
    if _DIGIT_RUN.search(text) is None:
        return text
    return _LONG_NUMBER.sub(_hide_if_card, text)


def _hide_if_card(match: re.Match[str]) -> str:
    if match["number"] is None:
        return match[0]
    digits = re.sub("[ -]", "", match[0])
    return "*" * len(match[0]) if passes_luhn(digits) else match[0]
