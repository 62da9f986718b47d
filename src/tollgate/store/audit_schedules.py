"""Walking schedules and their runs. Only reads.

A row is given as it is found, even where it is no schedule any more; what is wrong with it is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from tollgate.payments.schedule import Run, Schedule
from tollgate.store.audit import PAGE, fetch_by_ids, look_up, make_row, walk_pages, walk_table
from tollgate.store.codec import UNREADABLE
from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.schedules import RUNS, SCHEDULES
from tollgate.store.schema import schedule_runs, schedules
from tollgate.values import Instant, MerchantId


class AuditedSchedule(msgspec.Struct, frozen=True):
    """A row of schedules. Without the schedule: it is there and cannot be read as one."""

    merchant_id: MerchantId
    id: str
    schedule: Schedule | None


class AuditedRun(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    schedule_id: str
    due_at: Instant
    run: Run | None


_SCHEDULE = SCHEDULES.names
_RUN = RUNS.names
_BY_ID = ("merchant_id", "id")
_BY_TIME = ("merchant_id", "schedule_id", "due_at")
_FIRST = {"after_merchant_id": "", "after_schedule_id": "", "after_due_at": 0}

_schedules = walk_table(schedules, _SCHEDULE, _BY_ID)
_schedules_again = look_up(_SCHEDULE, schedules)
_runs = walk_table(schedule_runs, _RUN, _BY_TIME)


def walk_schedules(db: Database) -> AsyncIterator[list[AuditedSchedule]]:
    return walk_pages(db, _schedules, _keep, _SCHEDULE, _BY_ID)


async def find_audited_schedules(
    db: Database, merchant_id: MerchantId, ids: Sequence[str]
) -> dict[str, AuditedSchedule]:
    rows = await fetch_by_ids(db, _schedules_again, merchant_id, ids)
    return {kept.id: kept for kept in [make_row(_keep, _SCHEDULE, row) for row in rows]}


async def walk_runs(db: Database) -> AsyncIterator[list[AuditedRun]]:
    after: dict[str, Any] = _FIRST
    while rows := await db.fetch(_runs, after | {"limit": PAGE}):
        yield [_keep_run(row) for row in rows]
        after = {f"after_{key}": rows[-1][_RUN.index(key)] for key in _BY_TIME}


def _keep(**named: Any) -> AuditedSchedule:
    try:
        schedule = SCHEDULES.decode(tuple([named[name] for name in _SCHEDULE]))
    except UNREADABLE:
        schedule = None
    return AuditedSchedule(named["merchant_id"], named["id"], schedule)


def _keep_run(row: Row) -> AuditedRun:
    try:
        run = RUNS.decode(row)
    except ValueError:
        run = None
    merchant_id, schedule_id, due_at = [row[_RUN.index(key)] for key in _BY_TIME]
    return AuditedRun(merchant_id, schedule_id, due_at, run)
