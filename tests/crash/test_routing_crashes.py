"""kill -9 while a payment moves to another acquirer account: it is charged at one of them at most."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

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
from crash.crashes import Crash, CrashCase
from crash.routing_cases import run_routing_crashes
from crash.routing_crashes import ROUTING_CRASHES
from crash.world import World

pytestmark = pytest.mark.timeout(1200)

BATCHES = make_batches({"Payments that move to another account": ROUTING_CRASHES}, (ROUTING_CRASHES,))
RoutingRun = CrashRun[Crash, CrashCase]
RoutingRuns = CrashRuns[Crash, CrashCase]


def run_share(world: World, stack: ExitStack, share: Sequence[Crash]) -> list[CrashCase]:
    return run_routing_crashes(world, stack, share)


@of_every_crash(BATCHES)
def test_a_payment_cut_off_while_it_moves_ends_as_the_seam_allows(crash_run: RoutingRun, crash: Crash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: RoutingRun, crash: Crash) -> None:
    check_held(crash_run, crash)


@of_every_crash(BATCHES)
def test_it_is_charged_once_at_most(crash_run: RoutingRun, crash: Crash) -> None:
    [payment, *_] = crash_run.cases[crash].records
    entry = crash_run.places[crash].acquirer.read_ledger()[payment.id]
    assert (entry.charges_seen <= 1, entry.executions <= 1) == (True, True)


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: RoutingRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch[Crash], crash_runs: RoutingRuns) -> None:
    check_document(batch, crash_runs)
