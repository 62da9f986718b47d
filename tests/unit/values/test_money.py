"""Money is whole hundredths: nothing rounds, nothing mixes, and text goes in and out unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.values import HUNDREDTHS_MAX, read_hundredths, render_hundredths


@given(st.integers(0, HUNDREDTHS_MAX))
def test_an_amount_reads_as_it_was_written(hundredths: int) -> None:
    assert read_hundredths(render_hundredths(hundredths)) == hundredths


@pytest.mark.parametrize(
    ("text", "hundredths"),
    [("0", 0), ("79", 7900), ("79.05", 7905), ("007.50", 750), ("9" * 12 + ".99", HUNDREDTHS_MAX)],
)
def test_decimals_may_be_left_out(text: str, hundredths: int) -> None:
    assert read_hundredths(text) == hundredths


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1.555", ".50", "1,50", "1e3", " 1", "1\n", "٣", "9" * 13])
def test_what_is_no_amount_is_breakage_because_its_shape_was_checked_before(text: str) -> None:
    with pytest.raises(ValueError, match="two decimals"):
        read_hundredths(text)


def test_a_negative_balance_is_written_with_its_sign() -> None:
    assert render_hundredths(-5) == "-0.05"
