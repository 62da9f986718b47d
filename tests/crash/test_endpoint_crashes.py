"""kill -9 while an endpoint is tested, removed or sent events again: each is done or not, and nothing is lost."""

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
from crash.crashes import Crash
from crash.endpoint_cases import EndpointCase, run_endpoint_crashes
from crash.endpoint_crashes import ENDPOINT_CRASHES
from crash.world import World
from receiving import Receiver

pytestmark = pytest.mark.timeout(1200)

BATCHES = make_batches({"Endpoints and replays": ENDPOINT_CRASHES}, (ENDPOINT_CRASHES,))
EndpointRun = CrashRun[Crash, EndpointCase]
EndpointRuns = CrashRuns[Crash, EndpointCase]


def run_share(world: World, stack: ExitStack, share: Sequence[Crash]) -> list[EndpointCase]:
    return run_endpoint_crashes(world, stack.enter_context(Receiver()), share)


@of_every_crash(BATCHES)
def test_an_action_cut_off_anywhere_ends_as_the_seam_allows(crash_run: EndpointRun, crash: Crash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: EndpointRun, crash: Crash) -> None:
    check_held(crash_run, crash)


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: EndpointRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch[Crash], crash_runs: EndpointRuns) -> None:
    check_document(batch, crash_runs)
