"""The tables of docs/scale.md, made of figures that nobody measured."""

from __future__ import annotations

from tools.bench.machine import ROOT
from tools.bench.plan import Part
from tools.bench.postgres_side import StoredSize
from tools.bench.scale_report import TITLE, ScaleFigures, render

from unit.bench.figures import make_figures, make_operations, make_side
from unit.bench.test_report import list_rows


def make_scale(few: float = 1_000.0, many: float = 950.0) -> ScaleFigures:
    """Makes figures of a million payments that take 2,000 bytes for rows and 1,000 for indexes each."""
    side = make_side("PostgreSQL")
    side.operations, side.few, side.many = make_operations({}), [few] * 3, [many] * 3
    size = StoredSize({"payments": 1_500_000_000, "outbox": 500_000_000}, {"payments": 10**9, "outbox": 0}, 12)
    figures = make_figures(side, parts=[Part.GROWTH, Part.OPERATIONS])
    return ScaleFigures(figures, 12, size, [7_000.0, 8_000.0, 9_000.0], [300.0] * 3, [450.0] * 3)


def test_a_stored_payment_is_shown_by_table_and_in_all() -> None:
    assert list_rows(render(make_scale()), "What a payment takes") == [
        ["payments", "1,500", "1,000", "2,500"],
        ["outbox", "500", "0", "500"],
        ["all", "2,000", "1,000", "3,000"],
    ]


def test_cores_log_and_disk_of_a_rate_follow_from_one_payment() -> None:
    rows = list_rows(render(make_scale()), "What follows from it")

    assert ["1,000", "0.6", "0.9", "8", "259", "116"] in rows
    assert ["10,000", "6.0", "9.0", "80", "2,592", "12"] in rows


def test_the_size_of_many_payments_and_of_the_indexes_of_a_month_follow_from_one_payment() -> None:
    rows = list_rows(render(make_scale()), "What follows from it")

    assert ["10,000,000,000", "30.0", "10.0", "833"] in rows


def test_a_rate_below_nine_tenths_is_a_broken_bound() -> None:
    bounds = list_rows(render(make_scale(many=850.0)), "Bounds")

    assert bounds[0] == ["PostgreSQL: speed kept with 1,000,000 payments stored", "at least 0.90", "0.85", "**broken**"]


def test_the_figures_take_the_place_after_the_text_of_the_page() -> None:
    page = (ROOT / "docs" / "scale.md").read_text("utf-8")

    assert page.count(TITLE) == 1
    assert render(make_scale()).startswith(TITLE)
