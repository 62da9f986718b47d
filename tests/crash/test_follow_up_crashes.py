"""kill -9 at every crash point of what follows a payment, of facts and of recoveries, on both databases.

Nothing is lost, doubled or stuck, and every sum that was reserved is spent or free again.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from acquirer import Manner
from crash.chain_checks import find_chain_contradictions
from crash.crash_runs import CrashRun, run_crashes
from crash.crashes import Crash
from crash.document import compare_with_document, render_section
from crash.follow_up_crashes import FACT_CRASHES, RECOVERY_CRASHES, REVERSAL_CRASHES, SENDING_CRASHES
from crash.store_reader import find_contradictions
from crash.world import World
from postgres import PostgresCluster

pytestmark = pytest.mark.timeout(1200)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "Follow-ups": SENDING_CRASHES,
    "Chargebacks": FACT_CRASHES,
    "Repeats and overdue attempts": RECOVERY_CRASHES,
    "Technical reversals": REVERSAL_CRASHES,
}
CRASHES = tuple(crash for crashes in SECTIONS.values() for crash in crashes)
# Facts come first: a reversal that an increment left behind would be killed at their second write.
SHARES = ((*FACT_CRASHES, *SENDING_CRASHES), RECOVERY_CRASHES, REVERSAL_CRASHES)

of_every_crash = pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)


@pytest.fixture(scope="module")
def crash_runs(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CrashRun]]:
    with run_crashes(SHARES, cluster, tmp_path_factory) as crash_runs:
        yield crash_runs


@pytest.fixture
def crash_run(database: str, crash_runs: dict[str, CrashRun]) -> CrashRun:
    return crash_runs[database]


@of_every_crash
def test_what_is_cut_off_anywhere_ends_as_the_seam_allows(crash_run: CrashRun, crash: Crash) -> None:
    assert crash_run.cases[crash].ending in crash.endings


@of_every_crash
def test_a_write_that_is_cut_off_is_whole_or_absent(crash_run: CrashRun, crash: Crash) -> None:
    for kill, held in zip((crash.kill, *crash.recoveries), crash_run.cases[crash].held, strict=True):
        assert held in (kill.leaves or (held,)), kill.point


@of_every_crash
def test_asking_again_never_makes_a_second_one(crash_run: CrashRun, crash: Crash) -> None:
    case = crash_run.cases[crash]
    records = case.find_records(crash_run.find_world(crash).store.read_payments())
    of_its_kind = [
        record for record in records if record.payment_type == crash.request.payment_type and not record.is_technical
    ]
    assert len(of_its_kind) == 1
    if case.records:
        assert records == case.records


def test_what_the_acquirer_was_still_holding_is_not_done_again_when_it_is_let_go(crash_run: CrashRun) -> None:
    held = [crash for crash in SENDING_CRASHES if crash.manner is not Manner.ANSWER]
    acquirer = crash_run.find_world(held[0]).acquirer
    ids = [crash_run.cases[crash].records[0].id for crash in held]
    acquirer.release()
    entries = [acquirer.wait_for_follow_up(id) for id in ids]
    assert [entry.executions for entry in entries] == [1] * len(held)
    assert find_contradictions(crash_run.find_world(held[0]).store, acquirer.read_ledger()) == []


def test_gateway_and_acquirer_agree_afterwards(crash_run: CrashRun) -> None:
    for world in crash_run.worlds:
        assert world.store.has_nothing_open()
        assert find_contradictions(world.store, world.acquirer.read_ledger()) == []
        assert find_chain_contradictions(world.store, world.acquirer) == []
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(World.verify, crash_run.worlds)] == [""] * len(crash_run.worlds)


def test_the_document_of_crash_points_says_what_this_run_saw(crash_runs: dict[str, CrashRun]) -> None:
    fresh = {
        title: render_section(
            {name: [crash_run.cases[crash] for crash in crashes] for name, crash_run in crash_runs.items()}
        )
        for title, crashes in SECTIONS.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
