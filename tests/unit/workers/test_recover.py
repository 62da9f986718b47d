"""Recovery tasks by the clock: what is not done comes again later, each time after a longer pause."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.flows.pay import start_attempt
from tollgate.flows.verify import verify
from tollgate.operations.app import App, Call
from tollgate.operations.risk import Judgement
from tollgate.operations.routes import choose_route
from tollgate.payments.payment import State
from tollgate.store import audit
from tollgate.store.jobs import Job
from tollgate.store.payments import start_payment
from tollgate.values import SECOND, FixedClock, PaymentId
from tollgate.wire import Silent
from tollgate.workers.jobs import recover_payments, run_or_put_off, run_recovery_tasks
from unit.app_fixture import CHANNEL, ORDER, ScriptedWire, open_app
from unit.flows.chains import PENDING, begin, follow, read, read_answered

pytestmark = pytest.mark.anyio


async def test_a_recovery_task_that_breaks_waits_longer_each_time_and_is_done_once_it_can_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wire = ScriptedWire()
    app = await open_app(tmp_path, wire)
    debit = await begin(app)
    wire.script = [Silent()]
    refund = await read_answered(app, await follow(app, debit, "RF", 100))
    app.merchants.fill([], [])
    assert isinstance(app.clock, FixedClock)

    app.clock.at += 1
    rounds = [await run_recovery_tasks(app), await run_recovery_tasks(app)]
    app.clock.at += SECOND
    rounds += [await run_recovery_tasks(app)]
    app.clock.at += SECOND
    rounds += [await run_recovery_tasks(app)]
    [[broken]] = [page async for page in audit.JOBS.walk(app.database)]
    assert (broken.topic, broken.subject_id, broken.failures) == ("repeat", refund.id, 2)
    app.merchants.fill([CHANNEL], [])
    app.clock.at += SECOND
    rounds += [await run_recovery_tasks(app)]
    app.clock.at += 3600 * SECOND
    rounds += [await run_recovery_tasks(app)]

    assert rounds == [1, 0, 1, 0, 1, 0]
    assert [record.message for record in caplog.records].count("worker item failed") == 2
    await app.database.close()


async def test_an_acquirer_that_does_not_confirm_a_reversal_is_a_failure_and_one_that_has_not_decided_is_none(
    tmp_path: Path,
) -> None:
    wire = ScriptedWire()
    app = await open_app(tmp_path, wire)
    wire.script = [Silent()]
    doubtful = await begin(app)
    wire.script = [PENDING]
    waiting = await begin(app)
    assert isinstance(app.clock, FixedClock)

    for _ in range(3):
        app.clock.at += 3600 * SECOND
        wire.script = [Silent(), PENDING]
        await run_recovery_tasks(app)

    [jobs] = [page async for page in audit.JOBS.walk(app.database)]
    assert {job.subject_id: job.failures for job in jobs} == {doubtful.id: 3, waiting.id: 0}
    await app.database.close()


async def test_stopping_the_process_neither_counts_as_a_failure_of_a_job_nor_forgets_earlier_ones() -> None:
    counted: list[int] = []

    async def stop(_app: App, _job: Job) -> bool:
        raise asyncio.CancelledError

    async def put_off(_app: App, _job: Job, failures: int) -> None:
        counted.append(failures)

    job = Job(id="x", merchant_id=CHANNEL.merchant_id, topic="repeat", subject_id="x", due_at=0, failures=7)
    with pytest.raises(asyncio.CancelledError):
        await run_or_put_off(cast(App, None), stop, put_off, job)
    assert counted == [7]


async def test_a_payment_that_cannot_be_completed_becomes_a_job_and_delays_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    # As a checkout that was prepared with a refund would have made it: one that follows nothing.
    call, route = Call(CHANNEL, "ndc"), choose_route(app, CHANNEL, ORDER.test_mode, ORDER.brand)
    judgement, unknown = Judgement(app.clock.now()), replace(ORDER, payment_type="??")
    broken = start_attempt(app, unknown, call, PaymentId("8a" + "1" * 30), 0, route, judgement)
    sound = start_attempt(app, ORDER, call, PaymentId("8a" + "2" * 30), 0, route, judgement)
    for started in (broken, sound):
        await start_payment(app.database, started, None, None)
    assert isinstance(app.clock, FixedClock)
    app.clock.at += SECOND

    found = [await recover_payments(app), await recover_payments(app)]
    failures = []
    for _ in range(LIMITS.job_failures_max + 1):
        app.clock.at += 3600 * SECOND
        await run_recovery_tasks(app)
        [jobs] = [page async for page in audit.JOBS.walk(app.database)]
        failures += [job.failures for job in jobs if job.subject_id == broken.id]

    assert found == [2, 0]
    assert (await read(app, sound.id)).state is State.DECLINED
    assert failures == list(range(1, LIMITS.job_failures_max + 2))
    report = await verify(app.database, app.keyring, lambda _table, _rows: None, pauses_s=())
    text = f"complete of {broken.id} has failed {LIMITS.job_failures_max + 1} times in a row"
    assert text in [finding.text for finding in report.findings]
    assert "worker item failed" in caplog.text
    await app.database.close()
