"""`make bench` judges its figures by bounds. Nothing is measured here."""

from __future__ import annotations

import pytest
from tools.bench.bounds import Bound, list_bounds
from tools.bench.measuring import Figures, SideResult
from tools.bench.operation_costs import OperationsResult
from tools.bench.plan import Part
from tools.bench.stocked import Costs

from unit.bench.figures import (
    LIMIT,
    find_operation,
    make_figures,
    make_memory,
    make_operations,
    make_server,
    make_side,
    make_steady,
)


def find_bound(figures: Figures, text: str) -> Bound:
    [found] = [bound for bound in list_bounds(figures) if text in bound.text]
    return found


def make_costs(measured: OperationsResult) -> Figures:
    side = make_side("SQLite")
    side.operations = measured
    return make_figures(side, parts=[Part.OPERATIONS])


@pytest.mark.parametrize(
    ("name", "text", "share"),
    [
        ("SQLite", "at 64 connections, one process", 0.80),
        ("SQLite", "at 1 connection, one process", 0.35),
        ("PostgreSQL", "at 64 connections, one process", 0.75),
        ("PostgreSQL", "at 1 connection, one process", 0.25),
        ("PostgreSQL", "at 64 connections, one process per core", 1.0),
    ],
)
def test_each_share_of_the_limit_has_its_floor(name: str, text: str, share: float) -> None:
    def find_exact(rate: float) -> Bound:
        servers = [make_server(processes, {1: [rate] * 3, 64: [rate] * 3}) for processes in (1, 2)]
        figures = make_figures(make_side(name, *servers))
        [found] = [bound for bound in list_bounds(figures) if bound.text.endswith(text)]
        return found

    assert find_exact(share * LIMIT).is_kept
    assert not find_exact(share * LIMIT - 1).is_kept
    assert find_exact(LIMIT).words == f"at least {share:.2f}"


@pytest.mark.parametrize("rates", [[700.0, 700.0, 900.0], [790.0, 795.0, 795.0]], ids=["median", "best round"])
def test_the_worse_of_the_median_and_the_best_round_counts(rates: list[float]) -> None:
    figures = make_figures(make_side("SQLite", make_server(1, {64: rates})))

    assert not find_bound(figures, "at 64 connections").is_kept


def test_one_process_per_core_is_judged_by_the_server_that_has_them() -> None:
    servers = make_server(1, {64: [800.0] * 3}), make_server(2, {64: [1_100.0] * 3})
    figures = make_figures(make_side("PostgreSQL", *servers))

    assert find_bound(figures, "one process per core").measured == 1.1


def test_later_starts_of_one_process_take_a_second_at_most_and_the_first_may_take_longer() -> None:
    def find_start(*start_s: float) -> Bound:
        servers = make_server(1, {}, start_s), make_server(2, {}, [9.0, 9.0])
        return find_bound(make_figures(make_side("PostgreSQL", *servers)), "a later start")

    assert find_start(4.0, 0.9, 1.0, 1.4).is_kept
    assert not find_start(0.5, 0.9, 1.1, 1.4).is_kept


@pytest.mark.parametrize("name", ["capture", "reversal", "refund"])
def test_a_follow_up_costs_at_most_as_much_as_a_payment_and_three_fifths(name: str) -> None:
    def find_ratio(cpu_us: float) -> Bound:
        costs = {find_operation(name): make_steady(cpu_us, cpu_us)}
        return find_bound(make_costs(make_operations(costs)), f"{name} at 16 connections, its CPU to a payment's")

    assert find_ratio(160.0).is_kept
    assert not find_ratio(161.0).is_kept


def test_growth_of_processor_time_is_bounded_for_all_but_the_page_of_a_report() -> None:
    dear = {find_operation(name): make_steady(100.0, 121.0) for name in ("payment", "read of a payment")}
    page = find_operation("page of 100 of a report")

    bounds = list_bounds(make_costs(make_operations({**dear, page: make_steady(100.0, 900.0)})))

    assert [bound.text.partition(",")[0] for bound in bounds if not bound.is_kept] == [
        "SQLite: payment at 16 connections",
        "SQLite: read of a payment at 16 connections",
    ]


def test_a_growth_that_only_the_best_pass_shows_is_a_growth() -> None:
    costs = {find_operation("payment"): Costs([100.0, 200.0, 200.0], [125.0, 200.0, 200.0])}

    assert not find_bound(make_costs(make_operations(costs)), ": payment at 16 connections, growth of its CPU").is_kept


def test_the_time_of_follow_ups_may_not_grow_either() -> None:
    measured = make_operations({})
    measured.rows[find_operation("refund of any payment stored", 1)].ms = make_steady(1.0, 1.3)
    measured.rows[find_operation("payment")].ms = make_steady(1.0, 1.3)

    broken = [bound.text for bound in list_bounds(make_costs(measured)) if not bound.is_kept]

    assert broken == ["SQLite: refund of any payment stored at 1 connection, growth of its time with 1,000,000 stored"]


def test_memory_may_not_grow_by_more_than_a_tenth_once_the_caches_are_full() -> None:
    def find_memory(at_end_mb: float) -> Bound:
        side: SideResult = make_side("SQLite")
        side.memory = make_memory(200.0, at_end_mb)
        return find_bound(make_figures(side, parts=[Part.MEMORY]), "memory after 1,001 payments")

    assert find_memory(220.0).is_kept
    assert not find_memory(221.0).is_kept


def test_what_was_not_measured_has_no_bound() -> None:
    assert list_bounds(make_figures(make_side("SQLite"), parts=[Part.PAGES])) == []
