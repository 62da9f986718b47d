"""Counts of charges of all processes add up in the store, once, and older charges count less."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace as replace_limits
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.operations.success_rates import HALF_LIFE, HOURS, SuccessRates, list_buckets
from tollgate.store import routing_counts
from tollgate.values import HOUR, FixedClock
from tollgate.workers.success_rates import share_counts
from unit.app_fixture import MERCHANT, NOW, ORDER, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

A = "account a"
BUCKETS = list_buckets(ORDER)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


def note(rates: SuccessRates, approved: int, declined: int, now: int = NOW) -> None:
    for is_approved in [True] * approved + [False] * declined:
        rates.note(MERCHANT.id, A, BUCKETS, is_approved, now)


def read(rates: SuccessRates, now: int = NOW, buckets: tuple[str, str] = BUCKETS) -> tuple[float, float]:
    rate = rates.estimate(MERCHANT.id, A, buckets, now)
    return rate.tries, rate.approvals


def test_a_bucket_is_the_bin_and_the_currency_or_the_brand() -> None:
    assert BUCKETS == ("420000/EUR", "/EUR")
    assert list_buckets(replace(ORDER, card_summary=None, brand="PAYPAL")) == ("PAYPAL/EUR", "/EUR")


def test_a_bucket_borrows_from_all_cards_of_its_currency() -> None:
    rates = SuccessRates()
    note(rates, 75, 25)

    assert read(rates) == (110, 82.5)
    assert read(rates, buckets=("510000/EUR", "/EUR")) == (10, 7.5)
    assert read(rates, buckets=("420000/USD", "/USD")) == (0, 0)


def test_what_is_counted_after_a_question_is_in_the_next_answer() -> None:
    rates = SuccessRates()
    for approved in range(1, 30):
        note(rates, 1, 1)
        tries = 2 * approved
        assert read(rates) == (tries + min(tries, 10), approved + min(approved, 5))

    assert read(rates, NOW + HOURS * HOUR) == (0, 0)
    note(rates, 1, 0)
    assert read(rates) == (69, 30 + 10 * 30 / 59)


def test_older_charges_count_less_and_then_nothing() -> None:
    rates = SuccessRates()
    note(rates, 1000, 0)

    assert read(rates, NOW + HALF_LIFE * HOUR) == (510, 510)
    assert read(rates, NOW + HOURS * HOUR) == (0, 0)


async def test_two_processes_know_what_both_counted_and_count_nothing_twice(app: App) -> None:
    other = replace(app, success_rates=SuccessRates())
    note(app.success_rates, 100, 0)
    note(other.success_rates, 0, 100)

    for _ in range(3):
        await share_counts(app)
        await share_counts(other)

    assert read(app.success_rates) == read(other.success_rates) == (210, 105)
    assert app.success_rates.list_new() == []


async def test_what_is_counted_while_it_is_written_is_neither_lost_nor_counted_twice(app: App) -> None:
    rates = app.success_rates
    note(rates, 10, 0)
    written = rates.list_new()
    await routing_counts.add_counts(app.database, written)
    note(rates, 5, 0)
    rates.confirm(written)

    assert read(rates) == (25, 25)
    await share_counts(app)
    assert read(rates) == (25, 25)


async def test_a_new_process_knows_the_hours_before_and_goes_on_from_there(app: App) -> None:
    note(app.success_rates, 100, 0, NOW - 2 * HALF_LIFE * HOUR)
    await share_counts(app)
    fresh = replace(app, success_rates=SuccessRates())

    await share_counts(fresh)
    await share_counts(fresh)

    assert read(fresh.success_rates) == (35, 35)


async def test_old_counts_are_purged(app: App) -> None:
    note(app.success_rates, 1, 0)
    await share_counts(app)
    assert isinstance(app.clock, FixedClock)

    assert await routing_counts.purge_counts(app.database, NOW - HOUR, 10) == 0
    assert await routing_counts.purge_counts(app.database, NOW + LIMITS.routing_counts_lifetime, 10) == 2
    assert await routing_counts.list_counts(app.database, 0, 10) == []


def test_memory_is_bounded_however_many_bins_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollgate.operations.success_rates.LIMITS", replace_limits(LIMITS, routing_counts_max=10))
    rates = SuccessRates()
    for age in range(5, -1, -1):
        now = NOW - age * HOUR
        counts = [
            routing_counts.RoutingCount(
                merchant_id=MERCHANT.id, account_id=A, bucket=f"{number}/EUR", hour=now // HOUR, tries=1, approvals=1
            )
            for number in range(4)
        ]
        rates.take_totals(counts, now // HOUR, now)

    known = [hour for hours in rates._totals.values() for hour in hours]
    assert sorted(set(known)) == [NOW // HOUR - 1, NOW // HOUR]
    assert len(known) == 8
