"""kill -9 at every crash point of a schedule's run and of a network token.

Each due time is paid once or, where it failed, not at all; none is lost, and no card has two tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack

import msgspec
import pytest

from acquirer import Fate, Manner
from api.token_vaults import RecordingVault
from crash import background_crashes
from crash.background_cases import BackgroundCase, BackgroundCrash, BackgroundKill, run_background_crashes
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
from crash.crashes import Kill
from crash.schedule_cases import RunCase, RunRequest
from crash.schedule_checks import Timetable, find_run_lies
from crash.token_cases import TokenCase
from crash.world import World
from tollgate.payments.merchants import TokenTerms
from tollgate.store.merchants import insert_channel, list_channels
from tollgate.store.opening import open_database
from tollgate.values import ChannelId

pytestmark = pytest.mark.timeout(1200)

TOKEN_ENTITY_ID = ChannelId("8a" + "9" * 30)
BATCHES = (
    *make_batches(background_crashes.SECTIONS, background_crashes.SHARES),
    make_long_batch(background_crashes.FURTHER_SECTIONS, background_crashes.FURTHER_SHARES),
)
BackgroundRun = CrashRun[BackgroundCrash, BackgroundCase]
BackgroundRuns = CrashRuns[BackgroundCrash, BackgroundCase]


def make_case(crash: BackgroundCrash) -> BackgroundCase:
    return RunCase(crash) if isinstance(crash.request, RunRequest) else TokenCase(crash)


async def add_token_channel(world: World, vault_url: str) -> None:
    database = await open_database(world.database)
    channel = next(row for row in await list_channels(database) if row.id == world.entity_id)
    terms = TokenTerms(test_url=vault_url)
    await insert_channel(
        database, msgspec.structs.replace(channel, id=TOKEN_ENTITY_ID, uses_network_tokens=True, token_terms=terms)
    )
    await database.close()


def run_share(world: World, stack: ExitStack, share: Sequence[BackgroundCrash]) -> list[BackgroundCase]:
    vault = stack.enter_context(RecordingVault())
    asyncio.run(add_token_channel(world, vault.url))
    return run_background_crashes(world, vault, TOKEN_ENTITY_ID, share, make_case)


def list_timetables(crash_run: BackgroundRun, world: World) -> dict[str, Timetable]:
    """Returns the timetables of the schedules of a world."""
    cases = [case for crash, case in crash_run.cases.items() if crash_run.places[crash] is world]
    return {case.schedule_id: case.timetable for case in cases if isinstance(case, RunCase)}


@of_every_crash(BATCHES)
def test_what_is_cut_off_anywhere_ends_as_the_seam_allows(crash_run: BackgroundRun, crash: BackgroundCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash(BATCHES)
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: BackgroundRun, crash: BackgroundCrash) -> None:
    check_held(crash_run, crash)


@of_every_batch(BATCHES)
def test_every_due_time_is_there_once_and_is_paid_once_or_not_at_all(
    batch: Batch[BackgroundCrash], crash_runs: BackgroundRuns
) -> None:
    places = [(crash_run, world) for crash_run in crash_runs.values() for world in crash_run.worlds]
    assert batch.is_repetition or all(list_timetables(*place) for place in places)
    for crash_run, world in places:
        timetables = list_timetables(crash_run, world)
        assert find_run_lies(world.store, world.acquirer.read_ledger(), timetables) == []


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: BackgroundRun) -> None:
    check_agreement(crash_run)


@of_every_batch(BATCHES[:1])
def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(
    crash_run: BackgroundRun,
) -> None:
    held = [case for crash, case in crash_run.cases.items() if is_held(crash.kill)]
    world = crash_run.worlds[0]
    world.acquirer.release()
    fates = [world.acquirer.wait_for_charge(case.records[0].id).fate for case in held]
    assert fates == [Fate.BLOCKED, Fate.REVERSED]
    assert find_run_lies(world.store, world.acquirer.read_ledger(), list_timetables(crash_run, world)) == []


def is_held(kill: Kill) -> bool:
    return isinstance(kill, BackgroundKill) and kill.manner is not Manner.ANSWER


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(
    batch: Batch[BackgroundCrash], crash_runs: BackgroundRuns
) -> None:
    check_document(batch, crash_runs)
