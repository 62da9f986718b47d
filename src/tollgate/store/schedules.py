"""Schedules and their runs: stored, found due, moved on, ended. When a plan is due was computed before it arrives here.

Every change names the state it expects, so that of two processes that do the same one has no effect.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import orjson
import sqlalchemy as sa

from tollgate.payments.order import TestMode
from tollgate.payments.schedule import RUN_TOPIC, Run, RunState, Schedule, ScheduleState
from tollgate.store.database import Database
from tollgate.store.jobs import Job, insert_job_writes
from tollgate.store.payment_rows import UNREADABLE, encode_map
from tollgate.store.schema import ACTIVE_SCHEDULE, channels, jobs, schedule_runs, schedules
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId, Money, RegistrationId, ScheduleId

_log = logging.getLogger("tollgate.store")

_COLUMNS = tuple(column.name for column in schedules.columns)
_MERCHANT_ID_AT, _ID_AT = _COLUMNS.index("merchant_id"), _COLUMNS.index("id")
_SHOWN = tuple(schedules.columns)
_RUN = Run.__struct_fields__
_MOVED = ("state", "tries", "payment_id", "result_code", "completed_at")
_RUN_SHOWN = tuple(schedule_runs.c[name] for name in _RUN)

_is_active = sa.text(f"schedules.{ACTIVE_SCHEDULE}")
_of_key = (
    schedules.c.merchant_id == sa.bindparam("of_merchant_id"),
    schedules.c.id == sa.bindparam("schedule_id"),
    _is_active,
)
_of_registration = (
    schedules.c.merchant_id == sa.bindparam("of_merchant_id"),
    schedules.c.registration_id == sa.bindparam("of_registration_id"),
)
# What ended loses its seal, so that nobody wakes it up by writing another state.
_over = {"state": sa.bindparam("new_state"), "result_code": sa.bindparam("new_result_code"), "mac": sa.null()}

_insert = Statement(sa.insert(schedules).values({name: sa.bindparam(name) for name in _COLUMNS}))
_hold = Statement(sa.update(schedules).where(*_of_key).values(state=schedules.c.state))
_end = Statement(sa.update(schedules).where(*_of_key).values(_over))
_replace = Statement(
    sa.update(schedules)
    .where(
        *_of_key, schedules.c.next_at.is_not_distinct_from(sa.bindparam("seen_next_at", type_=schedules.c.next_at.type))
    )
    .values(_over)
)
_end_all = Statement(sa.update(schedules).where(*_of_registration, _is_active).values(_over))
_halt = Statement(sa.update(schedules).where(*_of_key).values(state=int(ScheduleState.HALTED)))
_advance = Statement(
    sa.update(schedules)
    .where(*_of_key, schedules.c.next_at == sa.bindparam("seen_next_at"))
    .values(next_at=sa.bindparam("new_next_at"), skipped=schedules.c.skipped + sa.bindparam("more_skipped"))
)
_insert_run = Statement(sa.insert(schedule_runs).values({name: sa.bindparam(name) for name in _RUN}))
_move_run = Statement(
    sa.update(schedule_runs)
    .where(
        schedule_runs.c.merchant_id == sa.bindparam("of_merchant_id"),
        schedule_runs.c.schedule_id == sa.bindparam("of_schedule_id"),
        schedule_runs.c.due_at == sa.bindparam("of_due_at"),
        schedule_runs.c.state == int(RunState.DUE),
        schedule_runs.c.tries == sa.bindparam("seen_tries"),
    )
    .values(
        {name: sa.bindparam(f"new_{name}") for name in ("state", "tries", "payment_id", "result_code", "completed_at")}
    )
)
_waits = (
    jobs.c.merchant_id == sa.bindparam("of_merchant_id"),
    jobs.c.topic == sa.literal_column(f"'{RUN_TOPIC}'"),
    jobs.c.due_at > sa.bindparam("new_due_at"),
)
_hasten = Statement(
    sa.update(jobs)
    .where(*_waits, jobs.c.subject_id == sa.bindparam("schedule_id"))
    .values(due_at=sa.bindparam("new_due_at"))
)
_hasten_all = Statement(
    sa.update(jobs)
    .where(*_waits, jobs.c.subject_id.in_(sa.select(schedules.c.id).where(*_of_registration)))
    .values(due_at=sa.bindparam("new_due_at"))
)
_open_runs = sa.select(schedule_runs.c.due_at).where(
    schedule_runs.c.merchant_id == schedules.c.merchant_id,
    schedule_runs.c.schedule_id == schedules.c.id,
    schedule_runs.c.state == int(RunState.DUE),
)
_run_out = (
    sa.select(schedules.c.merchant_id, schedules.c.id)
    .where(_is_active, schedules.c.next_at.is_(None), ~sa.exists(_open_runs))
    .limit(sa.bindparam("limit"))
)
_retire = Statement(
    sa.update(schedules)
    .where(_is_active, sa.tuple_(schedules.c.merchant_id, schedules.c.id).in_(_run_out))
    .values(state=int(ScheduleState.ENDED), mac=sa.null())
    .returning(schedules.c.id)
)

_by_merchant = schedules.c.merchant_id == sa.bindparam("merchant_id")
_find = Statement(sa.select(*_SHOWN).where(_by_merchant, schedules.c.id == sa.bindparam("id")), is_quick=True)
_find_active = Statement(
    sa.select(*_SHOWN).where(_by_merchant, schedules.c.series_id == sa.bindparam("series_id"), _is_active)
)
_by_registration = Statement(
    sa.select(*_SHOWN)
    .where(_by_merchant, schedules.c.registration_id == sa.bindparam("registration_id"))
    .order_by(schedules.c.created_at.desc(), schedules.c.id)
    .limit(sa.bindparam("limit"))
)
_due = Statement(
    sa.select(*_SHOWN)
    .join(channels, channels.c.id == schedules.c.channel_id)
    # A closed channel misses its times as a house without power does: they are still there when it opens again.
    .where(_is_active, schedules.c.next_at <= sa.bindparam("now"), channels.c.is_closed == sa.literal_column("0"))
    .order_by(schedules.c.next_at)
    .limit(sa.bindparam("limit"))
)
_of_schedule = (
    schedule_runs.c.merchant_id == sa.bindparam("merchant_id"),
    schedule_runs.c.schedule_id == sa.bindparam("schedule_id"),
)
_runs = Statement(
    sa.select(*_RUN_SHOWN).where(*_of_schedule).order_by(schedule_runs.c.due_at.desc()).limit(sa.bindparam("limit"))
)
_find_run = Statement(
    sa.select(*_RUN_SHOWN).where(*_of_schedule, schedule_runs.c.due_at == sa.bindparam("due_at")), is_quick=True
)


# ---- writing ----


def insert_schedule_writes(schedule: Schedule) -> list[Write]:
    return [Write(_insert, _flatten(schedule), rows=1)]


def hold_schedule_writes(schedule: Schedule) -> list[Write]:
    """Changes nothing; the unit is undone where the schedule is over meanwhile."""
    return [Write(_hold, {"of_merchant_id": schedule.merchant_id, "schedule_id": schedule.id}, rows=1)]


def end_schedule_writes(
    schedule: Schedule, state: ScheduleState, at: Instant, result_code: str = "", *, is_guarded: bool = True
) -> list[Write]:
    """An active one is over; the unit is undone where it was over before, if guarded.

    What waits for another try is called at once, to find that there will be none.
    """
    of = {"of_merchant_id": schedule.merchant_id, "schedule_id": schedule.id}
    over = {**of, "new_state": int(state), "new_result_code": result_code}
    return [Write(_end, over, rows=1 if is_guarded else None), Write(_hasten, {**of, "new_due_at": at})]


def replace_schedule_writes(seen: Schedule, at: Instant) -> list[Write]:
    """As `end_schedule_writes`, for one that another goes on for: the unit is undone also where it has moved on since.

    Or else both would be due at the time that it had before.
    """
    of = {"of_merchant_id": seen.merchant_id, "schedule_id": seen.id}
    over = {**of, "new_state": int(ScheduleState.REPLACED), "new_result_code": "", "seen_next_at": seen.next_at}
    return [Write(_replace, over, rows=1), Write(_hasten, {**of, "new_due_at": at})]


def end_schedules_writes(
    merchant_id: MerchantId, registration_id: RegistrationId, at: Instant, result_code: str = ""
) -> list[Write]:
    """All active ones of a registration are over, with the code that says why; there may be none."""
    of = {"of_merchant_id": merchant_id, "of_registration_id": registration_id}
    over = {**of, "new_state": int(ScheduleState.ENDED), "new_result_code": result_code}
    return [Write(_end_all, over), Write(_hasten_all, {**of, "new_due_at": at})]


def fall_due_writes(
    schedule: Schedule, next_at: Instant | None, missed: Sequence[Instant], skipped: int, due: Run
) -> list[Write]:
    """Moves a schedule on from the time at which it was read, and orders the payment of its run.

    The unit is undone where another process moved it, or somebody ended it.
    """
    moved = {
        "of_merchant_id": schedule.merchant_id,
        "schedule_id": schedule.id,
        "seen_next_at": schedule.next_at,
        "new_next_at": next_at,
        "more_skipped": skipped,
    }
    writes = [Write(_advance, moved, rows=1)]
    for missed_at in missed:
        writes += _insert_run_writes(
            msgspec.structs.replace(due, due_at=missed_at, state=RunState.MISSED, completed_at=due.due_at)
        )
    job = Job(
        id=due.job_id,
        merchant_id=due.merchant_id,
        topic=RUN_TOPIC,
        subject_id=due.schedule_id,
        due_at=due.due_at,
        body=str(due.due_at),
    )
    return [*writes, *_insert_run_writes(due), *insert_job_writes(job)]


def _insert_run_writes(run: Run) -> list[Write]:
    return [Write(_insert_run, msgspec.structs.asdict(run) | {"state": int(run.state)}, rows=1)]


def move_run_writes(seen: Run, moved: Run) -> list[Write]:
    """What became of a try; the unit is undone where another told of it before."""
    params = {
        "of_merchant_id": seen.merchant_id,
        "of_schedule_id": seen.schedule_id,
        "of_due_at": seen.due_at,
        "seen_tries": seen.tries,
        "new_state": int(moved.state),
        "new_tries": moved.tries,
        "new_payment_id": moved.payment_id,
        "new_result_code": moved.result_code,
        "new_completed_at": moved.completed_at,
    }
    return [Write(_move_run, params, rows=1)]


async def halt_schedule(db: Database, schedule: Schedule) -> bool:
    return await _halt_row(db, schedule.merchant_id, schedule.id)


async def _halt_row(db: Database, merchant_id: MerchantId, schedule_id: ScheduleId) -> bool:
    return await db.write(
        [Write(_halt, {"of_merchant_id": merchant_id, "schedule_id": schedule_id}, rows=1)], label="schedule halted"
    )


async def retire_schedules(db: Database, limit: int) -> int:
    """Ends those that are never due again and whose last payment is decided; how many they were."""
    return len(await db.fetch(_retire, {"limit": limit}))


# ---- reading ----


async def find_schedule(db: Database, merchant_id: MerchantId, schedule_id: str) -> Schedule | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": schedule_id})
    return None if row is None else read_schedule(row)


async def find_active_schedule(db: Database, merchant_id: MerchantId, series_id: ScheduleId) -> Schedule | None:
    """The one of a series that is still followed."""
    row = await db.fetch_one(_find_active, {"merchant_id": merchant_id, "series_id": series_id})
    return None if row is None else read_schedule(row)


async def list_schedules(db: Database, merchant_id: MerchantId, registration_id: str, limit: int) -> list[Schedule]:
    """Of a registration, newest first."""
    params = {"merchant_id": merchant_id, "registration_id": registration_id, "limit": limit}
    return [read_schedule(row) for row in await db.fetch(_by_registration, params)]


async def list_due_schedules(db: Database, now: Instant, limit: int) -> list[Schedule]:
    """Oldest first. One that cannot be read is halted, or else it would stand in the way of all others for ever."""
    found = []
    for row in await db.fetch(_due, {"now": now, "limit": limit}):
        try:
            found.append(read_schedule(row))
        except UNREADABLE:
            _log.exception("a schedule cannot be read and is halted", extra={"schedule": row[_ID_AT]})
            await _halt_row(db, row[_MERCHANT_ID_AT], row[_ID_AT])
    return found


async def list_runs(db: Database, merchant_id: MerchantId, schedule_id: ScheduleId, limit: int) -> list[Run]:
    """Newest first."""
    params = {"merchant_id": merchant_id, "schedule_id": schedule_id, "limit": limit}
    return [read_run(row) for row in await db.fetch(_runs, params)]


async def find_run(db: Database, merchant_id: MerchantId, schedule_id: str, due_at: Instant) -> Run | None:
    row = await db.fetch_one(_find_run, {"merchant_id": merchant_id, "schedule_id": schedule_id, "due_at": due_at})
    return None if row is None else read_run(row)


def _flatten(schedule: Schedule) -> Mapping[str, Any]:
    flat = msgspec.structs.asdict(schedule)
    money: Money = flat.pop("money")
    return flat | {
        "amount": money.hundredths,
        "currency": money.currency,
        "state": int(schedule.state),
        "plan": encode_map(schedule.plan),
        "echo": encode_map(schedule.echo),
    }


def read_schedule(row: tuple[Any, ...]) -> Schedule:
    named = dict(zip(_COLUMNS, row, strict=True))
    amount, currency, test_mode = named.pop("amount"), named.pop("currency"), named["test_mode"]
    return Schedule(
        **named
        | {
            "money": Money(amount, currency),
            "state": ScheduleState(named["state"]),
            "plan": orjson.loads(named["plan"]),
            "echo": orjson.loads(named["echo"]),
            "test_mode": None if test_mode is None else TestMode(test_mode),
        }
    )


def read_run(row: tuple[Any, ...]) -> Run:
    named = dict(zip(_RUN, row, strict=True))
    return Run(**named | {"state": RunState(named["state"])})
