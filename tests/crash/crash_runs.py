"""Both databases after a batch of crashes: several worlds on each, crashed at once. What must hold is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest

from crash.conftest import DATABASES
from crash.crashes import Crash, CrashCase, run_payment_crashes
from crash.world import World, open_world
from postgres import PostgresCluster

Shares = Sequence[Sequence[Crash]]
"""Each in a world of its own: much of a recovery is waiting for a deadline, and meanwhile others may die."""


@dataclass(frozen=True)
class CrashRun:
    """The worlds of one database after a run, and every case by its crash."""

    shares: Shares
    worlds: list[World] = field(default_factory=list)
    cases: dict[Crash, CrashCase] = field(default_factory=dict)

    def find_world(self, crash: Crash) -> World:
        return next(world for world, share in zip(self.worlds, self.shares, strict=True) if crash in share)


@contextmanager
def run_crashes(
    shares: Shares, cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, CrashRun]]:
    clusters = {"sqlite": None, "postgresql": cluster}
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        crash_runs = {name: CrashRun(shares) for name in DATABASES}
        running = []
        for name, crash_run in crash_runs.items():
            for share in shares:
                world = stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name]))
                crash_run.worlds.append(world)
                running.append((crash_run, pool.submit(run_payment_crashes, world, share)))
        for crash_run, future in running:
            crash_run.cases.update({case.crash: case for case in future.result()})
        yield crash_runs
