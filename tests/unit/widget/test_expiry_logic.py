"""An expiry date is read, written and checked alike in the frames and in the page; run by Node."""

from __future__ import annotations

import pytest

from unit.widget.frame_program import NOW, Call, form


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("1", "1"),
        ("0", "0"),
        ("5", "05 / "),
        ("1/", "01 / "),
        ("12", "12 / "),
        ("13", "01 / 3"),
        ("1234", "12 / 34"),
        ("12 / 345", "12 / 34"),
        ("12/2034", "12 / 2034"),
        ("2034-05", "05 / 2034"),
        ("\u0660\u0665/\u0663\u0664", "05 / 34"),
        ("05.2034", "05 / 2034"),
        ("5-34", "05 / 34"),
        ("1 34", "01 / 34"),
        ("1 ", "01 / "),
        ("0534 ", "05 / 34"),
        ("\u200e052034", "05 / 2034"),
        ("52034", "05 / 2034"),
        ("203405", "05 / 2034"),
        ("05 / 3x", "05 / 3"),
        ("/", ""),
        ("x", ""),
    ],
)
def test_the_expiry_is_written_with_a_slash_by_itself(call: Call, typed: str, shown: str) -> None:
    assert call(("writeExpiry", typed, False)) == [shown]


@pytest.mark.parametrize(
    ("put_in", "shown", "error"),
    [
        ("13/34", "13 / 34", "expiryMonthError"),
        ("1334", "13 / 34", "expiryMonthError"),
        ("3405", "34 / 05", "expiryMonthError"),
        ("01 / 3/", "13 / ", "expiryMonthError"),
        ("03 / 4/", "34 / ", "expiryMonthError"),
        ("512 / 34", "512 / 34", "expiryMonthError"),
        ("012/34", "012/34", "expiryMonthError"),
        ("05/31/2034", "05/31/2034", "expiryError"),
        ("12 / 31/", "12 / 31/", "expiryError"),
        ("2034-05-31", "2034-05-31", "expiryError"),
        ("05/3412", "05/3412", "expiryError"),
        ("May 34", "May 34", "expiryError"),
        ("1234567", "1234567", "expiryError"),
        ("y" * 40, "y" * 20, "expiryError"),
    ],
)
def test_an_expiry_that_can_be_read_in_several_ways_is_not_guessed(
    call: Call, put_in: str, shown: str, error: str
) -> None:
    written, judged = call(("writeExpiry", put_in, False), ("validateExpiry", put_in, NOW))
    assert (written, judged["error"], judged["isPotentiallyValid"]) == (shown, error, False)
    assert call(("validateExpiry", written, NOW))[0]["error"] == error


def test_the_caret_stays_in_an_expiry_too(call: Call) -> None:
    assert call(
        ("set", "expiry", "12", 2, form(), False),
        ("set", "expiry", "512 / 34", 1, form(), False),
        ("set", "expiry", "5 / 34", 1, form(), False),
        ("set", "expiry", "12 / 934", 6, form(), False),
    ) == [
        {"text": "12 / ", "caret": 5},
        {"text": "512 / 34", "caret": 1},
        {"text": "05 / 34", "caret": 2},
        {"text": "12 / 93", "caret": 6},
    ]


def test_the_slash_does_not_come_back_to_somebody_who_deletes_it(call: Call) -> None:
    texts = ("12", "12 / ", "12 / 3", "0 / 34", " / ", "May ")
    assert call(*(("writeExpiry", text, True) for text in texts)) == ["12", "12", "12 / 3", "0 / 34", "", "May "]


def test_deleting_at_the_slash_moves_no_digit_across_it(call: Call) -> None:
    assert call(
        ("deleteAtSlash", "12 / 04", 5, False),
        ("deleteAtSlash", "12 / 34", 2, True),
        ("deleteAtSlash", "12 / ", 5, False),
        ("deleteAtSlash", "12 / ", 2, True),
        ("deleteAtSlash", "12 / 34", 6, False),
    ) == [
        {"text": "1 / 04", "caret": 1},
        {"text": "12 / 4", "caret": 5},
        {"text": "1", "caret": 1},
        {"text": "12", "caret": 2},
        None,
    ]


@pytest.mark.parametrize(
    ("typed", "error", "is_open"),
    [
        ("", "expiryError", True),
        ("1", "expiryError", True),
        ("00", "expiryMonthError", False),
        ("12 / ", "expiryError", True),
        ("12 / 3", "expiryError", True),
        ("12 / 1", "expiryError", False),
        ("12 / 20", "expiryYearError", True),
        ("12 / 203", "expiryError", True),
        ("12 / 25", "expiryYearError", False),
        ("10 / 26", "expiryMonthError", False),
        ("11 / 26", None, True),
        ("12 / 2034", None, True),
        ("12 / 76", None, True),
        ("12 / 77", "expiryYearError", False),
    ],
)
def test_an_expiry_lies_ahead_but_not_too_far(call: Call, typed: str, error: str | None, is_open: bool) -> None:
    (answer,) = call(("validateField", "expiry", typed, form(), NOW))
    assert (answer["error"], answer["isPotentiallyValid"]) == (error, is_open)


def test_an_expiry_is_sent_as_month_and_full_year(call: Call) -> None:
    sent = {"card.expiryMonth": "05", "card.expiryYear": "2034"}
    assert call(("values", "expiry", "05 / 34", NOW), ("values", "expiry", "5/2034", NOW)) == [sent, sent]
