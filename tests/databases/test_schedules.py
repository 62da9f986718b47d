"""Schedules on both databases: several processes, and every due time is ordered once and charged once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from databases.schedule_processes import BEGIN, CountingWire, keep_time, open_app, set_time
from databases.test_plans import explain_sqlite
from postgres import PostgresCluster
from tollgate.operations.app import App
from tollgate.payments.cron import CronPlan, parse_plan
from tollgate.payments.schedule import Run, RunState, Schedule, ScheduleState, count_due, make_run_payment_id
from tollgate.store import schedules
from tollgate.store.database import Database
from tollgate.store.merchants import update_channel
from tollgate.store.opening import open_database
from tollgate.store.statements import Dialect, Statement
from tollgate.values import DAY, HOUR, Instant, MerchantId
from tollgate.vault.keyring import make_keyring, save_keyring
from unit.app_fixture import CHANNEL, MERCHANT
from unit.flows.scheduling import FIRST, MONTH_END, REGISTRATION, at, plan_payments, register_card

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parent.parent
NEXT: Instant = at("2026-12-31 10:00")
PLANS: list[tuple[dict[str, str], CronPlan]] = [
    ({"dayOfMonth": "L"}, CronPlan(day_of_month="L")),
    ({"dayOfMonth": "15W", "hour": "9"}, CronPlan(day_of_month="15W", hour="9")),
    ({"dayOfWeek": "MON"}, CronPlan(day_of_week="MON")),
    ({"dayOfMonth": "29", "month": "2"}, CronPlan(day_of_month="29", month="2")),
]


@dataclass
class Pair:
    """Two processes on one store."""

    first: App
    second: App
    wire: CountingWire


@pytest.fixture
async def pair(url: str, tmp_path: Path) -> AsyncIterator[Pair]:
    keyring, wire = make_keyring(), CountingWire(tmp_path / "charges")
    databases = [await open_database(url) for _ in range(2)]
    first, second = [await open_app(db, wire, keyring, is_first=not n) for n, db in enumerate(databases)]
    await register_card(first)
    yield Pair(first, second, wire)
    for db in databases:
        await db.close()


def list_times(plan: CronPlan, until: Instant) -> list[Instant]:
    cron, times = parse_plan(plan), [BEGIN]
    while (found := cron.next_after(times[-1])) is not None and found <= until:
        times.append(found)
    return times[1:]


async def list_all_runs(db: Database, schedule: Schedule) -> list[Run]:
    return (await schedules.list_runs(db, MERCHANT.id, schedule.id, 10_000))[::-1]


async def get(db: Database, schedule: Schedule) -> Schedule:
    found = await schedules.find_schedule(db, MERCHANT.id, schedule.id)
    assert found is not None
    return found


def make_run(schedule: Schedule, due_at: Instant = FIRST) -> Run:
    return Run(merchant_id=schedule.merchant_id, schedule_id=schedule.id, due_at=due_at, state=RunState.DUE)


# ---- several processes ----


async def test_two_processes_that_race_over_years_charge_every_due_time_once(pair: Pair) -> None:
    made = [await plan_payments(pair.first, plan) for plan, _ in PLANS for _ in range(2)]
    until = at("2028-04-01")

    # Steps of different length, so that now one is ahead, now the other.
    await asyncio.gather(keep_time(pair.first, until, 3 * DAY), keep_time(pair.second, until, 5 * DAY))

    expected = []
    for number, schedule in enumerate(made):
        times = list_times(PLANS[number // 2][1], until)
        runs = await list_all_runs(pair.first.database, schedule)
        assert [run.due_at for run in runs] == times
        assert {run.state for run in runs} == {RunState.MADE}
        expected += [make_run_payment_id(schedule.id, due_at, 1) for due_at in times]
    assert sorted(pair.wire.list_charges()) == sorted(expected)


async def test_after_months_two_processes_that_wake_at_once_make_up_for_the_last_time_only(pair: Pair) -> None:
    made = [await plan_payments(pair.first, MONTH_END) for _ in range(20)]

    await asyncio.gather(*[keep_time(app, at("2027-06-15"), 300 * DAY) for app in (pair.first, pair.second)])

    assert len(pair.wire.list_charges()) == len(set(pair.wire.list_charges())) == 20
    for schedule in made:
        states = [run.state for run in await list_all_runs(pair.first.database, schedule)]
        assert states == [RunState.MISSED] * 6 + [RunState.MADE]


async def test_real_processes_on_one_server_charge_every_due_time_once(
    cluster: PostgresCluster, postgres_template: str, tmp_path: Path
) -> None:
    url = cluster.create_database(postgres_template)
    database, wire = await open_database(url), CountingWire(tmp_path / "charges")
    keyring = make_keyring()
    save_keyring(keyring, tmp_path / "keys.json")
    app = await open_app(database, wire, keyring, is_first=True)
    await register_card(app)
    made = [await plan_payments(app, plan) for plan, _ in PLANS for _ in range(3)]
    until = at("2027-12-01")
    script = [sys.executable, str(TESTS / "databases" / "schedule_process.py"), url, str(tmp_path / "keys.json")]
    script += [str(tmp_path / "charges"), str(until)]

    running = [
        await asyncio.create_subprocess_exec(*script, str(step * DAY), env={"PYTHONPATH": str(TESTS)})
        for step in (2, 3)
    ]
    assert [await process.wait() for process in running] == [0, 0]

    expected = []
    for number, schedule in enumerate(made):
        times = list_times(PLANS[number // 3][1], until)
        assert [run.due_at for run in await list_all_runs(database, schedule)] == times
        expected += [make_run_payment_id(schedule.id, due_at, 1) for due_at in times]
    await database.close()
    assert sorted(wire.list_charges()) == sorted(expected)


async def test_of_two_who_order_a_run_one_does(pair: Pair) -> None:
    schedule = await plan_payments(pair.first, MONTH_END)
    unit = schedules.fall_due_writes(schedule, NEXT, [], 0, make_run(schedule))

    written = await asyncio.gather(*[app.database.write(unit, label="test") for app in (pair.first, pair.second)])

    assert sorted(written) == [False, True]
    assert len(await list_all_runs(pair.first.database, schedule)) == 1


async def test_a_schedule_that_ends_while_it_falls_due_does_one_of_both(pair: Pair) -> None:
    for _ in range(10):
        schedule = await plan_payments(pair.first, MONTH_END)
        ending = schedules.end_schedule_writes(schedule, FIRST)
        falling = schedules.fall_due_writes(schedule, NEXT, [], 0, make_run(schedule))

        ended, fell = await asyncio.gather(
            pair.first.database.write(ending, label="test"), pair.second.database.write(falling, label="test")
        )

        assert ended
        assert len(await list_all_runs(pair.first.database, schedule)) == int(fell)


async def test_a_try_is_announced_once(pair: Pair) -> None:
    schedule = await plan_payments(pair.first, MONTH_END)
    run = make_run(schedule)
    assert await pair.first.database.write(schedules.fall_due_writes(schedule, NEXT, [], 0, run), label="test")
    tried = msgspec.structs.replace(run, tries=1, result_code="800.100.203", completed_at=FIRST)
    made = msgspec.structs.replace(tried, tries=2, state=RunState.MADE)

    received = [
        await pair.first.database.write(schedules.move_run_writes(run, tried), label="test"),
        await pair.second.database.write(schedules.move_run_writes(run, tried), label="test"),
        await pair.second.database.write(schedules.move_run_writes(tried, made), label="test"),
        await pair.first.database.write(schedules.move_run_writes(made, tried), label="test"),
    ]

    assert received == [True, False, True, False]
    assert await schedules.find_run(pair.first.database, MERCHANT.id, schedule.id, FIRST) == made


# ---- one process ----


async def test_a_schedule_is_read_as_it_was_written(pair: Pair) -> None:
    plan = MONTH_END | {"name": "Jané's", "endDate": "2027-02-01"}
    schedule = await plan_payments(pair.first, plan, **{"customParameters[branch]": '"7"\n'})

    assert (schedule.plan, schedule.ends_at) == (plan, at("2027-02-02"))
    assert schedule.echo == {"customParameters[branch]": '"7"\n'}
    assert await schedules.list_schedules(pair.second.database, MERCHANT.id, REGISTRATION, 10) == [schedule]
    assert await schedules.find_schedule(pair.second.database, MerchantId("other"), schedule.id) is None


async def test_missed_times_are_written_with_the_one_that_is_due(pair: Pair) -> None:
    schedule = await plan_payments(pair.first, {"minute": "*"})
    now = BEGIN + 2 * HOUR
    due = count_due(parse_plan(CronPlan(minute="*")), schedule.next_at or 0, None, now)
    set_time(pair.first, now)

    await keep_time(pair.first, now + 1, 1)

    moved = await get(pair.first.database, schedule)
    runs = await list_all_runs(pair.first.database, schedule)
    assert (moved.next_at, moved.skipped) == (due.next_at, 19)
    assert [run.due_at for run in runs] == [*reversed(due.missed), due.due_at]
    assert [run.state for run in runs] == [RunState.MISSED] * 100 + [RunState.MADE]


async def test_a_closed_channel_is_not_due(pair: Pair) -> None:
    schedule = await plan_payments(pair.first, MONTH_END)
    database = pair.first.database

    await update_channel(database, msgspec.structs.replace(CHANNEL, is_closed=True))
    closed = await schedules.list_due_schedules(database, FIRST, 10)
    await update_channel(database, CHANNEL)

    assert closed == []
    assert await schedules.list_due_schedules(database, FIRST - 1, 10) == []
    assert await schedules.list_due_schedules(database, FIRST, 10) == [schedule]


async def test_what_is_over_is_not_due_and_does_not_end_twice(pair: Pair) -> None:
    database = pair.first.database
    replaced, ended, halted = [await plan_payments(pair.first, MONTH_END) for _ in range(3)]
    assert await database.write(schedules.replace_schedule_writes(replaced, BEGIN), label="test")
    assert await database.write(
        schedules.end_schedules_writes(MERCHANT.id, REGISTRATION, BEGIN, "100.150.202"), label="test"
    )
    other = await plan_payments(pair.first, MONTH_END)
    assert await schedules.halt_schedule(database, other)

    assert await schedules.list_due_schedules(database, FIRST, 10) == []
    assert not await database.write(schedules.end_schedule_writes(replaced, BEGIN), label="test")
    assert not await schedules.halt_schedule(database, ended)
    assert await database.write(schedules.end_schedule_writes(ended, BEGIN, "x", is_guarded=False), label="test")
    assert (await get(database, replaced)).result_code == ""
    assert {(await get(database, each)).result_code for each in (ended, halted)} == {"100.150.202"}
    assert (await get(database, other)).mac == other.mac


async def test_only_what_is_never_due_again_and_decided_retires(pair: Pair) -> None:
    database = pair.first.database
    going, waiting, done = [await plan_payments(pair.first, MONTH_END) for _ in range(3)]
    assert await database.write(schedules.fall_due_writes(going, NEXT, [], 0, make_run(going)), label="test")
    assert await database.write(schedules.fall_due_writes(waiting, None, [], 0, make_run(waiting)), label="test")
    assert await database.write(schedules.fall_due_writes(done, None, [], 0, make_run(done)), label="test")
    made = msgspec.structs.replace(make_run(done), state=RunState.MADE, tries=1)
    assert await database.write(schedules.move_run_writes(make_run(done), made), label="test")

    retired = await asyncio.gather(
        *[schedules.retire_schedules(app.database, FIRST, 10) for app in (pair.first, pair.second)]
    )

    assert sorted(retired) == [0, 1]
    states = [(await get(database, each)).state for each in (going, waiting, done)]
    assert states == [ScheduleState.ACTIVE, ScheduleState.ACTIVE, ScheduleState.ENDED]


# ---- how rows are found ----

BY_KEY = "schedules USING INDEX sqlite_autoindex_schedules_1 (merchant_id=? AND id=?)"
STATEMENTS = {
    "find": (schedules.SCHEDULES.by_key, BY_KEY),
    "end": (schedules._end.statement, BY_KEY),
    "announce an end": (schedules._announce_one[0], BY_KEY),
    "announce the ends of a registration": (
        schedules._announce_all[0],
        "schedules USING INDEX schedules_by_registration (merchant_id=? AND registration_id=?)",
    ),
    "advance": (schedules._advance.statement, BY_KEY),
    "due": (schedules._due, "schedules USING INDEX schedules_due (next_at<?)"),
    "active": (schedules._find_active, "schedules USING INDEX schedules_by_series (merchant_id=? AND series_id=?)"),
    "of a registration": (
        schedules._by_registration,
        "schedules USING INDEX schedules_by_registration (merchant_id=? AND registration_id=?)",
    ),
    "runs": (
        schedules._runs,
        "schedule_runs USING INDEX sqlite_autoindex_schedule_runs_1 (merchant_id=? AND schedule_id=?)",
    ),
}


@pytest.mark.parametrize(("statement", "way"), STATEMENTS.values(), ids=STATEMENTS)
async def test_sqlite_finds_schedules_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    compiled = statement.compiled_for(Dialect.SQLITE)

    plan = await explain_sqlite(tmp_path, compiled.text, len(compiled.names))

    assert plan[0] == f"SEARCH {way}"
    assert not [line for line in plan if line.startswith("SCAN")]
