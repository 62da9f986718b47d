"""kill -9 at every seam of authenticated shoppers, of providers' pages and of bank accounts, on both databases.

Whoever was on the way goes on with the next gateway: money moves once or not at all, and no secret outlives the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from crash import further_crashes, method_crashes
from crash.books import find_lies
from crash.chain_books import find_chain_lies
from crash.conftest import DATABASES
from crash.method_wreckage import MethodCrash, MethodWreck, read_ledgers, wreck_methods
from crash.points import compare_with_document, render_section
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
class Shore:
    """What was washed up on one database: the worlds, every wreck by its crash, and what the audits found."""

    worlds: list[World] = field(default_factory=list)
    wrecks: dict[MethodCrash, MethodWreck] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


Shores = dict[str, Shore]


def wreck_and_audit(world: World, share: Sequence[MethodCrash]) -> tuple[list[MethodWreck], str]:
    """The audit here too, because others are still waiting for deadlines meanwhile."""
    return wreck_methods(world, share), world.verify()


@pytest.fixture(scope="module")
def find_shores(
    cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Batch], Shores]]:
    """Both databases of a batch, wrecked at once when they are first asked for."""
    clusters = {"sqlite": None, "postgresql": cluster}
    found: dict[str, Shores] = {}
    with ExitStack() as stack:

        def wreck(batch: Batch) -> Shores:
            places = [(name, share) for name in DATABASES for share in batch.shares]
            worlds = [
                stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name])) for name, _ in places
            ]
            with ThreadPoolExecutor(len(places)) as pool:
                made = [*pool.map(wreck_and_audit, worlds, [share for _, share in places])]
            shores = {name: Shore() for name in DATABASES}
            for (name, share), world, (wrecks, findings) in zip(places, worlds, made, strict=True):
                shores[name].worlds.append(world)
                shores[name].wrecks.update(zip(share, wrecks, strict=True))
                shores[name].findings.append(findings)
            return shores

        def find(batch: Batch) -> Shores:
            if batch.name not in found:
                found[batch.name] = wreck(batch)
            return found[batch.name]

        yield find


@pytest.fixture
def shores(batch: Batch, find_shores: Callable[[Batch], Shores]) -> Shores:
    return find_shores(batch)


@pytest.fixture
def shore(database: str, shores: Shores) -> Shore:
    return shores[database]


@of_every_crash
def test_whoever_is_cut_off_anywhere_ends_as_the_seam_allows(shore: Shore, crash: MethodCrash) -> None:
    assert shore.wrecks[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(shore: Shore, crash: MethodCrash) -> None:
    for kill, held in zip((crash.kill, *crash.recoveries), shore.wrecks[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.seam


@of_every_crash
def test_one_order_is_one_payment_however_often_it_was_repeated(shore: Shore, crash: MethodCrash) -> None:
    wreck = shore.wrecks[crash]
    recorded = wreck.walk.world.books.find_by_key(crash.key)
    assert [record.id for record in recorded] == [wreck.records[0].id]


@of_every_batch
def test_gateway_acquirer_and_bank_tell_the_same_story_afterwards(shore: Shore) -> None:
    assert shore.findings == [""] * len(shore.worlds)
    for world in shore.worlds:
        assert world.books.is_quiet()
        assert find_lies(world.books, read_ledgers(world)) == []
        assert find_chain_lies(world.books, world.acquirer) == []


@of_every_batch
def test_no_security_code_is_kept_after_the_end(shore: Shore) -> None:
    assert [world.books.count_secrets() for world in shore.worlds] == [0] * len(shore.worlds)
    assert any(world.books.read_stages() for world in shore.worlds)


@of_every_batch
def test_no_instruction_is_left_that_a_later_file_could_take(shore: Shore) -> None:
    states = {state for world in shore.worlds for state in world.books.read_instructions().values()}
    assert states >= {InstructionState.FILED, InstructionState.CANCELLED}
    assert states <= {InstructionState.FILED, InstructionState.CANCELLED, InstructionState.BLOCKED}


@of_every_batch
def test_the_document_of_crash_points_tells_what_this_run_saw(batch: Batch, shores: Shores) -> None:
    fresh = {
        title: render_section({name: [shore.wrecks[crash] for crash in crashes] for name, shore in shores.items()})
        for title, crashes in batch.sections.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
