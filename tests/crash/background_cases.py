"""Gateways that die during background work on registrations and schedules, which a clock or a job starts.

Everything that waits is set aside but for the one that is to be cut off, so that every crash meets the right one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from acquirer import Entry, Manner
from api.token_vaults import RecordingVault
from crash.calendars import Calendar, move_clock, read_calendar
from crash.crashes import Crash, CrashCase, Ending, Kill, describe_store
from crash.schedule_checks import bring_back, put_to_sleep, set_aside, wake_jobs
from crash.server import DEATH_S
from crash.store_reader import Record, Rows, StoreReader
from crash.world import PATIENCE_S, World
from gateway import Client
from tollgate.connectors.card import CHARGES
from tollgate.values import to_instant

LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class BackgroundKill(Kill):
    manner: Manner = Manner.ANSWER
    """The acquirer holds the request while the gateway is killed from outside, unless this is an answer."""
    path: str = CHARGES
    asleep: str = ""
    """Jobs of this topic are not run, because chance would decide whether they are cut off instead."""


@dataclass(frozen=True)
class BackgroundCrash(Crash):
    @property
    def again(self) -> str:
        return ""


@dataclass(frozen=True)
class Stage:
    """A world, what its vault knows, and the day on which all is due."""

    world: World
    vault: RecordingVault
    token_entity_id: str
    calendar: Calendar


@dataclass
class BackgroundCase(CrashCase):
    def prepare(self, stage: Stage, client: Client) -> None:
        """Prepares the case while a gateway is alive that nothing happens to."""

    def run(self, stage: Stage) -> None:
        raise NotImplementedError

    def look(self, stage: Stage, records: Sequence[Record], ledger: dict[str, Entry]) -> None:
        """Notes what became of the case in the end."""
        raise NotImplementedError

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, "")

    def crash_once(
        self, stage: Stage, kill: Kill, *, moves_clock: bool, ask: Callable[[Client], Any] | None = None
    ) -> None:
        """One gateway more; in haste its time flies until it is dead."""
        asked = kill if isinstance(kill, BackgroundKill) else BackgroundKill(kill.point)
        world, is_held = stage.world, asked.manner is not Manner.ANSWER
        seen = world.acquirer.count_requests(asked.path)
        if is_held:
            world.acquirer.behave(asked.path, asked.manner, times=1)
        if asked.asleep:
            put_to_sleep(world.store, asked.asleep)
        gateway = world.make_gateway("" if is_held else asked.point)
        gateway.launch() if ask is None else gateway.start()
        if ask is not None:
            ask(world.make_client(gateway))

        def is_over() -> bool:
            if is_held:
                return world.acquirer.count_requests(asked.path) > seen
            return gateway.find_exit_code() is not None

        pass_time = partial(move_clock, world.store) if moves_clock else lambda: None
        wait_while_time_passes(
            is_over,
            pass_time,
            DEATH_S,
            lambda: f"{gateway.read_log()}\n{self.crash.name}: alive at {kill.point}, {describe_store(world, self)}",
        )
        gateway.kill() if is_held else gateway.wait_for_death()
        self.held.append(describe_store(world, self))
        if asked.asleep:
            # Of this one alone: whatever else waits was set aside before.
            wake_jobs(world.store, self.list_subjects(world.store))

    def list_subjects(self, store: StoreReader) -> list[str]:
        """Lists the subjects of the jobs that belong to the case."""
        raise NotImplementedError


def wait_while_time_passes(
    is_over: Callable[[], bool], pass_time: Callable[[], Any], within_s: float, tell: Callable[[], str]
) -> None:
    deadline = time.monotonic() + within_s
    while not is_over():
        assert time.monotonic() < deadline, f"{tell()} after {within_s} s"
        time.sleep(LOOK_EVERY_S)
        pass_time()


def run_background_crashes(
    world: World, vault: RecordingVault, token_entity_id: str, crashes: Sequence[BackgroundCrash], make: MakeCase
) -> list[BackgroundCase]:
    """Dies at every crash point, then lets a gateway live that finishes everything."""
    cases = [make(crash) for crash in crashes]
    gateway = world.make_gateway()
    gateway.start()
    client = world.make_client(gateway)
    stage = Stage(world, vault, token_entity_id, read_calendar(client))
    for case in cases:
        case.prepare(stage, client)
    set_aside(world.store)
    stage.calendar.jump(client)
    gateway.kill()
    for case in cases:
        case.run(stage)
        set_aside(world.store)
    bring_back(world.store)
    world.make_gateway().start()
    wait_until_over(world, stage.calendar.due_on)
    records, ledger = world.store.read_payments(), world.acquirer.read_ledger()
    for case in cases:
        case.look(stage, records, ledger)
    return cases


MakeCase = Callable[[BackgroundCrash], BackgroundCase]


def wait_until_over(world: World, due_on: datetime) -> None:
    """Nothing is open, and no time up to this one is left that is not taken care of."""
    store = world.store
    due = f"SELECT id, 'schedule', state FROM schedules WHERE state = 0 AND next_at <= {to_instant(due_on)}"

    def list_left() -> Rows:
        return store.list_open(due)

    wait_while_time_passes(
        lambda: not list_left(), partial(move_clock, store), PATIENCE_S, lambda: f"still {list_left()}"
    )
