"""kill -9 at every crash point of authenticated shoppers, of providers' pages and of bank accounts, on both databases.

Shoppers on the way go on with the next gateway: money moves once or not at all, and no secret outlives the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from crash import further_crashes, method_crashes
from crash.chain_checks import find_chain_contradictions
from crash.conftest import DATABASES
from crash.document import compare_with_document, render_section
from crash.method_cases import MethodCase, MethodCrash, read_ledgers, run_method_crashes
from crash.store_reader import find_contradictions
from crash.world import World, open_world
from postgres import PostgresCluster
from tollgate.store.instructions import InstructionState

pytestmark = pytest.mark.timeout(1200)


@dataclass(frozen=True)
class Batch:
    """Crashes of one run: as the document groups them, and as worlds share them."""

    name: str
    sections: Mapping[str, Sequence[MethodCrash]]
    shares: Sequence[Sequence[MethodCrash]]
    marks: tuple[pytest.MarkDecorator, ...] = ()

    @property
    def crashes(self) -> list[MethodCrash]:
        return [crash for crashes in self.sections.values() for crash in crashes]


BATCHES = (
    Batch("every run", method_crashes.SECTIONS, method_crashes.SHARES),
    Batch("the long run", further_crashes.SECTIONS, further_crashes.SHARES, (pytest.mark.prove,)),
)

of_every_batch = pytest.mark.parametrize(
    "batch", [pytest.param(batch, marks=batch.marks, id=batch.name) for batch in BATCHES]
)
of_every_crash = pytest.mark.parametrize(
    ("batch", "crash"),
    [pytest.param(batch, crash, marks=batch.marks, id=crash.name) for batch in BATCHES for crash in batch.crashes],
)


@dataclass(frozen=True)
class CrashRun:
    """The worlds of one database after a run, every case by its crash, and what the audits found."""

    worlds: list[World] = field(default_factory=list)
    cases: dict[MethodCrash, MethodCase] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


CrashRuns = dict[str, CrashRun]


def crash_and_audit(world: World, share: Sequence[MethodCrash]) -> tuple[list[MethodCase], str]:
    """The audit here too, because others are still waiting for deadlines meanwhile."""
    return run_method_crashes(world, share), world.verify()


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
            with ThreadPoolExecutor(len(places)) as pool:
                made = [*pool.map(crash_and_audit, worlds, [share for _, share in places])]
            crash_runs = {name: CrashRun() for name in DATABASES}
            for (name, share), world, (cases, findings) in zip(places, worlds, made, strict=True):
                crash_runs[name].worlds.append(world)
                crash_runs[name].cases.update(zip(share, cases, strict=True))
                crash_runs[name].findings.append(findings)
            return crash_runs

        def find(batch: Batch) -> CrashRuns:
            if batch.name not in found:
                found[batch.name] = case(batch)
            return found[batch.name]

        yield find


@pytest.fixture
def crash_runs(batch: Batch, get_crash_runs: Callable[[Batch], CrashRuns]) -> CrashRuns:
    return get_crash_runs(batch)


@pytest.fixture
def crash_run(database: str, crash_runs: CrashRuns) -> CrashRun:
    return crash_runs[database]


@of_every_crash
def test_whoever_is_cut_off_anywhere_ends_as_the_seam_allows(crash_run: CrashRun, crash: MethodCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: CrashRun, crash: MethodCrash) -> None:
    for kill, held in zip((crash.kill, *crash.recoveries), crash_run.cases[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.point


@of_every_crash
def test_one_order_is_one_payment_however_often_it_was_repeated(crash_run: CrashRun, crash: MethodCrash) -> None:
    case = crash_run.cases[crash]
    recorded = case.scenario.world.store.find_by_key(crash.key)
    assert [record.id for record in recorded] == [case.records[0].id]


@of_every_batch
def test_gateway_acquirer_and_bank_agree_afterwards(crash_run: CrashRun) -> None:
    assert crash_run.findings == [""] * len(crash_run.worlds)
    for world in crash_run.worlds:
        assert world.store.has_nothing_open()
        assert find_contradictions(world.store, read_ledgers(world)) == []
        assert find_chain_contradictions(world.store, world.acquirer) == []


@of_every_batch
def test_no_security_code_is_kept_after_the_end(crash_run: CrashRun) -> None:
    assert [world.store.count_secrets() for world in crash_run.worlds] == [0] * len(crash_run.worlds)
    assert any(world.store.read_stages() for world in crash_run.worlds)


@of_every_batch
def test_no_instruction_is_left_that_a_later_file_could_take(crash_run: CrashRun) -> None:
    states = {state for world in crash_run.worlds for state in world.store.read_instructions().values()}
    assert states >= {InstructionState.FILED, InstructionState.CANCELLED}
    assert states <= {InstructionState.FILED, InstructionState.CANCELLED, InstructionState.BLOCKED}


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
