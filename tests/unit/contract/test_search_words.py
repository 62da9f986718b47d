"""The text of the search box: every kind of word, what it means, and what people are told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.contract.search_words import read_text
from tollgate.contract.searching import Reading, Trait
from tollgate.payments.reporting import FOREVER
from tollgate.values import to_instant

NOW = to_instant(datetime(2026, 11, 18, 9, 30, tzinfo=UTC))
ID = "8a" + "4" * 30


def begin(text: str) -> int:
    return to_instant(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        (ID, [(Trait.ID, ID)]),
        (ID.upper(), [(Trait.ID, ID)]),
        ("1234.5678.9012", [(Trait.SHORT_ID, "1234.5678.9012")]),
        ("order-1234", []),
        ("1234", [(Trait.LAST_DIGITS, "1234"), (Trait.AMOUNT, "123400")]),
        ("Jane@Example.COM", [(Trait.EMAIL, "jane@example.com")]),
        ("92", [(Trait.AMOUNT, "9200")]),
        ("92.00", [(Trait.AMOUNT, "9200")]),
        ("1,234.50", [(Trait.AMOUNT, "123450")]),
        ("92.5", []),
        ("800.100", [(Trait.RESULT_CODE, "800.100")]),
        ("800.100.151", [(Trait.RESULT_CODE, "800.100.151")]),
        (f"rule:{ID}", [(Trait.RULE, ID)]),
        ("rule:8a", []),
        ("2026-13-01", []),
        ("2026-00", []),
    ],
)
def test_a_word_is_read_as_all_that_it_may_be_and_always_as_a_reference(
    text: str, readings: list[tuple[Trait, str]]
) -> None:
    [word] = read_text(text, NOW).words
    assert word.readings == (*[Reading(*each) for each in readings], Reading(Trait.REFERENCE, text))


@pytest.mark.parametrize(
    ("text", "first", "beyond"),
    [
        ("today", "2026-11-18", "2026-11-19"),
        ("Yesterday", "2026-11-17", "2026-11-18"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("last WEEK", "2026-11-09", "2026-11-16"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("2026-11-18", "2026-11-18", "2026-11-19"),
        ("2024-02", "2024-02-01", "2024-03-01"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        ("this month today", "2026-11-18", "2026-11-19"),
    ],
)
def test_date_words_narrow_the_time(text: str, first: str, beyond: str) -> None:
    read = read_text(text, NOW)
    assert (read.begins_at, read.ends_at, read.words) == (begin(first), begin(beyond), ())


def test_dates_that_contradict_each_other_leave_no_time() -> None:
    read = read_text("today yesterday", NOW)
    assert read.begins_at >= read.ends_at


def test_several_words_are_combined_and_each_meaning_is_told() -> None:
    read = read_text("92.00 eur last week jane@example.com", NOW)

    assert [word.text for word in read.words] == ["92.00", "jane@example.com"]
    assert read.currency == "EUR"
    assert [(each.text, each.meaning) for each in read.meanings] == [
        ("92.00", "amount 92.00 or merchantTransactionId"),
        ("eur", "currency EUR"),
        ("last week", "created from 2026-11-09 to 2026-11-15 (UTC)"),
        ("jane@example.com", "e-mail or merchantTransactionId"),
    ]


def test_words_in_quotes_are_one_reference() -> None:
    read = read_text('"last week" "order 12 EUR"', NOW)

    assert [word.readings for word in read.words] == [
        (Reading(Trait.REFERENCE, "last week"),),
        (Reading(Trait.REFERENCE, "order 12 EUR"),),
    ]
    assert read.ends_at == FOREVER


def test_an_empty_text_narrows_nothing_and_a_long_one_is_cut() -> None:
    assert read_text("  ", NOW).words == ()
    assert len(read_text("word " * 50, NOW).words) == LIMITS.search_words_max
