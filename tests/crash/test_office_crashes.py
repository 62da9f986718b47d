"""kill -9 while a granted action, a file, an erasure or the index is written: each is done once, whoever repeats it."""

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
from crash.office_cases import OfficeCase, OfficeCrash, run_office_crashes
from crash.office_crashes import OFFICE_CRASHES
from crash.world import World

pytestmark = pytest.mark.timeout(1200)

BATCHES = make_batches({"Back office": OFFICE_CRASHES}, (OFFICE_CRASHES,))
OfficeRun = CrashRun[OfficeCrash, OfficeCase]
OfficeRuns = CrashRuns[OfficeCrash, OfficeCase]


def run_share(world: World, _stack: ExitStack, share: Sequence[OfficeCrash]) -> list[OfficeCase]:
    return run_office_crashes(world, share)


@of_every_crash(BATCHES)
def test_an_action_cut_off_anywhere_ends_as_the_seam_allows(crash_run: OfficeRun, crash: OfficeCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: OfficeRun, crash: OfficeCrash) -> None:
    check_held(crash_run, crash)


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: OfficeRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch[OfficeCrash], crash_runs: OfficeRuns) -> None:
    check_document(batch, crash_runs)
