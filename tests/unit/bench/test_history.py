"""The row that a whole run adds to the page of all runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.bench.history import TITLES, append_run
from tools.bench.measuring import Figures

from unit.bench.figures import make_figures, make_server, make_side

PAGE = Path(__file__).resolve().parents[3] / "docs" / "benchmarks-history.md"
TABLE = "| taken |\n| --- |\n"


def make_run(sqlite_rate: float) -> Figures:
    sqlite = make_side("SQLite", make_server(1, {1: [400.0] * 3, 64: [sqlite_rate] * 3}))
    postgres = make_side(
        "PostgreSQL",
        make_server(1, {1: [300.0] * 3, 64: [900.0] * 3}),
        make_server(2, {1: [200.0] * 3, 64: [1_200.0] * 3}),
    )
    return make_figures(sqlite, postgres)


def read_cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.splitlines()[-1].strip("|").split("|")]


def test_a_run_adds_one_row_with_a_cell_for_each_title() -> None:
    text = append_run(TABLE, make_run(850.0))

    assert text.startswith(TABLE)
    assert text.count("\n") == TABLE.count("\n") + 1
    assert dict(zip(TITLES, read_cells(text), strict=True)) == {
        "taken": "2026-11-19 05:00 UTC",
        "commit": "1234abcd",
        "machine": "2 cores (aarch64)",
        "interpreter": "Python 3.11.2",
        "SQLite, 1": "0.40",
        "SQLite, 64": "0.85",
        "PostgreSQL, 1": "0.30",
        "PostgreSQL, 64": "0.90",
        "PostgreSQL per core, 1": "0.20",
        "PostgreSQL per core, 64": "1.20",
        "broken bounds": "none",
    }


def test_a_run_that_breaks_a_bound_is_added_too_and_names_it() -> None:
    text = append_run(append_run(TABLE, make_run(850.0)), make_run(650.0))

    assert read_cells(text)[-1] == "SQLite: share of the limit at 64 connections, one process 0.65"


def test_the_page_ends_with_the_table_of_runs() -> None:
    """A row that is appended at the end of the page belongs to this table."""
    text = PAGE.read_text("utf-8")
    head = f"| {' | '.join(TITLES)} |\n"
    assert head in text

    rows = text.partition(head)[2].splitlines()

    assert all(len(row.strip("|").split("|")) == len(TITLES) for row in rows)
    assert append_run(text, make_run(850.0)).startswith(text)


def test_a_page_that_ends_with_something_else_is_left_alone() -> None:
    with pytest.raises(ValueError, match="does not end with the table"):
        append_run(f"{TABLE}\nA note.\n", make_run(850.0))
