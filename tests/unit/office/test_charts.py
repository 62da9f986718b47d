"""Charts: bars have the heights of their numbers, on an axis that begins at zero."""

from __future__ import annotations

import pytest

from tollgate.office.charts import Column, Part, choose_top, draw_columns


@pytest.mark.parametrize(
    ("highest", "top"), [(0, 1), (1, 1), (2, 2), (3, 5), (9, 10), (10, 10), (11, 20), (99, 100), (4321, 5000)]
)
def test_the_axis_ends_at_a_round_number(highest: int, top: int) -> None:
    assert choose_top(highest) == top


def test_parts_of_a_column_are_stacked_and_share_the_height() -> None:
    chart = draw_columns([Column("a", "a: 3 and 1", (Part(3, "good"), Part(1, "bad")))], str)

    good, bad = chart.bars
    assert (good.tone, bad.tone, good.title) == ("good", "bad", "a: 3 and 1")
    assert good.height == pytest.approx(3 * bad.height, abs=0.2)
    assert good.y == pytest.approx(bad.y + bad.height, abs=0.2)
    assert good.y + good.height == pytest.approx(chart.bottom, abs=0.2)


def test_a_column_of_the_highest_level_reaches_it_and_an_empty_one_has_no_bar() -> None:
    chart = draw_columns([Column("a", "", (Part(10, ""),)), Column("b", "", (Part(0, ""),))], str)

    [bar] = chart.bars
    assert [level.text for level in chart.levels] == ["0", "5", "10"]
    assert bar.y == chart.levels[-1].at


def test_bars_lie_between_the_axes_and_labels_are_few() -> None:
    chart = draw_columns([Column(str(number), "", (Part(number, ""),)) for number in range(31)], str)

    assert all(chart.left <= bar.x and bar.x + bar.width <= chart.right for bar in chart.bars)
    assert 1 < len(chart.labels) <= 7


def test_a_chart_without_numbers_has_an_axis_only() -> None:
    chart = draw_columns([], str)
    assert (chart.bars, chart.labels) == ([], [])
    assert [level.text for level in chart.levels] == ["0", "1"]
