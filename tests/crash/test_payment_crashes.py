"""kill -9 at every crash point of a payment and its recovery, both databases: nothing lost, nothing charged twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from acquirer import Fate, Manner
from crash.chain_checks import find_chain_contradictions
from crash.crash_runs import CrashRun, run_crashes
from crash.crashes import Crash, CrashCase
from crash.document import compare_with_document, render_section
from crash.payment_crashes import PAYMENT_CRASHES, PAYMENT_RECOVERIES, STORING_CRASHES
from crash.store_reader import find_contradictions
from crash.world import World
from gateway import Client
from postgres import PostgresCluster

pytestmark = pytest.mark.timeout(1200)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "Payments": (*PAYMENT_CRASHES, *PAYMENT_RECOVERIES),
    "Payments that register their card": STORING_CRASHES,
}
CRASHES = tuple(crash for crashes in SECTIONS.values() for crash in crashes)
SHARES = ((*STORING_CRASHES, *PAYMENT_CRASHES), PAYMENT_RECOVERIES)

of_every_crash = pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)


@pytest.fixture(scope="module")
def crash_runs(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CrashRun]]:
    with run_crashes(SHARES, cluster, tmp_path_factory) as crash_runs:
        yield crash_runs


@pytest.fixture
def crash_run(database: str, crash_runs: dict[str, CrashRun]) -> CrashRun:
    return crash_runs[database]


@pytest.fixture
def crashed_world(crash_run: CrashRun, crash: Crash) -> World:
    return crash_run.find_world(crash)


@pytest.fixture
def client(crashed_world: World) -> Client:
    return crashed_world.make_client(crashed_world.gateways[-1])


@pytest.fixture
def case(crash_run: CrashRun, crash: Crash) -> CrashCase:
    return crash_run.cases[crash]


@of_every_crash
def test_a_payment_cut_off_anywhere_ends_as_the_seam_allows(case: CrashCase, crash: Crash) -> None:
    assert case.ending in crash.endings


@of_every_crash
def test_a_retry_after_the_crash_answers_what_was_recorded(
    crashed_world: World, client: Client, case: CrashCase, crash: Crash
) -> None:
    recorded = crashed_world.store.find_by_key(crash.key)
    assert case.heard is not None
    assert [record.id for record in recorded] == [case.heard.json["id"]]
    assert crashed_world.acquirer.read_ledger()[recorded[0].id].charges_seen <= 1
    assert client.get(f"/v1/payments/{recorded[0].id}").code == recorded[0].code
    if case.records:
        assert case.heard.headers["idempotency-replayed"] == "true"
        assert recorded[0] == case.records[0]


def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(crash_run: CrashRun) -> None:
    held = [crash for crash in PAYMENT_CRASHES if crash.manner is not Manner.ANSWER]
    acquirer = crash_run.find_world(held[0]).acquirer
    acquirer.release()
    entries = [acquirer.wait_for_charge(crash_run.cases[crash].records[0].id) for crash in held]
    assert [entry.fate for entry in entries] == [Fate.BLOCKED, Fate.REVERSED]


def test_gateway_and_acquirer_agree_afterwards(crash_run: CrashRun) -> None:
    for world in crash_run.worlds:
        assert world.store.has_nothing_open()
        assert find_contradictions(world.store, world.acquirer.read_ledger()) == []
        assert find_chain_contradictions(world.store, world.acquirer) == []
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(World.verify, crash_run.worlds)] == [""] * len(crash_run.worlds)


@of_every_crash
def test_a_reversal_stands_in_the_report_beside_what_it_reversed(client: Client, case: CrashCase, crash: Crash) -> None:
    report = client.get("/v1/query", {"merchantTransactionId": crash.key}).json["payments"]
    kinds = [payment["paymentType"] for payment in report]
    was_silent = report[0]["result"]["code"] == "900.100.300"
    assert kinds == ([crash.request.payment_type, "RV"] if was_silent else [crash.request.payment_type])
    assert [payment["referencedId"] for payment in report[1:]] == [report[0]["id"]] * was_silent
    assert case.heard is not None
    assert report[0]["id"] == case.heard.json["id"]


@pytest.mark.parametrize("crash", STORING_CRASHES, ids=lambda crash: crash.name)
def test_a_retry_after_the_crash_names_the_one_registration_that_was_made(
    crashed_world: World, client: Client, case: CrashCase
) -> None:
    assert case.heard is not None
    payment_id, named_id = case.heard.json["id"], case.heard.json.get("registrationId")
    [made_id] = [each.id for each in crashed_world.store.read_registrations() if each.made_by == payment_id]
    # A payment that was declined has stored nothing and names nothing.
    assert named_id == (made_id if case.heard.status == 200 else None)
    assert client.get(f"/v1/payments/{payment_id}").json.get("registrationId") == named_id


def test_the_document_of_crash_points_says_what_this_run_saw(crash_runs: dict[str, CrashRun]) -> None:
    fresh = {
        title: render_section(
            {name: [crash_run.cases[crash] for crash in crashes] for name, crash_run in crash_runs.items()}
        )
        for title, crashes in SECTIONS.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
