"""Schedules and their runs: stored, found due, moved on, ended. When a plan is due was computed before it arrives here.

Every change names the state it expects, so that of two processes that do the same one has no effect.
"""

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.schedule import RUN_TOPIC, Run, RunState, Schedule, ScheduleEvent, ScheduleState
from tollgate.store.codec import LIMIT, ONE, UNREADABLE, ZERO, Codec, bind
from tollgate.store.database import Database
from tollgate.store.events import Event, append_event_writes
from tollgate.store.jobs import Job, insert_job_writes
from tollgate.store.schema import (
    ACTIVE_SCHEDULE,
    TEXT,
    WHOLE,
    announcements,
    channels,
    jobs,
    outbox,
    schedule_runs,
    schedules,
)
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId, RegistrationId, ScheduleId, make_timed_id

_log = logging.getLogger("tollgate.store")

SCHEDULES = Codec(schedules, Schedule)
RUNS = Codec(schedule_runs, Run, key=["merchant_id", "schedule_id", "due_at"])

_new_due_at = bind("new", jobs.c.due_at)
_is_active = sa.text(f"schedules.{ACTIVE_SCHEDULE}")
_of_merchant = schedules.c.merchant_id == bind("of", schedules.c.merchant_id)
_of_registration = (_of_merchant, schedules.c.registration_id == bind("of", schedules.c.registration_id))

find_schedule = SCHEDULES.find
find_run = RUNS.find
_insert = SCHEDULES.insert()
hold_schedule_writes = SCHEDULES.update(_is_active, state=schedules.c.state)
"""Changes nothing; the unit is undone where the schedule is over meanwhile."""
# A schedule that ended loses its signature, so that nobody wakes it up by writing another state.
_end = SCHEDULES.update(_is_active, new=["state", "result_code"], mac=sa.null())
_replace = SCHEDULES.update(_is_active, seen=["next_at"], new=["state", "result_code"], mac=sa.null())
_end_all = Statement(
    sa.update(schedules)
    .where(*_of_registration, _is_active)
    .values(state=bind("new", schedules.c.state), result_code=bind("new", schedules.c.result_code), mac=sa.null())
)
_halt = SCHEDULES.update(_is_active, state=ScheduleState.HALTED)
_advance = SCHEDULES.update(
    _is_active, seen=["next_at"], new=["next_at"], skipped=schedules.c.skipped + sa.bindparam("more_skipped")
)
_insert_run = RUNS.insert()
move_run_writes = RUNS.update(
    schedule_runs.c.state == RunState.DUE,
    seen=["tries"],
    new=["state", "tries", "payment_id", "result_code", "completed_at"],
)
"""Writes the result of a try; the unit is undone where another process wrote it before."""
_waits = (
    jobs.c.merchant_id == bind("of", jobs.c.merchant_id),
    jobs.c.topic == sa.literal_column(f"'{RUN_TOPIC}'"),
    jobs.c.due_at > _new_due_at,
)
_hasten = Statement(
    sa.update(jobs).where(*_waits, jobs.c.subject_id == bind("of", schedules.c.id)).values(due_at=_new_due_at)
)
_hasten_all = Statement(
    sa.update(jobs)
    .where(*_waits, jobs.c.subject_id.in_(sa.select(schedules.c.id).where(*_of_registration)))
    .values(due_at=_new_due_at)
)
_open_runs = sa.select(schedule_runs.c.due_at).where(
    schedule_runs.c.merchant_id == schedules.c.merchant_id,
    schedule_runs.c.schedule_id == schedules.c.id,
    schedule_runs.c.state == RunState.DUE,
)
_run_out = Statement(
    sa.select(schedules.c.merchant_id, schedules.c.id)
    .where(_is_active, schedules.c.next_at.is_(None), ~sa.exists(_open_runs))
    .limit(LIMIT)
)
_find_active = Statement(
    SCHEDULES.select(_of_merchant, schedules.c.series_id == bind("of", schedules.c.series_id), _is_active)
)
_by_registration = Statement(
    # Spelled so that no planner walks the index by time instead: a registration has few schedules.
    SCHEDULES.select(*_of_registration).order_by((schedules.c.created_at + ZERO).desc(), schedules.c.id).limit(LIMIT)
)
_due = Statement(
    # A closed channel misses its times as a house without power does: they are still there when it opens again.
    SCHEDULES.select(_is_active, schedules.c.next_at <= sa.bindparam("now"), channels.c.is_closed == ZERO)
    .join(channels, channels.c.id == schedules.c.channel_id)
    .order_by(schedules.c.next_at)
    .limit(LIMIT)
)
_runs = Statement(RUNS.select(*RUNS.is_it[:2]).order_by(schedule_runs.c.due_at.desc()).limit(LIMIT))


# ---- the end, announced ----

_ended: dict[str, sa.ColumnElement[Any]] = {
    "merchant_id": schedules.c.merchant_id,
    # The suffix tells it from the event of a start in the same moment.
    "id": sa.cast(sa.bindparam("ended_prefix"), TEXT) + schedules.c.id + sa.literal_column("'.ended'", TEXT),
    "subject_id": schedules.c.id,
    "created_at": sa.cast(sa.bindparam("ended_at"), WHOLE),
}
_event = {
    **_ended,
    "topic": sa.literal_column(f"'{ScheduleEvent.ENDED}'"),
    "result_code": sa.literal_column("''"),
    "sequence": sa.literal_column("2"),
}
_announcement = {
    **_ended,
    "channel_id": schedules.c.channel_id,
    "payment_type": sa.literal_column("''"),
    "is_pending": ONE,
}


def _announce_end(*where: Any) -> list[Statement]:
    """Makes the statements that announce the end of active schedules; they precede the statement that ends them.

    The lock makes a second process wait, and then find the schedules over. SQLite leaves it out: there the single
    writer is the lock.
    """
    return [
        Statement(
            sa.insert(table).from_select(
                [*values], sa.select(*values.values()).where(*where, _is_active).with_for_update()
            )
        )
        for table, values in ((outbox, _event), (announcements, _announcement))
    ]


_announce_one, _announce_all = _announce_end(*SCHEDULES.is_it), _announce_end(*_of_registration)


def _announce_writes(statements: list[Statement], of: dict[str, Any], at: Instant) -> list[Write]:
    ended = {"ended_prefix": make_timed_id(at, ""), "ended_at": at}
    return [Write(statement, of | ended) for statement in statements]


# ---- writing ----


def insert_schedule_writes(schedule: Schedule) -> list[Write]:
    """Inserts a schedule and announces it, as new or in the place of another of its series."""
    event = Event(
        id=make_timed_id(schedule.created_at, schedule.id),
        merchant_id=schedule.merchant_id,
        subject_id=schedule.id,
        topic=ScheduleEvent.CREATED if schedule.series_id == schedule.id else ScheduleEvent.UPDATED,
        created_at=schedule.created_at,
    )
    return [*_insert(schedule), *append_event_writes(event, schedule.channel_id)]


def end_schedule_writes(
    schedule: Schedule, at: Instant, result_code: str = "", *, is_guarded: bool = True
) -> list[Write]:
    """Ends an active schedule; the unit is undone where it was over before, if guarded.

    What waits for another try is called at once, to find that there will be none.
    """
    of, rows = SCHEDULES.of(schedule), 1 if is_guarded else None
    return [
        *_announce_writes(_announce_one, of, at),
        *_end(schedule, rows=rows, new_state=ScheduleState.ENDED, new_result_code=result_code),
        Write(_hasten, of | {"new_due_at": at}),
    ]


def replace_schedule_writes(seen: Schedule, at: Instant) -> list[Write]:
    """Ends a schedule that another goes on for; the unit is undone also where it has moved on since.

    Or else both would be due at the time that it had before.
    """
    ending = _replace(seen, new_state=ScheduleState.REPLACED, new_result_code="")
    return [*ending, Write(_hasten, SCHEDULES.of(seen) | {"new_due_at": at})]


def end_schedules_writes(
    merchant_id: MerchantId, registration_id: RegistrationId, at: Instant, result_code: str = ""
) -> list[Write]:
    """Ends all active schedules of a registration, with the code that says why; there may be none."""
    of = {"of_merchant_id": merchant_id, "of_registration_id": registration_id}
    over = {**of, "new_state": ScheduleState.ENDED, "new_result_code": result_code}
    announcing = _announce_writes(_announce_all, of, at)
    return [*announcing, Write(_end_all, over), Write(_hasten_all, {**of, "new_due_at": at})]


def fall_due_writes(
    schedule: Schedule, next_at: Instant | None, missed: Sequence[Instant], skipped: int, due: Run
) -> list[Write]:
    """Moves a schedule on from the time at which it was read, and orders the payment of its run.

    The unit is undone where another process moved it, or somebody ended it.
    """
    runs = [
        *[
            msgspec.structs.replace(due, due_at=missed_at, state=RunState.MISSED, completed_at=due.due_at)
            for missed_at in missed
        ],
        due,
    ]
    job = Job(
        id=due.job_id,
        merchant_id=due.merchant_id,
        topic=RUN_TOPIC,
        subject_id=due.schedule_id,
        due_at=due.due_at,
        body=str(due.due_at),
    )
    advancing = _advance(schedule, new_next_at=next_at, more_skipped=skipped)
    return [*advancing, *[write for run in runs for write in _insert_run(run)], *insert_job_writes(job)]


async def halt_schedule(db: Database, schedule: Schedule) -> bool:
    return await _halt_row(db, schedule.merchant_id, schedule.id)


async def _halt_row(db: Database, *key: str) -> bool:
    return await db.write(_halt.by_key(*key), label="schedule halted")


async def retire_schedules(db: Database, now: Instant, limit: int) -> int:
    """Ends those that are never due again and whose last payment is decided, and returns how many they were."""
    done = 0
    for key in await db.fetch(_run_out, {"limit": limit}):
        ending = _end.by_key(*key, new_state=ScheduleState.ENDED, new_result_code="")
        announcing = _announce_writes(_announce_one, SCHEDULES.make_key(*key), now)
        done += await db.write([*announcing, *ending], label="schedule ended")
    return done


# ---- reading ----


async def find_active_schedule(db: Database, merchant_id: MerchantId, series_id: ScheduleId) -> Schedule | None:
    """Finds the one of a series that is still followed."""
    return await SCHEDULES.fetch_one(db, _find_active, {"of_merchant_id": merchant_id, "of_series_id": series_id})


async def list_schedules(db: Database, merchant_id: MerchantId, registration_id: str, limit: int) -> list[Schedule]:
    """Lists the schedules of a registration, newest first."""
    params = {"of_merchant_id": merchant_id, "of_registration_id": registration_id, "limit": limit}
    return await SCHEDULES.fetch(db, _by_registration, params)


async def list_due_schedules(db: Database, now: Instant, limit: int) -> list[Schedule]:
    """Lists the oldest first. One that cannot be read is halted, or else it would stand in the way of all others."""
    found = []
    for row in await db.fetch(_due, {"now": now, "limit": limit}):
        try:
            found.append(SCHEDULES.decode(row))
        except UNREADABLE:
            merchant_id, schedule_id = (row[SCHEDULES.at[name]] for name in SCHEDULES.key)
            _log.exception("a schedule cannot be read and is halted", extra={"schedule": schedule_id})
            await _halt_row(db, merchant_id, schedule_id)
    return found


async def list_runs(db: Database, merchant_id: MerchantId, schedule_id: ScheduleId, limit: int) -> list[Run]:
    """Lists the newest first."""
    params = {"of_merchant_id": merchant_id, "of_schedule_id": schedule_id, "limit": limit}
    return await RUNS.fetch(db, _runs, params)
