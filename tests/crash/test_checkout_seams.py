"""kill -9 at every seam of a checkout, on both databases: paid once or not at all, and every shop is called."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from api.reminded_shops import RemindedShop
from crash.books import find_lies
from crash.chain_books import find_chain_lies
from crash.checkout_crashes import CHECKOUT_CRASHES
from crash.checkout_wreckage import CheckoutCrash, CheckoutWreck, wreck_checkouts
from crash.conftest import DATABASES
from crash.points import compare_with_document, render_section
from crash.world import World, open_world
from postgres import PostgresCluster

pytestmark = pytest.mark.timeout(1200)

of_every_crash = pytest.mark.parametrize("crash", CHECKOUT_CRASHES, ids=lambda crash: crash.name)


@dataclass(frozen=True)
class Shore:
    world: World
    wrecks: dict[CheckoutCrash, CheckoutWreck]


def wreck(world: World, shop: RemindedShop) -> dict[CheckoutCrash, CheckoutWreck]:
    return dict(zip(CHECKOUT_CRASHES, wreck_checkouts(world, shop, CHECKOUT_CRASHES), strict=True))


@pytest.fixture(scope="module")
def shores(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shore]]:
    """Both databases, wrecked at once."""
    clusters = {"sqlite": None, "postgresql": cluster}
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        worlds = {
            name: stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name])) for name in DATABASES
        }
        shops = [stack.enter_context(RemindedShop()) for _ in worlds]
        wrecked = [*pool.map(wreck, worlds.values(), shops)]
        yield {name: Shore(world, wrecks) for (name, world), wrecks in zip(worlds.items(), wrecked, strict=True)}


@pytest.fixture
def shore(database: str, shores: dict[str, Shore]) -> Shore:
    return shores[database]


@of_every_crash
def test_a_checkout_cut_off_anywhere_ends_as_the_seam_allows(shore: Shore, crash: CheckoutCrash) -> None:
    assert shore.wrecks[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(shore: Shore, crash: CheckoutCrash) -> None:
    [held] = shore.wrecks[crash].held
    assert held in (crash.kill.leaves or (held,))


def test_gateway_and_acquirer_tell_the_same_story_afterwards(shore: Shore) -> None:
    assert shore.world.books.is_quiet()
    assert find_lies(shore.world.books, shore.world.acquirer.read_ledger()) == []
    assert find_chain_lies(shore.world.books, shore.world.acquirer) == []
    assert shore.world.verify() == ""


def test_the_document_of_crash_points_tells_what_this_run_saw(shores: dict[str, Shore]) -> None:
    wrecks = {name: [shore.wrecks[crash] for crash in CHECKOUT_CRASHES] for name, shore in shores.items()}
    written, true = compare_with_document({"Checkouts": render_section(wrecks)})
    assert written == true, "if the change is meant: make crashes"
