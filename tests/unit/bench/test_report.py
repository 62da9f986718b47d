"""The tables of docs/benchmarks.md, made of figures that nobody measured."""

from __future__ import annotations

from tools.bench.operation_costs import is_compared
from tools.bench.operations import OPERATIONS, PAYMENT, is_done
from tools.bench.plan import Part
from tools.bench.report import render
from tools.bench.stocked import Costs

from unit.bench.figures import find_operation, make_figures, make_memory, make_operations, make_server, make_side


def list_rows(text: str, title: str) -> list[list[str]]:
    """Lists the cells of each row of the table under a title, without its head."""
    lines = text.partition(f"## {title}\n")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]


def test_every_operation_has_a_row_on_each_database() -> None:
    sides = [make_side(name) for name in ("SQLite", "PostgreSQL")]
    for side in sides:
        side.operations = make_operations({})

    rows = list_rows(
        render(make_figures(*sides, parts=[Part.OPERATIONS])), "What each operation costs with payments stored"
    )

    assert [row[:3] for row in rows] == [
        [side.name, operation.name, str(operation.connections)] for side in sides for operation in OPERATIONS
    ]


def test_a_row_shows_the_cost_beside_few_and_many_its_growth_and_its_ratio_to_a_payment() -> None:
    side = make_side("SQLite")
    costs = {find_operation("refund"): Costs([200.0, 220.0, 900.0], [210.0, 231.0, 945.0])}
    costs[PAYMENT] = Costs([100.0, 110.0, 450.0], [100.0, 110.0, 450.0])
    side.operations = make_operations(costs)

    rows = list_rows(
        render(make_figures(side, parts=[Part.OPERATIONS])), "What each operation costs with payments stored"
    )

    [row] = [row for row in rows if row[1:3] == ["refund", "16"]]
    assert row[3:9] == ["220", "231", "1.05", "1.05 to 1.05", "2.05", "2.05 to 2.05"]


def test_only_operations_at_as_many_connections_are_compared_with_a_payment() -> None:
    assert not is_compared(PAYMENT)
    assert not is_compared(find_operation("refund", 1))
    assert is_compared(find_operation("refund"))


def test_no_two_operations_have_the_same_row() -> None:
    rows = [(operation.name, operation.connections) for operation in OPERATIONS]
    assert sorted(set(rows)) == sorted(rows)


def test_an_answer_that_waits_for_its_shopper_or_declines_is_not_done() -> None:
    def answer(code: str) -> bool:
        return is_done({"result": {"code": code}})

    assert answer("000.100.110")
    assert not answer("000.200.000")
    assert not answer("800.100.152")


def test_the_memory_is_shown_beside_what_was_planned_and_what_was_counted() -> None:
    side = make_side("SQLite")
    side.memory = make_memory(200.0, 210.0)

    [row] = list_rows(render(make_figures(side, parts=[Part.MEMORY])), "Memory while payments are made")

    assert row == ["SQLite", "1,000 of 1,000", "1,001", "191", "200", "200", "210", "1.05"]


def test_a_broken_bound_stands_out_at_the_end() -> None:
    text = render(make_figures(make_side("SQLite", make_server(1, {1: [400.0] * 3, 64: [700.0] * 3}))))

    assert list_rows(text, "Bounds")[0] == [
        *("SQLite: share of the limit at 64 connections, one process", "at least 0.80", "0.70", "**broken**")
    ]
