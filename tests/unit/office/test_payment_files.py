"""Files of payments: cells that no table program runs, and quotes where RFC 4180 wants them."""

from __future__ import annotations

import pytest

from tollgate.office.csv_files import render_cell


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("order-1", "order-1"),
        ("=1+1", "'=1+1"),
        ("+49", "'+49"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'),
        ('=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'),
        ("a,b", '"a,b"'),
        ("two\nlines", '"two\nlines"'),
        ("", ""),
    ],
)
def test_text_of_others_is_never_a_formula(text: str, cell: str) -> None:
    assert render_cell(text) == cell


def test_our_own_numbers_stay_numbers() -> None:
    assert render_cell("-92.00", is_number=True) == "-92.00"
