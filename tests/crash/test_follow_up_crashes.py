"""kill -9 at every crash point of what follows a payment, of facts and of recoveries.

Nothing is lost, doubled or stuck, and every sum that was reserved is spent or free again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from acquirer import Manner
from crash.crash_runs import (
    Batch,
    CrashRun,
    CrashRuns,
    check_agreement,
    check_document,
    check_held,
    make_batches,
    of_every_batch,
    of_every_crash,
)
from crash.crashes import Crash, CrashCase, run_payment_crashes
from crash.follow_up_crashes import FACT_CRASHES, RECOVERY_CRASHES, REVERSAL_CRASHES, SENDING_CRASHES
from crash.store_reader import find_contradictions
from crash.world import World

pytestmark = pytest.mark.timeout(1200)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "Follow-ups": SENDING_CRASHES,
    "Chargebacks": FACT_CRASHES,
    "Repeats and overdue attempts": RECOVERY_CRASHES,
    "Technical reversals": REVERSAL_CRASHES,
}
# Facts come first: a reversal that an increment left behind would be killed at their second write.
BATCHES = make_batches(SECTIONS, ((*FACT_CRASHES, *SENDING_CRASHES), RECOVERY_CRASHES, REVERSAL_CRASHES))
PaymentRun = CrashRun[Crash, CrashCase]
PaymentRuns = CrashRuns[Crash, CrashCase]


def run_share(world: World, _: ExitStack, share: Sequence[Crash]) -> list[CrashCase]:
    return run_payment_crashes(world, share)


@of_every_crash(BATCHES)
def test_what_is_cut_off_anywhere_ends_as_the_seam_allows(crash_run: PaymentRun, crash: Crash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: PaymentRun, crash: Crash) -> None:
    check_held(crash_run, crash)


@of_every_crash(BATCHES)
def test_asking_again_never_makes_a_second_one(crash_run: PaymentRun, crash: Crash) -> None:
    case = crash_run.cases[crash]
    records = case.find_records(crash_run.places[crash].store.read_payments())
    of_its_kind = [
        record for record in records if record.payment_type == crash.request.payment_type and not record.is_technical
    ]
    assert len(of_its_kind) == 1
    if case.records:
        assert records == case.records


@of_every_batch(BATCHES[:1])
def test_what_the_acquirer_was_still_holding_is_not_done_again_when_it_is_let_go(
    crash_run: PaymentRun,
) -> None:
    held = [crash for crash in SENDING_CRASHES if crash.manner is not Manner.ANSWER]
    world = crash_run.places[held[0]]
    ids = [crash_run.cases[crash].records[0].id for crash in held]
    world.acquirer.release()
    entries = [world.acquirer.wait_for_follow_up(id) for id in ids]
    assert [entry.executions for entry in entries] == [1] * len(held)
    assert find_contradictions(world.store, world.acquirer.read_ledger()) == []
    assert world.verify() == ""


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: PaymentRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch[Crash], crash_runs: PaymentRuns) -> None:
    check_document(batch, crash_runs)
