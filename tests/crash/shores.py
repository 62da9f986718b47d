"""Both databases after a batch of crashes: several worlds on each, wrecked at once. What must hold is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest

from crash.conftest import DATABASES
from crash.world import World, open_world
from crash.wreckage import Crash, Wreck, wreck_everything
from postgres import PostgresCluster

Shares = Sequence[Sequence[Crash]]
"""Each in a world of its own: much of a recovery is waiting for a deadline, and meanwhile others may die."""


@dataclass(frozen=True)
class Shore:
    """What was washed up on one database: the worlds, and every wreck by its crash."""

    shares: Shares
    worlds: list[World] = field(default_factory=list)
    wrecks: dict[Crash, Wreck] = field(default_factory=dict)

    def find_world(self, crash: Crash) -> World:
        return next(world for world, share in zip(self.worlds, self.shares, strict=True) if crash in share)


@contextmanager
def wash_up(
    shares: Shares, cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Shore]]:
    clusters = {"sqlite": None, "postgresql": cluster}
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        shores = {name: Shore(shares) for name in DATABASES}
        running = []
        for name, shore in shores.items():
            for share in shares:
                world = stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name]))
                shore.worlds.append(world)
                running.append((shore, pool.submit(wreck_everything, world, share)))
        for shore, future in running:
            shore.wrecks.update({wreck.crash: wreck for wreck in future.result()})
        yield shores
