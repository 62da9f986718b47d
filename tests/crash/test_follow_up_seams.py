"""kill -9 at every seam of what follows a payment, of facts and of recoveries, on both databases.

Nothing is lost, doubled or stuck, and every sum that was reserved is spent or free again.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from acquirer import Manner
from crash.books import find_lies
from crash.chain_books import find_chain_lies
from crash.follow_up_crashes import FACT_CRASHES, RECOVERY_CRASHES, REVERSAL_CRASHES, SENDING_CRASHES
from crash.points import compare_with_document, render_section
from crash.shores import Shore, wash_up
from crash.world import World
from crash.wreckage import Crash
from postgres import PostgresCluster

pytestmark = pytest.mark.timeout(1200)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "What follows a payment": SENDING_CRASHES,
    "Facts that a bank brings": FACT_CRASHES,
    "Repeats and overdue attempts": RECOVERY_CRASHES,
    "Technical reversals": REVERSAL_CRASHES,
}
CRASHES = tuple(crash for crashes in SECTIONS.values() for crash in crashes)
# Facts come first: a reversal that an increment left behind would run into the knife at their second write.
SHARES = ((*FACT_CRASHES, *SENDING_CRASHES), RECOVERY_CRASHES, REVERSAL_CRASHES)

of_every_crash = pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)


@pytest.fixture(scope="module")
def shores(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shore]]:
    with wash_up(SHARES, cluster, tmp_path_factory) as shores:
        yield shores


@pytest.fixture
def shore(database: str, shores: dict[str, Shore]) -> Shore:
    return shores[database]


@of_every_crash
def test_what_is_cut_off_anywhere_ends_as_the_seam_allows(shore: Shore, crash: Crash) -> None:
    assert shore.wrecks[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(shore: Shore, crash: Crash) -> None:
    for kill, held in zip((crash.kill, *crash.recoveries), shore.wrecks[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.seam


@of_every_crash
def test_asking_again_never_makes_a_second_one(shore: Shore, crash: Crash) -> None:
    wreck = shore.wrecks[crash]
    records = wreck.find_records(shore.find_world(crash).books.read_payments())
    of_its_kind = [record for record in records if record.kind == crash.deed.kind and not record.is_technical]
    assert len(of_its_kind) == 1
    if wreck.records:
        assert records == wreck.records


def test_what_the_acquirer_was_still_holding_is_not_done_again_when_it_is_let_go(shore: Shore) -> None:
    held = [crash for crash in SENDING_CRASHES if crash.manner is not Manner.ANSWER]
    acquirer = shore.find_world(held[0]).acquirer
    ids = [shore.wrecks[crash].records[0].id for crash in held]
    acquirer.release()
    entries = [acquirer.wait_for_follow_up(id) for id in ids]
    assert [entry.executions for entry in entries] == [1] * len(held)
    assert find_lies(shore.find_world(held[0]).books, acquirer.read_ledger()) == []


def test_gateway_and_acquirer_tell_the_same_story_afterwards(shore: Shore) -> None:
    for world in shore.worlds:
        assert world.books.is_quiet()
        assert find_lies(world.books, world.acquirer.read_ledger()) == []
        assert find_chain_lies(world.books, world.acquirer) == []
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(World.verify, shore.worlds)] == [""] * len(shore.worlds)


def test_the_document_of_crash_points_tells_what_this_run_saw(shores: dict[str, Shore]) -> None:
    fresh = {
        title: render_section({name: [shore.wrecks[crash] for crash in crashes] for name, shore in shores.items()})
        for title, crashes in SECTIONS.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
