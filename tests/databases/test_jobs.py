"""Leases: a job belongs to one worker at a time, and only to one that still holds it."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from databases.samples import MERCHANT
from tollgate.store.database import Database, Unwritable
from tollgate.store.jobs import (
    Job,
    count_reversals,
    finish_job,
    finish_job_writes,
    insert_job_writes,
    lease_due,
    postpone_job,
)
from tollgate.store.opening import open_database
from tollgate.values import SECOND

pytestmark = pytest.mark.anyio


def make_job(n: int, due_at: int = 10) -> Job:
    return Job(id=f"job-{n}", merchant_id=MERCHANT, topic="reverse", subject_id=f"s-{n}", due_at=due_at, body='{"n":1}')


async def insert_job(db: Database, job: Job) -> bool:
    return await db.write(insert_job_writes(job), label="job created")


async def lease(db: Database, owner: str = "me", now: int = 10, wall_now: int = 0, limit: int = 100) -> list[Job]:
    return await lease_due(db, now=now, wall_now=wall_now, owner=owner, lease_s=2, limit=limit)


async def test_due_jobs_are_leased_oldest_first_and_young_ones_are_left(db: Database) -> None:
    for n, due_at in enumerate((9, 7, 11, 8)):
        await insert_job(db, make_job(n, due_at))

    jobs = await lease(db, limit=2)

    assert [(job.id, job.due_at, job.tries, job.lease_owner) for job in jobs] == [
        ("job-1", 7, 1, "me"),
        ("job-3", 8, 1, "me"),
    ]
    assert [job.id for job in await lease(db)] == ["job-0"]


async def test_reversals_that_were_tried_often_are_counted(db: Database) -> None:
    await insert_job(db, make_job(1))
    await insert_job(db, replace(make_job(2), topic="inquire"))
    await insert_job(db, replace(make_job(3), topic="give_back"))
    for wall_now in range(4):
        assert await count_reversals(db, 3, until=10) == (2 if wall_now >= 3 else 0)
        assert await count_reversals(db, 3, until=9) == 0
        await lease(db, wall_now=wall_now * 3 * SECOND)


async def test_two_owners_never_lease_the_same_job(url: str) -> None:
    first, second = await open_database(url), await open_database(url)
    await asyncio.gather(*[insert_job(first, make_job(n)) for n in range(60)])

    async def work(db: Database, owner: str) -> list[str]:
        taken: list[str] = []
        while jobs := await lease(db, owner, limit=7):
            taken += [job.id for job in jobs]
        return taken

    shares = await asyncio.gather(work(first, "a"), work(second, "b"), work(first, "c"), work(second, "d"))
    await first.close()
    await second.close()

    taken = [job_id for share in shares for job_id in share]
    assert len(taken) == len(set(taken))
    assert len(taken) == 60


async def test_an_outlived_lease_goes_to_the_next_worker_and_the_first_has_no_say(db: Database) -> None:
    await insert_job(db, make_job(1))
    [mine] = await lease(db, "first")
    assert await lease(db, "second", wall_now=2 * SECOND - 1) == []

    [theirs] = await lease(db, "second", wall_now=2 * SECOND)

    assert theirs.tries == 2
    assert not await finish_job(db, mine)
    assert not await postpone_job(db, mine, 99)
    assert await finish_job(db, theirs)
    assert await lease(db, wall_now=9 * SECOND) == []


async def test_a_postponed_job_is_free_again_when_due(db: Database) -> None:
    await insert_job(db, make_job(1))
    [job] = await lease(db)

    assert await postpone_job(db, job, 50)

    assert await lease(db, now=49) == []
    [again] = await lease(db, "other", now=50)
    assert (again.tries, again.body) == (2, '{"n":1}')


async def test_failures_in_a_row_are_counted_until_it_goes_well(db: Database) -> None:
    await insert_job(db, make_job(1))
    counted = []
    for has_failed in (True, True, False, True):
        [job] = await lease(db)
        counted.append(job.failures)
        await postpone_job(db, job, 10, job.failures + 1 if has_failed else 0)
    [job] = await lease(db)

    assert [*counted, job.failures] == [0, 1, 2, 0, 1]


async def test_a_job_is_finished_once(db: Database) -> None:
    await insert_job(db, make_job(1))
    [job] = await lease(db)

    assert await db.write(finish_job_writes(job), label="test")
    assert not await db.write(finish_job_writes(job), label="test")


async def test_a_job_that_nobody_leased_cannot_be_finished(db: Database) -> None:
    await insert_job(db, make_job(1))

    assert not await finish_job(db, make_job(1))


async def test_the_same_job_is_not_queued_twice(db: Database) -> None:
    await insert_job(db, make_job(1))

    with pytest.raises(Unwritable):
        await insert_job(db, make_job(1))
