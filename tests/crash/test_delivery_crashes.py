"""kill -9 at every crash point of a delivery: the event is heard at least once, and none is lost."""

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
from crash.delivery_cases import DeliveryCase, DeliveryCrash, run_delivery_crashes
from crash.delivery_crashes import DELIVERY_CRASHES
from crash.world import World
from receiving import Receiver

pytestmark = pytest.mark.timeout(1200)

BATCHES = make_batches({"Deliveries of events": DELIVERY_CRASHES}, (DELIVERY_CRASHES,))
DeliveryRun = CrashRun[DeliveryCrash, DeliveryCase]
DeliveryRuns = CrashRuns[DeliveryCrash, DeliveryCase]


def run_share(world: World, stack: ExitStack, share: Sequence[DeliveryCrash]) -> list[DeliveryCase]:
    return run_delivery_crashes(world, stack.enter_context(Receiver()), share)


@of_every_crash(BATCHES)
def test_a_delivery_cut_off_anywhere_ends_as_the_seam_allows(crash_run: DeliveryRun, crash: DeliveryCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: DeliveryRun, crash: DeliveryCrash) -> None:
    check_held(crash_run, crash)


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: DeliveryRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(
    batch: Batch[DeliveryCrash], crash_runs: DeliveryRuns
) -> None:
    check_document(batch, crash_runs)
