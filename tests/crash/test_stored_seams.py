"""kill -9 at every seam of a schedule's run and of a network token, on both databases.

Each due time is paid once or, where it failed, not at all; none is lost, and no card has two tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import msgspec
import pytest

from acquirer import Fate, Manner
from api.token_vaults import RecordingVault
from crash.books import find_lies
from crash.chain_books import find_chain_lies
from crash.conftest import DATABASES
from crash.points import compare_with_document, render_section
from crash.schedule_books import Timetable, find_run_lies
from crash.schedule_wrecks import RunDeed, RunWreck
from crash.stored_crashes import SECTIONS, SHARES
from crash.stored_wreckage import StoredCrash, StoredKill, StoredWreck, wreck_stored
from crash.token_wrecks import TokenWreck
from crash.world import World, open_world
from postgres import PostgresCluster
from tollgate.payments import TokenTerms
from tollgate.store import insert_channel, list_channels, open_database
from tollgate.values import ChannelId

pytestmark = pytest.mark.timeout(300)

CRASHES = tuple(crash for crashes in SECTIONS.values() for crash in crashes)
TOKEN_ENTITY_ID = ChannelId("8a" + "9" * 30)

of_every_crash = pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)


@dataclass(frozen=True)
class Shore:
    """What was washed up on one database: the worlds, every wreck by its crash, and what the audits found."""

    worlds: list[World] = field(default_factory=list)
    wrecks: dict[StoredCrash, StoredWreck] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def find_runs(self, world: World) -> list[RunWreck]:
        share = SHARES[self.worlds.index(world)]
        made = [self.wrecks[crash] for crash in share]
        return [wreck for wreck in made if isinstance(wreck, RunWreck)]


def make_wreck(crash: StoredCrash) -> StoredWreck:
    return RunWreck(crash) if isinstance(crash.deed, RunDeed) else TokenWreck(crash)


async def add_token_channel(world: World, vault_url: str) -> None:
    database = await open_database(world.database)
    channel = next(row for row in await list_channels(database) if row.id == world.entity_id)
    terms = TokenTerms(test_url=vault_url)
    await insert_channel(
        database, msgspec.structs.replace(channel, id=TOKEN_ENTITY_ID, uses_network_tokens=True, token_terms=terms)
    )
    await database.close()


def wreck_and_audit(world: World, vault: RecordingVault, share: Sequence[StoredCrash]) -> tuple[list[StoredWreck], str]:
    asyncio.run(add_token_channel(world, vault.url))
    return wreck_stored(world, vault, TOKEN_ENTITY_ID, share, make_wreck), world.verify()


@pytest.fixture(scope="module")
def shores(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shore]]:
    clusters = {"sqlite": None, "postgresql": cluster}
    places = [(name, share) for name in DATABASES for share in SHARES]
    with ExitStack() as stack:
        worlds = [stack.enter_context(open_world(tmp_path_factory.mktemp(name), clusters[name])) for name, _ in places]
        vaults = [stack.enter_context(RecordingVault()) for _ in places]
        with ThreadPoolExecutor(len(places)) as pool:
            made = [*pool.map(wreck_and_audit, worlds, vaults, [share for _, share in places])]
        shores = {name: Shore() for name in DATABASES}
        for (name, share), world, (wrecks, findings) in zip(places, worlds, made, strict=True):
            shores[name].worlds.append(world)
            shores[name].wrecks.update(zip(share, wrecks, strict=True))
            shores[name].findings.append(findings)
        yield shores


@pytest.fixture
def shore(database: str, shores: dict[str, Shore]) -> Shore:
    return shores[database]


@of_every_crash
def test_what_is_cut_off_anywhere_ends_as_the_seam_allows(shore: Shore, crash: StoredCrash) -> None:
    assert shore.wrecks[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(shore: Shore, crash: StoredCrash) -> None:
    for kill, held in zip((crash.kill, *crash.recoveries), shore.wrecks[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.seam


def test_every_due_time_is_there_once_and_is_paid_once_or_not_at_all(shore: Shore) -> None:
    for world in shore.worlds:
        timetables: dict[str, Timetable] = {wreck.schedule_id: wreck.timetable for wreck in shore.find_runs(world)}
        assert timetables
        assert find_run_lies(world.books, world.acquirer.read_ledger(), timetables) == []


def test_gateway_and_acquirer_tell_the_same_story_afterwards(shore: Shore) -> None:
    assert shore.findings == [""] * len(shore.worlds)
    for world in shore.worlds:
        assert world.books.is_quiet()
        assert find_lies(world.books, world.acquirer.read_ledger()) == []
        assert find_chain_lies(world.books, world.acquirer) == []


def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(shore: Shore) -> None:
    kills = [crash.kill for crash in CRASHES]
    held = [CRASHES[place] for place, kill in enumerate(kills) if isinstance(kill, StoredKill) and is_held(kill)]
    assert held
    world = shore.worlds[0]
    world.acquirer.release()
    ids = [shore.wrecks[crash].records[0].id for crash in held]
    assert [world.acquirer.wait_for_charge(id).fate for id in ids] == [Fate.BLOCKED, Fate.REVERSED]


def is_held(kill: StoredKill) -> bool:
    return kill.manner is not Manner.ANSWER


def test_the_document_of_crash_points_tells_what_this_run_saw(shores: dict[str, Shore]) -> None:
    fresh = {
        title: render_section({name: [shore.wrecks[crash] for crash in crashes] for name, shore in shores.items()})
        for title, crashes in SECTIONS.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
