"""Batches of crashes: which database each is made on, and the worlds after it. What must hold then is elsewhere.

A batch is made when a test first asks for it, in all its worlds at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import pytest

from acquirer import Entry
from crash.chain_checks import find_chain_contradictions
from crash.crashes import Crash, CrashCase
from crash.document import DURING, compare_with_document, list_unwritten_rows, render_section
from crash.store_reader import find_contradictions
from crash.world import World, open_world
from postgres import PostgresCluster

DATABASES = ("sqlite", "postgresql")

C = TypeVar("C", bound=Crash)
K = TypeVar("K", bound=CrashCase)

Sections = Mapping[str, Sequence[C]]
Shares = Sequence[Sequence[C]]
"""Each in a world of its own: much of a recovery is waiting for a deadline, and meanwhile others may die."""


@dataclass(frozen=True)
class Batch(Generic[C]):
    """Crashes of one run: as the document groups them, and as worlds share them on each database."""

    name: str
    sections: Sections[C]
    shares: Mapping[str, Shares[C]]
    marks: tuple[pytest.MarkDecorator, ...] = ()
    is_repetition: bool = False
    """The crashes are some of another batch, on the database that it spares."""


def make_batches(sections: Sections[C], shares: Shares[C]) -> tuple[Batch[C], Batch[C]]:
    """Returns the batch of every run, and that of `make prove` with the same crashes on the other database.

    Whether a write that is cut off is whole is up to the database, so such a crash is made on both in every run. Before
    and after a step the database does not matter, and those crashes are made on one and the other in turn.
    """
    chosen: dict[str, list[list[C]]] = {name: [] for name in DATABASES}
    spared: dict[str, list[list[C]]] = {name: [] for name in DATABASES}
    for share in shares:
        for place, name in enumerate(DATABASES):
            in_turn = [crash for crash in share if not _is_during(crash)][place :: len(DATABASES)]
            chosen[name].append([crash for crash in share if _is_during(crash) or crash in in_turn])
            spared[name].append([crash for crash in share if crash not in chosen[name][-1]])
    return (
        Batch("every run", sections, chosen),
        Batch("the other database", sections, spared, (pytest.mark.prove,), is_repetition=True),
    )


def make_long_batch(sections: Sections[C], shares: Shares[C]) -> Batch[C]:
    """Returns crashes that `make prove` alone makes, all of them on each database."""
    return Batch("the long run", sections, dict.fromkeys(DATABASES, shares), (pytest.mark.prove,))


def _is_during(crash: Crash) -> bool:
    return any(kill.point.startswith(DURING) for kill in (crash.kill, *crash.recoveries))


def of_every_batch(batches: Sequence[Batch[C]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("batch", [pytest.param(each, marks=each.marks, id=each.name) for each in batches])


def of_every_crash(batches: Sequence[Batch[C]], *chosen: C) -> pytest.MarkDecorator:
    """Runs the test with each crash on its databases; with those chosen alone, if there are any."""
    return pytest.mark.parametrize(
        ("batch", "database", "crash"),
        [
            pytest.param(batch, database, crash, marks=batch.marks, id=f"{database}-{crash.name}")
            for batch in batches
            for database, shares in batch.shares.items()
            for share in shares
            for crash in share
            if not chosen or crash in chosen
        ],
    )


@dataclass(frozen=True)
class CrashRun(Generic[C, K]):
    """The worlds of one database after a run, every case by its crash, and what the audits found."""

    worlds: list[World] = field(default_factory=list)
    cases: dict[C, K] = field(default_factory=dict)
    places: dict[C, World] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


CrashRuns = dict[str, CrashRun[C, K]]
GetCrashRuns = Callable[[Batch[C]], CrashRuns[C, K]]
RunShare = Callable[[World, ExitStack, Sequence[C]], Sequence[K]]
"""Makes the crashes of one world; what has to live as long as the world goes to the stack."""


@contextmanager
def open_crash_runs(
    run_share: RunShare[C, K], cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GetCrashRuns[C, K]]:
    clusters = {"sqlite": None, "postgresql": cluster}
    found: dict[str, CrashRuns[C, K]] = {}
    with ExitStack() as stack:

        def crash_and_audit(world: World, share: Sequence[C]) -> tuple[Sequence[K], str]:
            # The audit here too, because others are still waiting for deadlines meanwhile.
            return run_share(world, stack, share), world.verify()

        def run(batch: Batch[C]) -> CrashRuns[C, K]:
            places = [(name, share) for name, shares in batch.shares.items() for share in shares if share]
            worlds = [
                stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name])) for name, _ in places
            ]
            with ThreadPoolExecutor(len(places)) as pool:
                made = [*pool.map(crash_and_audit, worlds, [share for _, share in places])]
            crash_runs: CrashRuns[C, K] = {name: CrashRun() for name in DATABASES}
            for (name, share), world, (cases, findings) in zip(places, worlds, made, strict=True):
                crash_runs[name].worlds.append(world)
                crash_runs[name].cases.update(zip(share, cases, strict=True))
                crash_runs[name].places.update(dict.fromkeys(share, world))
                crash_runs[name].findings.append(findings)
            return crash_runs

        def get(batch: Batch[C]) -> CrashRuns[C, K]:
            if batch.name not in found:
                found[batch.name] = run(batch)
            return found[batch.name]

        yield get


def check_agreement(
    crash_run: CrashRun[C, K],
    read_ledger: Callable[[World], dict[str, Entry]] = lambda world: world.acquirer.read_ledger(),
) -> None:
    """Nothing is open, and the gateway's records, its audit and the acquirer's ledger say the same."""
    assert crash_run.findings == [""] * len(crash_run.worlds)
    for world in crash_run.worlds:
        assert world.store.has_nothing_open()
        assert find_contradictions(world.store, read_ledger(world)) == []
        assert find_chain_contradictions(world.store, world.acquirer) == []


def check_held(crash_run: CrashRun[C, K], crash: C) -> None:
    """A write that was cut off is whole or absent."""
    for kill, held in zip((crash.kill, *crash.recoveries), crash_run.cases[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.point


def check_document(batch: Batch[C], crash_runs: CrashRuns[C, K]) -> None:
    fresh = {
        title: render_section(
            cases
            for crash in crashes
            if (cases := {name: run.cases[crash] for name, run in crash_runs.items() if crash in run.cases})
        )
        for title, crashes in batch.sections.items()
    }
    if batch.is_repetition:
        assert list_unwritten_rows(fresh) == []
    else:
        written, true = compare_with_document(fresh)
        assert written == true, "if the change is meant: make crashes"
