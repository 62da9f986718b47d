"""kill -9 at every crash point of a checkout, on both databases: paid once or not at all, and every shop is called."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from api.reminded_shops import RemindedShop
from crash.chain_checks import find_chain_contradictions
from crash.checkout_cases import CheckoutCase, CheckoutCrash, run_checkout_crashes
from crash.checkout_crashes import CHECKOUT_CRASHES
from crash.conftest import DATABASES
from crash.document import compare_with_document, render_section
from crash.store_reader import find_contradictions
from crash.world import World, open_world
from postgres import PostgresCluster

pytestmark = pytest.mark.timeout(1200)

of_every_crash = pytest.mark.parametrize("crash", CHECKOUT_CRASHES, ids=lambda crash: crash.name)


@dataclass(frozen=True)
class CrashRun:
    world: World
    cases: dict[CheckoutCrash, CheckoutCase]


def case(world: World, shop: RemindedShop) -> dict[CheckoutCrash, CheckoutCase]:
    return dict(zip(CHECKOUT_CRASHES, run_checkout_crashes(world, shop, CHECKOUT_CRASHES), strict=True))


@pytest.fixture(scope="module")
def crash_runs(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CrashRun]]:
    """Both databases, crashed at once."""
    clusters = {"sqlite": None, "postgresql": cluster}
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        worlds = {
            name: stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name])) for name in DATABASES
        }
        shops = [stack.enter_context(RemindedShop()) for _ in worlds]
        crashed = [*pool.map(case, worlds.values(), shops)]
        yield {name: CrashRun(world, cases) for (name, world), cases in zip(worlds.items(), crashed, strict=True)}


@pytest.fixture
def crash_run(database: str, crash_runs: dict[str, CrashRun]) -> CrashRun:
    return crash_runs[database]


@of_every_crash
def test_a_checkout_cut_off_anywhere_ends_as_the_seam_allows(crash_run: CrashRun, crash: CheckoutCrash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: CrashRun, crash: CheckoutCrash) -> None:
    [held] = crash_run.cases[crash].held
    assert held in (crash.kill.leaves or (held,))


def test_gateway_and_acquirer_agree_afterwards(crash_run: CrashRun) -> None:
    assert crash_run.world.store.has_nothing_open()
    assert find_contradictions(crash_run.world.store, crash_run.world.acquirer.read_ledger()) == []
    assert find_chain_contradictions(crash_run.world.store, crash_run.world.acquirer) == []
    assert crash_run.world.verify() == ""


def test_the_document_of_crash_points_says_what_this_run_saw(crash_runs: dict[str, CrashRun]) -> None:
    cases = {name: [crash_run.cases[crash] for crash in CHECKOUT_CRASHES] for name, crash_run in crash_runs.items()}
    written, true = compare_with_document({"Checkouts": render_section(cases)})
    assert written == true, "if the change is meant: make crashes"
