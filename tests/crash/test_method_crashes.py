"""kill -9 at every crash point of authenticated shoppers, of providers' pages and of bank accounts.

Shoppers on the way go on with the next gateway: money moves once or not at all, and no secret outlives the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from crash import further_crashes, method_crashes
from crash.crash_runs import (
    Batch,
    CrashRun,
    CrashRuns,
    check_agreement,
    check_document,
    check_held,
    make_batches,
    make_long_batch,
    of_every_batch,
    of_every_crash,
)
from crash.method_cases import MethodCase, MethodCrash, read_ledgers, run_method_crashes
from crash.world import World
from tollgate.store.instructions import InstructionState

pytestmark = pytest.mark.timeout(1200)

BATCHES = (
    *make_batches(method_crashes.SECTIONS, method_crashes.SHARES),
    make_long_batch(further_crashes.SECTIONS, further_crashes.SHARES),
)
MethodRun = CrashRun[MethodCrash, MethodCase]
MethodRuns = CrashRuns[MethodCrash, MethodCase]


def run_share(world: World, _: ExitStack, share: Sequence[MethodCrash]) -> list[MethodCase]:
    return run_method_crashes(world, share)


@of_every_crash(BATCHES)
def test_whoever_is_cut_off_anywhere_ends_as_the_seam_allows(crash_run: MethodRun, crash: MethodCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: MethodRun, crash: MethodCrash) -> None:
    check_held(crash_run, crash)


@of_every_crash(BATCHES)
def test_one_order_is_one_payment_however_often_it_was_repeated(crash_run: MethodRun, crash: MethodCrash) -> None:
    case = crash_run.cases[crash]
    recorded = case.scenario.world.store.find_by_key(crash.key)
    assert [record.id for record in recorded] == [case.records[0].id]


@of_every_batch(BATCHES)
def test_gateway_acquirer_and_bank_agree_afterwards(crash_run: MethodRun) -> None:
    check_agreement(crash_run, read_ledgers)


@of_every_batch(BATCHES)
def test_no_security_code_is_kept_after_the_end(crash_run: MethodRun) -> None:
    assert [world.store.count_secrets() for world in crash_run.worlds] == [0] * len(crash_run.worlds)
    assert any(world.store.read_stages() for world in crash_run.worlds)


@of_every_batch(BATCHES)
def test_no_instruction_is_left_that_a_later_file_could_take(crash_runs: MethodRuns) -> None:
    worlds = [world for crash_run in crash_runs.values() for world in crash_run.worlds]
    states = {state for world in worlds for state in world.store.read_instructions().values()}
    assert states >= {InstructionState.FILED, InstructionState.CANCELLED}
    assert states <= {InstructionState.FILED, InstructionState.CANCELLED, InstructionState.BLOCKED}


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch[MethodCrash], crash_runs: MethodRuns) -> None:
    check_document(batch, crash_runs)
