"""kill -9 at every crash point of a schedule's run and of a network token, on both databases.

Each due time is paid once or, where it failed, not at all; none is lost, and no card has two tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import msgspec
import pytest

from acquirer import Fate, Manner
from api.token_vaults import RecordingVault
from crash import background_crashes
from crash.background_cases import BackgroundCase, BackgroundCrash, BackgroundKill, run_background_crashes
from crash.chain_checks import find_chain_contradictions
from crash.conftest import DATABASES
from crash.crashes import Kill
from crash.document import compare_with_document, render_section
from crash.schedule_cases import RunCase, RunRequest
from crash.schedule_checks import Timetable, find_run_lies
from crash.store_reader import find_contradictions
from crash.token_cases import TokenCase
from crash.world import World, open_world
from postgres import PostgresCluster
from tollgate.payments.merchants import TokenTerms
from tollgate.store.merchants import insert_channel, list_channels
from tollgate.store.opening import open_database
from tollgate.values import ChannelId

pytestmark = pytest.mark.timeout(1200)

TOKEN_ENTITY_ID = ChannelId("8a" + "9" * 30)


@dataclass(frozen=True)
class Batch:
    """Crashes of one run: as the document groups them, and as worlds share them."""

    name: str
    sections: Mapping[str, Sequence[BackgroundCrash]]
    shares: Sequence[Sequence[BackgroundCrash]]
    marks: tuple[pytest.MarkDecorator, ...] = ()


BATCHES = (
    Batch("every run", background_crashes.SECTIONS, background_crashes.SHARES),
    Batch("the long run", background_crashes.FURTHER_SECTIONS, background_crashes.FURTHER_SHARES, (pytest.mark.prove,)),
)

of_every_batch = pytest.mark.parametrize(
    "batch", [pytest.param(batch, marks=batch.marks, id=batch.name) for batch in BATCHES]
)
of_every_crash = pytest.mark.parametrize(
    ("batch", "crash"),
    [
        pytest.param(batch, crash, marks=batch.marks, id=crash.name)
        for batch in BATCHES
        for crashes in batch.sections.values()
        for crash in crashes
    ],
)


@dataclass(frozen=True)
class CrashRun:
    """The worlds of one database after a run, every case by its crash, and what the audits found."""

    worlds: list[World] = field(default_factory=list)
    timetables: list[dict[str, Timetable]] = field(default_factory=list)
    """The timetables of the schedules of each world."""
    cases: dict[BackgroundCrash, BackgroundCase] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


CrashRuns = dict[str, CrashRun]


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


def crash_and_audit(
    world: World, vault: RecordingVault, share: Sequence[BackgroundCrash]
) -> tuple[list[BackgroundCase], str]:
    asyncio.run(add_token_channel(world, vault.url))
    return run_background_crashes(world, vault, TOKEN_ENTITY_ID, share, make_case), world.verify()


@pytest.fixture(scope="module")
def get_crash_runs(
    cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Batch], CrashRuns]]:
    """Both databases of a batch, crashed at once when they are first asked for."""
    clusters = {"sqlite": None, "postgresql": cluster}
    found: dict[str, CrashRuns] = {}
    with ExitStack() as stack:

        def case(batch: Batch) -> CrashRuns:
            places = [(name, share) for name in DATABASES for share in batch.shares]
            worlds = [
                stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name])) for name, _ in places
            ]
            vaults = [stack.enter_context(RecordingVault()) for _ in places]
            with ThreadPoolExecutor(len(places)) as pool:
                made = [*pool.map(crash_and_audit, worlds, vaults, [share for _, share in places])]
            crash_runs = {name: CrashRun() for name in DATABASES}
            for (name, _), world, (cases, findings) in zip(places, worlds, made, strict=True):
                fill_crash_run(crash_runs[name], world, cases, findings)
            return crash_runs

        def find(batch: Batch) -> CrashRuns:
            if batch.name not in found:
                found[batch.name] = case(batch)
            return found[batch.name]

        yield find


def fill_crash_run(crash_run: CrashRun, world: World, cases: Sequence[BackgroundCase], findings: str) -> None:
    crash_run.worlds.append(world)
    crash_run.timetables.append({case.schedule_id: case.timetable for case in cases if isinstance(case, RunCase)})
    for case in cases:
        assert isinstance(case.crash, BackgroundCrash)
        crash_run.cases[case.crash] = case
    crash_run.findings.append(findings)


@pytest.fixture
def crash_runs(batch: Batch, get_crash_runs: Callable[[Batch], CrashRuns]) -> CrashRuns:
    return get_crash_runs(batch)


@pytest.fixture
def crash_run(database: str, crash_runs: CrashRuns) -> CrashRun:
    return crash_runs[database]


@of_every_crash
def test_what_is_cut_off_anywhere_ends_as_the_seam_allows(crash_run: CrashRun, crash: BackgroundCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: CrashRun, crash: BackgroundCrash) -> None:
    for kill, held in zip((crash.kill, *crash.recoveries), crash_run.cases[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.point


@of_every_batch
def test_every_due_time_is_there_once_and_is_paid_once_or_not_at_all(crash_run: CrashRun) -> None:
    for world, timetables in zip(crash_run.worlds, crash_run.timetables, strict=True):
        assert timetables
        assert find_run_lies(world.store, world.acquirer.read_ledger(), timetables) == []


@of_every_batch
def test_gateway_and_acquirer_agree_afterwards(crash_run: CrashRun) -> None:
    assert crash_run.findings == [""] * len(crash_run.worlds)
    for world in crash_run.worlds:
        assert world.store.has_nothing_open()
        assert find_contradictions(world.store, world.acquirer.read_ledger()) == []
        assert find_chain_contradictions(world.store, world.acquirer) == []


@pytest.mark.parametrize("batch", BATCHES[:1], ids=lambda batch: batch.name)
def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(crash_run: CrashRun) -> None:
    held = [case for crash, case in crash_run.cases.items() if is_held(crash.kill)]
    acquirer = crash_run.worlds[0].acquirer
    acquirer.release()
    fates = [acquirer.wait_for_charge(case.records[0].id).fate for case in held]
    assert fates == [Fate.BLOCKED, Fate.REVERSED]
    assert find_run_lies(crash_run.worlds[0].store, acquirer.read_ledger(), crash_run.timetables[0]) == []


def is_held(kill: Kill) -> bool:
    return isinstance(kill, BackgroundKill) and kill.manner is not Manner.ANSWER


@of_every_batch
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch, crash_runs: CrashRuns) -> None:
    fresh = {
        title: render_section(
            {name: [crash_run.cases[crash] for crash in crashes] for name, crash_run in crash_runs.items()}
        )
        for title, crashes in batch.sections.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
