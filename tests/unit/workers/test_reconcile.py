"""Errands by the clock: what is not done comes again later, each time after a longer pause."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from tollgate.catalog import LIMITS
from tollgate.flows import verify
from tollgate.flows.pay import start_attempt
from tollgate.payments import State
from tollgate.steps import House
from tollgate.store import Job, start_payment, walk_jobs
from tollgate.values import SECOND, FixedClock, PaymentId
from tollgate.wire import Silent
from tollgate.workers.jobs import run_or_put_off
from tollgate.workers.reconcile import reconcile, run_errands
from unit.flows.telling import PENDING, begin, follow, read, read_answered
from unit.premises import CHANNEL, ORDER, ScriptedWire, open_house

pytestmark = pytest.mark.anyio


async def test_an_errand_that_breaks_waits_longer_each_time_and_is_done_once_it_can_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wire = ScriptedWire()
    house = await open_house(tmp_path, wire)
    debit = await begin(house)
    wire.script = [Silent()]
    refund = await read_answered(house, await follow(house, debit, "RF", 100))
    house.directory.fill([], [])
    assert isinstance(house.clock, FixedClock)

    house.clock.at += 1
    rounds = [await run_errands(house), await run_errands(house)]
    house.clock.at += SECOND
    rounds += [await run_errands(house)]
    house.clock.at += SECOND
    rounds += [await run_errands(house)]
    [[broken]] = [page async for page in walk_jobs(house.database)]
    assert (broken.topic, broken.subject_id, broken.failures) == ("repeat", refund.id, 2)
    house.directory.fill([CHANNEL], [])
    house.clock.at += SECOND
    rounds += [await run_errands(house)]
    house.clock.at += 3600 * SECOND
    rounds += [await run_errands(house)]

    assert rounds == [1, 0, 1, 0, 1, 0]
    assert [record.message for record in caplog.records].count("an item failed") == 2
    await house.database.close()


async def test_an_acquirer_that_does_not_confirm_a_reversal_is_a_failure_and_one_that_has_not_decided_is_none(
    tmp_path: Path,
) -> None:
    wire = ScriptedWire()
    house = await open_house(tmp_path, wire)
    wire.script = [Silent()]
    doubtful = await begin(house)
    wire.script = [PENDING]
    waiting = await begin(house)
    assert isinstance(house.clock, FixedClock)

    for _ in range(3):
        house.clock.at += 3600 * SECOND
        wire.script = [Silent(), PENDING]
        await run_errands(house)

    [jobs] = [page async for page in walk_jobs(house.database)]
    assert {job.subject_id: job.failures for job in jobs} == {doubtful.id: 3, waiting.id: 0}
    await house.database.close()


async def test_stopping_the_process_neither_counts_as_a_failure_of_a_job_nor_forgets_earlier_ones() -> None:
    counted: list[int] = []

    async def stop(_house: House, _job: Job) -> bool:
        raise asyncio.CancelledError

    async def put_off(_house: House, _job: Job, failures: int) -> None:
        counted.append(failures)

    job = Job(id="x", merchant_id=CHANNEL.merchant_id, topic="repeat", subject_id="x", due_at=0, failures=7)
    with pytest.raises(asyncio.CancelledError):
        await run_or_put_off(cast(House, None), stop, put_off, job)
    assert counted == [7]


async def test_a_payment_that_cannot_be_settled_becomes_a_job_and_keeps_no_other_from_being_settled(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    house = await open_house(tmp_path, ScriptedWire())
    # As a checkout that was prepared with a refund would have made it: one that follows nothing.
    broken = start_attempt(house, replace(ORDER, kind="??"), CHANNEL, "ndc", PaymentId("8a" + "1" * 30), 0)
    sound = start_attempt(house, ORDER, CHANNEL, "ndc", PaymentId("8a" + "2" * 30), 0)
    for started in (broken, sound):
        await start_payment(house.database, started, None, None)
    assert isinstance(house.clock, FixedClock)
    house.clock.at += SECOND

    found = [await reconcile(house), await reconcile(house)]
    failures = []
    for _ in range(LIMITS.job_failures_max + 1):
        house.clock.at += 3600 * SECOND
        await run_errands(house)
        [jobs] = [page async for page in walk_jobs(house.database)]
        failures += [job.failures for job in jobs if job.subject_id == broken.id]

    assert found == [2, 0]
    assert (await read(house, sound.id)).state is State.DECLINED
    assert failures == list(range(1, LIMITS.job_failures_max + 2))
    report = await verify(house.database, house.keyring, lambda _table, _rows: None, pauses_s=())
    text = f"settle of {broken.id} has failed {LIMITS.job_failures_max + 1} times in a row"
    assert text in [finding.text for finding in report.findings]
    assert "an item failed" in caplog.text
    await house.database.close()
