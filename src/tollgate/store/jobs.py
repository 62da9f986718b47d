"""Jobs that are owed. What a job does is decided by the workers."""

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import RecoveryTask
from tollgate.store.codec import LIMIT, ONE, ZERO, Codec
from tollgate.store.database import Database
from tollgate.store.schema import jobs
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
    """The number of times that it was leased."""
    lease_owner: str | None = None
    failures: int = 0
    """The number of times in a row that it has failed; a job that only has to wait does not fail."""


JOBS = Codec(jobs, Job)

# An outlived lease may have gone to another worker; what this one then says no longer counts.
_is_leased = jobs.c.lease_owner.is_not(None)
find_job = JOBS.find
insert_job_writes = JOBS.insert(leased_until=ZERO)
_ensure = JOBS.insert(leased_until=ZERO, ignores_taken=True)
finish_job_writes = JOBS.delete(_is_leased, seen=["lease_owner"])
"""Removes a leased job; the unit is undone when the lease was lost."""
hold_job_writes = JOBS.update(_is_leased, seen=["lease_owner"], lease_owner=jobs.c.lease_owner)
"""Changes nothing; the unit is undone where another took the job over meanwhile."""
_postpone = JOBS.update(
    _is_leased, seen=["lease_owner"], new=["due_at", "failures"], leased_until=ZERO, lease_owner=sa.null()
)


def _make_lease(is_of_topic: sa.ColumnElement[bool]) -> Statement:
    due = (
        sa.select(jobs.c.merchant_id, jobs.c.id)
        .where(jobs.c.due_at <= sa.bindparam("now"), jobs.c.leased_until <= sa.bindparam("wall_now"), is_of_topic)
        .order_by(jobs.c.due_at)
        .limit(LIMIT)
        # SQLite leaves this out: there the single writer is the lock.
        .with_for_update(skip_locked=True)
    )
    return Statement(
        sa.update(jobs)
        .where(sa.tuple_(jobs.c.merchant_id, jobs.c.id).in_(due))
        .values(lease_owner=sa.bindparam("owner"), leased_until=sa.bindparam("until"), tries=jobs.c.tries + ONE)
        .returning(*JOBS.columns)
    )


_lease_recovery_tasks = _make_lease(jobs.c.topic.in_([sa.literal_column(f"'{task}'") for task in RecoveryTask]))
_count_reversals = Statement(
    sa.select(sa.func.count())
    .select_from(jobs)
    .where(
        jobs.c.topic.in_([sa.literal_column(f"'{task}'") for task in (RecoveryTask.REVERSE, RecoveryTask.GIVE_BACK)]),
        jobs.c.due_at <= sa.bindparam("until"),
        jobs.c.tries >= sa.bindparam("tries"),
    )
)
_lease_topic = _make_lease(jobs.c.topic == sa.bindparam("topic"))


def ensure_job_writes(job: Job) -> list[Write]:
    """Leaves a job that is there already as it is: what is owed twice is done once."""
    return _ensure(job, rows=None)


def postpone_job_writes(job: Job, due_at: Instant, failures: int = 0) -> list[Write]:
    """Gives the lease back; the job comes again when due."""
    return _postpone(job, new_due_at=due_at, new_failures=failures)


async def lease_due(
    db: Database, *, now: Instant, wall_now: Instant, owner: str, lease_s: float, limit: int, topic: str | None = None
) -> list[Job]:
    """Leases due jobs that nobody holds and returns them, oldest first. Without a topic they are recovery tasks."""
    until = wall_now + int(lease_s * SECOND)
    params = {"now": now, "wall_now": wall_now, "owner": owner, "until": until, "limit": limit}
    if topic is None:
        leased = await JOBS.fetch(db, _lease_recovery_tasks, params)
    else:
        leased = await JOBS.fetch(db, _lease_topic, params | {"topic": topic})
    return sorted(leased, key=lambda job: job.due_at)


async def count_reversals(db: Database, tries: int, until: Instant) -> int:
    """Counts the reversals that were tried so often, are not confirmed, and are due until an instant."""
    return int((await db.fetch(_count_reversals, {"tries": tries, "until": until}))[0][0])


async def finish_job(db: Database, job: Job) -> bool:
    return await db.write(finish_job_writes(job), label="job finished")


async def postpone_job(db: Database, job: Job, due_at: Instant, failures: int = 0) -> bool:
    return await db.write(postpone_job_writes(job, due_at, failures), label="job postponed")
