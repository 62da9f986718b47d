"""Counting calls: windows, callers, and a table that cannot be made to grow."""

from __future__ import annotations

import pytest

from tollgate.catalog.throttles import THROTTLES, Throttle
from tollgate.values import SECOND, FixedClock, TooMany
from tollgate.vault.keyring import make_keyring
from tollgate.web import throttling as module
from tollgate.web.throttling import Throttles, configure_throttles

pytestmark = pytest.mark.anyio

BY_ENTITY = Throttle("pay", "entity", 2, 60, is_on=True)
BY_ID = Throttle("read", "id", 1, 60, is_on=True)
OFF = Throttle("free", "entity", 1, 60)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(1_000 * SECOND)


@pytest.fixture
def throttles(clock: FixedClock) -> Throttles:
    return Throttles([BY_ENTITY, BY_ID, OFF], clock, make_keyring(), None)


async def test_a_window_opens_with_the_first_call_and_closes_after_its_time(
    throttles: Throttles, clock: FixedClock
) -> None:
    await throttles.check("pay", "8a01", None)
    clock.at += 59 * SECOND
    await throttles.check("pay", "8a01", None)
    with pytest.raises(TooMany) as refused:
        await throttles.check("pay", "8a01", None)
    assert refused.value.retry_after_s == 1

    clock.at += SECOND

    await throttles.check("pay", "8a01", None)


async def test_each_caller_has_its_own_count(throttles: Throttles) -> None:
    for caller in ("8a01", "8a02", "8a03"):
        await throttles.check("pay", caller, None)
        await throttles.check("pay", caller, "8a99")


async def test_an_id_is_counted_for_each_caller(throttles: Throttles) -> None:
    await throttles.check("read", "8a01", "8a99")
    await throttles.check("read", "8a02", "8a99")
    await throttles.check("read", "8a01", "8a98")

    with pytest.raises(TooMany) as refused:
        await throttles.check("read", "8a01", "8a99")

    assert refused.value.subject_id == "8a99"


async def test_rows_that_are_off_and_unknown_operations_are_free(throttles: Throttles) -> None:
    for _ in range(10):
        await throttles.check("free", "8a01", None)
        await throttles.check("healthz", "", None)


async def test_a_flood_of_callers_does_not_grow_the_table(
    throttles: Throttles, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_COUNTERS_MAX", 10)
    for number in range(100):
        await throttles.check("pay", str(number), None)
    assert len(throttles._counters) <= 10

    clock.at += 61 * SECOND
    await throttles.check("pay", "fresh", None)
    assert len(throttles._counters) <= 10


def test_configuration_switches_rows_on_and_leaves_the_rest() -> None:
    rows = {row.operation: row for row in configure_throttles(" create_payment=7/30 , query=1/1,")}

    assert (rows["create_payment"].count, rows["create_payment"].window_s, rows["create_payment"].is_on) == (
        7,
        30,
        True,
    )
    assert rows["query"].is_on
    assert rows["query_list"] == THROTTLES["query_list"]
    assert configure_throttles("") == list(THROTTLES.values())


def test_every_row_is_on_when_live_and_leaves_room_for_a_busy_shop() -> None:
    rows = configure_throttles("query=7/30", is_live=True)

    assert all(row.is_on for row in rows)
    by_entity = {row.operation: row.count / row.window_s for row in rows if row.counted_by == "entity"}
    assert by_entity["create_payment"] >= 100
    assert min(by_entity.values()) >= 1
    (query,) = [row for row in rows if row.operation == "query"]
    assert (query.count, query.window_s) == (7, 30)


async def test_a_full_table_is_not_searched_for_every_new_name(
    throttles: Throttles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_COUNTERS_MAX", 10)
    searched: list[int] = []
    forget = throttles._forget_closed

    def note(now: int) -> None:
        searched.append(now)
        forget(now)

    monkeypatch.setattr(throttles, "_forget_closed", note)

    for number in range(100):
        await throttles.check("pay", str(number), None)

    assert len(searched) <= 100 // 5


@pytest.mark.parametrize(
    "text", ["create_payment", "create_payment=5", "create_payment=0/5", "x=1/1", "query=-1/1", "query=a/b"]
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="throttle"):
        configure_throttles(text)
