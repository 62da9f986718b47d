"""kill -9 at every seam of a payment and of its recovery, on both databases: nothing lost, nothing charged twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from acquirer import Fate, Manner
from crash.books import find_lies
from crash.chain_books import find_chain_lies
from crash.payment_crashes import PAYMENT_CRASHES, PAYMENT_RECOVERIES, STORING_CRASHES
from crash.points import compare_with_document, render_section
from crash.shores import Shore, wash_up
from crash.world import World
from crash.wreckage import Crash, Wreck
from gateway import Client
from postgres import PostgresCluster

pytestmark = pytest.mark.timeout(1200)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "Payments": (*PAYMENT_CRASHES, *PAYMENT_RECOVERIES),
    "Payments that store their card": STORING_CRASHES,
}
CRASHES = tuple(crash for crashes in SECTIONS.values() for crash in crashes)
SHARES = ((*STORING_CRASHES, *PAYMENT_CRASHES), PAYMENT_RECOVERIES)

of_every_crash = pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)


@pytest.fixture(scope="module")
def shores(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shore]]:
    with wash_up(SHARES, cluster, tmp_path_factory) as shores:
        yield shores


@pytest.fixture
def shore(database: str, shores: dict[str, Shore]) -> Shore:
    return shores[database]


@pytest.fixture
def wreckage(shore: Shore, crash: Crash) -> World:
    return shore.find_world(crash)


@pytest.fixture
def client(wreckage: World) -> Client:
    return wreckage.make_client(wreckage.gateways[-1])


@pytest.fixture
def wreck(shore: Shore, crash: Crash) -> Wreck:
    return shore.wrecks[crash]


@of_every_crash
def test_a_payment_cut_off_anywhere_ends_as_the_seam_allows(wreck: Wreck, crash: Crash) -> None:
    assert wreck.ending in crash.endings


@of_every_crash
def test_a_retry_after_the_crash_answers_what_was_recorded(
    wreckage: World, client: Client, wreck: Wreck, crash: Crash
) -> None:
    recorded = wreckage.books.find_by_key(crash.key)
    assert wreck.heard is not None
    assert [record.id for record in recorded] == [wreck.heard.json["id"]]
    assert wreckage.acquirer.read_ledger()[recorded[0].id].charges_seen <= 1
    assert client.get(f"/v1/payments/{recorded[0].id}").code == recorded[0].code
    if wreck.records:
        assert wreck.heard.headers["idempotency-replayed"] == "true"
        assert recorded[0] == wreck.records[0]


def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(shore: Shore) -> None:
    held = [crash for crash in PAYMENT_CRASHES if crash.manner is not Manner.ANSWER]
    acquirer = shore.find_world(held[0]).acquirer
    acquirer.release()
    entries = [acquirer.wait_for_charge(shore.wrecks[crash].records[0].id) for crash in held]
    assert [entry.fate for entry in entries] == [Fate.BLOCKED, Fate.REVERSED]


def test_gateway_and_acquirer_tell_the_same_story_afterwards(shore: Shore) -> None:
    for world in shore.worlds:
        assert world.books.is_quiet()
        assert find_lies(world.books, world.acquirer.read_ledger()) == []
        assert find_chain_lies(world.books, world.acquirer) == []
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(World.verify, shore.worlds)] == [""] * len(shore.worlds)


@of_every_crash
def test_a_reversal_stands_in_the_report_beside_what_it_reversed(client: Client, wreck: Wreck, crash: Crash) -> None:
    report = client.get("/v1/query", {"merchantTransactionId": crash.key}).json["payments"]
    kinds = [payment["paymentType"] for payment in report]
    was_silent = report[0]["result"]["code"] == "900.100.300"
    assert kinds == ([crash.deed.kind, "RV"] if was_silent else [crash.deed.kind])
    assert [payment["referencedId"] for payment in report[1:]] == [report[0]["id"]] * was_silent
    assert wreck.heard is not None
    assert report[0]["id"] == wreck.heard.json["id"]


@pytest.mark.parametrize("crash", STORING_CRASHES, ids=lambda crash: crash.name)
def test_a_retry_after_the_crash_names_the_one_registration_that_was_made(
    wreckage: World, client: Client, wreck: Wreck
) -> None:
    assert wreck.heard is not None
    payment_id, named_id = wreck.heard.json["id"], wreck.heard.json.get("registrationId")
    [made_id] = [each.id for each in wreckage.books.read_registrations() if each.made_by == payment_id]
    # A payment that was declined has stored nothing and names nothing.
    assert named_id == (made_id if wreck.heard.status == 200 else None)
    assert client.get(f"/v1/payments/{payment_id}").json.get("registrationId") == named_id


def test_the_document_of_crash_points_tells_what_this_run_saw(shores: dict[str, Shore]) -> None:
    fresh = {
        title: render_section({name: [shore.wrecks[crash] for crash in crashes] for name, shore in shores.items()})
        for title, crashes in SECTIONS.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
