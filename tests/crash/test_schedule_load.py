"""Schedules on servers that die at random moments, or for months: every due time is paid once or not at all."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from acquirer import DECLINED_CENTS, Manner
from crash.background_cases import wait_until_over
from crash.calendars import Calendar, Plan, move_clock, read_calendar
from crash.chain_checks import find_chain_contradictions
from crash.load import pause
from crash.schedule_cases import make_schedule
from crash.schedule_checks import Timetable, bring_back, find_run_charges, find_run_lies, read_runs, set_aside
from crash.store_reader import find_contradictions
from crash.world import World
from gateway import CARD, Client
from tollgate.connectors.card import CHARGES
from tollgate.payments.schedule import RunState
from tollgate.values import to_instant

SCHEDULES = 60
"""Several times as many as one server takes at once, so that another gets its share."""
KILLS = 5
DEAD_S = 62 * 24 * 3600
"""This time has two firsts of a month and never three, whichever month it begins in."""
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(1, 10))]


@dataclass
class Subscriptions:
    """One card, many plans; each has an amount of its own."""

    calendar: Calendar
    timetables: dict[str, Timetable] = field(default_factory=dict)

    def order(self, client: Client, rng: random.Random, cents: Sequence[int]) -> None:
        registration = client.post("/v1/registrations", {**CARD, "testMode": "EXTERNAL"})
        for number in range(1, SCHEDULES + 1):
            plan = rng.choice(list(Plan))
            amount = f"{number}.{rng.choice(cents):02d}"
            schedule_id = make_schedule(client, registration.json["id"], amount, self.calendar.make_job(plan))
            self.timetables[schedule_id] = self.calendar.make_timetable(plan)

    def check(self, world: World) -> None:
        ledger = world.acquirer.read_ledger()
        assert find_run_lies(world.store, ledger, self.timetables) == []
        assert find_contradictions(world.store, ledger) == []
        assert find_chain_contradictions(world.store, world.acquirer) == []
        assert world.verify() == ""

    def list_ends(self, world: World) -> set[RunState]:
        return {rows[-1].state for rows in read_runs(world.store).values()}


def subscribe(world: World, client: Client, seed: int, cents: Sequence[int] = (0,)) -> Subscriptions:
    """All are set aside, and their day has come."""
    subscriptions = Subscriptions(read_calendar(client))
    subscriptions.order(client, random.Random(seed), cents)
    set_aside(world.store)
    subscriptions.calendar.jump(client)
    return subscriptions


@pytest.mark.parametrize("seed", SEEDS)
def test_one_of_two_servers_dies_amid_its_runs_and_the_other_makes_them(postgres_world: World, seed: int) -> None:
    survivor = postgres_world.make_gateway(name="survivor")
    survivor.start()
    subscriptions = subscribe(postgres_world, postgres_world.make_client(survivor), seed)
    mortal = postgres_world.make_gateway("after charge request", name="mortal")
    mortal.start()
    postgres_world.acquirer.behave(CHARGES, Manner.SLOW)

    bring_back(postgres_world.store)
    mortal.wait_for_death()
    postgres_world.acquirer.behave(CHARGES, Manner.ANSWER)
    wait_until_over(postgres_world, subscriptions.calendar.due_on)

    assert survivor.find_exit_code() is None
    silent = postgres_world.store.query("SELECT id FROM payments WHERE result_code = '900.100.300'")
    assert silent, "it died before it had charged anybody"
    subscriptions.check(postgres_world)
    assert subscriptions.list_ends(postgres_world) == {RunState.MADE}


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(10))
def test_a_server_killed_again_and_again_while_schedules_are_due_pays_each_once(world: World, seed: int) -> None:
    gateway = world.make_gateway()
    gateway.start()
    subscriptions = subscribe(world, world.make_client(gateway), seed, (0, 0, 0, DECLINED_CENTS))
    rng = random.Random(seed)
    world.acquirer.behave(CHARGES, Manner.SLOW)

    bring_back(world.store)
    for _ in range(KILLS):
        pause(rng, 0.1, 1.5)
        gateway.kill()
        move_clock(world.store)
        time.sleep(rng.choice((0.0, 1.0)))
        gateway.start()
    wait_until_over(world, subscriptions.calendar.due_on)

    subscriptions.check(world)
    assert subscriptions.list_ends(world) == {RunState.MADE, RunState.FAILED}


@pytest.mark.prove
@pytest.mark.parametrize(
    ("point", "end"),
    [
        ("after run due", RunState.MISSED),
        ("after charge request", RunState.FAILED),
        ("after completion", RunState.MADE),
    ],
)
def test_a_run_that_was_cut_off_and_overtaken_by_later_ones_is_not_paid_after_all(
    world: World, point: str, end: RunState
) -> None:
    """Its server is dead for two more times: the last of them is paid, and what was begun ends as it was begun."""
    gateway = world.make_gateway()
    gateway.start()
    client = world.make_client(gateway)
    calendar = read_calendar(client)
    registration = client.post("/v1/registrations", {**CARD, "testMode": "EXTERNAL"})
    schedule_id = make_schedule(client, registration.json["id"], "7.00", calendar.make_job(Plan.MONTHLY))
    set_aside(world.store)
    calendar.jump(client)
    gateway.kill()

    bring_back(world.store)
    dying = world.make_gateway(point)
    dying.launch()
    dying.wait_for_death()
    move_clock(world.store, DEAD_S)
    gateway.start()
    wait_until_over(world, calendar.months[calendar.months.index(calendar.due_on) + 2])

    runs = read_runs(world.store)[schedule_id]
    assert [run.state for run in runs] == [*[RunState.MISSED] * 2, end, RunState.MISSED, RunState.MADE]
    assert [run.due_at for run in runs] == [to_instant(month) for month in calendar.months[: len(runs)]]
    assert find_run_charges(world.store, world.acquirer.read_ledger()) == []
    assert find_chain_contradictions(world.store, world.acquirer) == []
    assert world.verify() == ""
