"""Jobs that are owed and events to be announced. What a job does is decided by the workers."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.payments.payment import RecoveryTask
from tollgate.store.database import Database
from tollgate.store.schema import jobs, outbox
from tollgate.store.statements import Statement, Write
from tollgate.values import SECOND, Instant, MerchantId


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """`due_at` is business time, so that moving a test clock moves the work; leases are wall time."""

    id: str
    merchant_id: MerchantId
    topic: str
    subject_id: str
    due_at: Instant
    body: str = "{}"
    tries: int = 0
    """How often it was leased."""
    lease_owner: str | None = None
    failures: int = 0
    """How often in a row it has failed; a job that only has to wait does not fail."""


_members = Job.__struct_fields__
_mine = (
    jobs.c.merchant_id == sa.bindparam("job_merchant_id"),
    jobs.c.id == sa.bindparam("job_id"),
    # An outlived lease may have gone to another worker; what this one then says no longer counts.
    jobs.c.lease_owner == sa.bindparam("owner"),
)
_insert = Statement(
    sa.insert(jobs).values({name: sa.bindparam(name) for name in _members} | {"leased_until": sa.literal_column("0")})
)

_ensure = Statement(
    insert(jobs)
    .values({name: sa.bindparam(name) for name in _members} | {"leased_until": sa.literal_column("0")})
    .on_conflict_do_nothing()
)


def _make_lease(is_of_topic: sa.ColumnElement[bool]) -> Statement:
    due = (
        sa.select(jobs.c.merchant_id, jobs.c.id)
        .where(jobs.c.due_at <= sa.bindparam("now"), jobs.c.leased_until <= sa.bindparam("wall_now"), is_of_topic)
        .order_by(jobs.c.due_at)
        .limit(sa.bindparam("limit"))
        # SQLite leaves this out: there the single writer is the lock.
        .with_for_update(skip_locked=True)
    )
    return Statement(
        sa.update(jobs)
        .where(sa.tuple_(jobs.c.merchant_id, jobs.c.id).in_(due))
        .values(
            lease_owner=sa.bindparam("owner"),
            leased_until=sa.bindparam("until"),
            tries=jobs.c.tries + sa.literal_column("1"),
        )
        .returning(*[jobs.c[name] for name in _members])
    )


_lease_recovery_tasks = _make_lease(
    jobs.c.topic.in_([sa.literal_column(f"'{recovery_task}'") for recovery_task in RecoveryTask])
)
_lease_topic = _make_lease(jobs.c.topic == sa.bindparam("topic"))
_finish = Statement(sa.delete(jobs).where(*_mine))
_hold = Statement(sa.update(jobs).where(*_mine).values(lease_owner=jobs.c.lease_owner))
_postpone = Statement(
    sa.update(jobs)
    .where(*_mine)
    .values(
        due_at=sa.bindparam("new_due_at"),
        leased_until=sa.literal_column("0"),
        lease_owner=sa.null(),
        failures=sa.bindparam("new_failures"),
    )
)


def ensure_job_writes(job: Job) -> list[Write]:
    """As it is where it is there already: what is owed twice is done once."""
    return [Write(_ensure, msgspec.structs.asdict(job))]


def insert_job_writes(job: Job) -> list[Write]:
    return [Write(_insert, msgspec.structs.asdict(job), rows=1)]


def finish_job_writes(job: Job) -> list[Write]:
    """Removes a leased job; the unit is undone when the lease was lost."""
    return [Write(_finish, _name_lease(job), rows=1)]


def hold_job_writes(job: Job) -> list[Write]:
    """Changes nothing; the unit is undone where another took the job over meanwhile."""
    return [Write(_hold, _name_lease(job), rows=1)]


def postpone_job_writes(job: Job, due_at: Instant, failures: int = 0) -> list[Write]:
    """Gives the lease back; the job comes again when due."""
    return [Write(_postpone, {**_name_lease(job), "new_due_at": due_at, "new_failures": failures}, rows=1)]


async def insert_job(db: Database, job: Job) -> bool:
    return await db.write(insert_job_writes(job), label="job created")


async def lease_due(
    db: Database, *, now: Instant, wall_now: Instant, owner: str, lease_s: float, limit: int, topic: str | None = None
) -> list[Job]:
    """Due jobs that nobody holds, oldest first, now held by the owner. Without a topic they are recovery tasks."""
    until = wall_now + int(lease_s * SECOND)
    params = {"now": now, "wall_now": wall_now, "owner": owner, "until": until, "limit": limit}
    leasing = (
        db.fetch(_lease_recovery_tasks, params) if topic is None else db.fetch(_lease_topic, params | {"topic": topic})
    )
    leased = [Job(**dict(zip(_members, row, strict=True))) for row in await leasing]
    return sorted(leased, key=lambda job: job.due_at)


async def finish_job(db: Database, job: Job) -> bool:
    return await db.write(finish_job_writes(job), label="job finished")


async def postpone_job(db: Database, job: Job, due_at: Instant, failures: int = 0) -> bool:
    return await db.write(postpone_job_writes(job, due_at, failures), label="job postponed")


def _name_lease(job: Job) -> dict[str, str | None]:
    return {"job_merchant_id": job.merchant_id, "job_id": job.id, "owner": job.lease_owner}


PAYMENT_COMPLETED = "payment.settled"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    merchant_id: MerchantId
    subject_id: str
    topic: str
    created_at: Instant
    result_code: str = ""


_event_members = Event.__struct_fields__
_append = Statement(sa.insert(outbox).values({name: sa.bindparam(name) for name in _event_members}))
_list = Statement(
    sa.select(*[outbox.c[name] for name in _event_members])
    .where(outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id > sa.bindparam("after_id"))
    .order_by(outbox.c.id)
    .limit(sa.bindparam("limit"))
)


def append_event_writes(event: Event) -> list[Write]:
    return [Write(_append, msgspec.structs.asdict(event), rows=1)]


async def list_events(db: Database, merchant_id: MerchantId, after_id: str = "", limit: int = 100) -> list[Event]:
    """A merchant's events in the order of their time, after one already seen."""
    rows = await db.fetch(_list, {"merchant_id": merchant_id, "after_id": after_id, "limit": limit})
    return [Event(**dict(zip(_event_members, row, strict=True))) for row in rows]
