"""kill -9 at every crash point of a checkout: paid once or not at all, and every shop is called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from api.reminded_shops import RemindedShop
from crash.checkout_cases import CheckoutCase, CheckoutCrash, run_checkout_crashes
from crash.checkout_crashes import CHECKOUT_CRASHES
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
from crash.world import World

pytestmark = pytest.mark.timeout(1200)

BATCHES = make_batches({"Checkouts": CHECKOUT_CRASHES}, (CHECKOUT_CRASHES,))
CheckoutRun = CrashRun[CheckoutCrash, CheckoutCase]
CheckoutRuns = CrashRuns[CheckoutCrash, CheckoutCase]


def run_share(world: World, stack: ExitStack, share: Sequence[CheckoutCrash]) -> list[CheckoutCase]:
    return run_checkout_crashes(world, stack.enter_context(RemindedShop()), share)


@of_every_crash(BATCHES)
def test_a_checkout_cut_off_anywhere_ends_as_the_seam_allows(crash_run: CheckoutRun, crash: CheckoutCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: CheckoutRun, crash: CheckoutCrash) -> None:
    check_held(crash_run, crash)


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: CheckoutRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(
    batch: Batch[CheckoutCrash], crash_runs: CheckoutRuns
) -> None:
    check_document(batch, crash_runs)
