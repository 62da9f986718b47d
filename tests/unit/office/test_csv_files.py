"""Cells of exported files: what a spreadsheet would run as a formula is shown as text."""

from __future__ import annotations

import csv
import io

import pytest

from tollgate.office.csv_files import make_cell, render_rows


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_begins_like_a_formula_gets_an_apostrophe(first: str) -> None:
    assert make_cell(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("value", ["", "a=1", " =1", "'=1", 7, "8a01"])
def test_other_cells_are_as_they_were(value: object) -> None:
    assert make_cell(value) == str(value)


def test_a_file_is_read_back_as_it_was_written() -> None:
    rows = [["number", "details"], ["1", 'two\nlines, "quoted", été']]
    assert list(csv.reader(io.StringIO(render_rows(rows).decode(), newline=""))) == rows
