"""kill -9 at every seam of a payment and of its recovery, on both databases: nothing lost, nothing charged twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from acquirer import Fate, Manner
from crash.books import find_lies
from crash.chain_books import find_chain_lies
from crash.payment_crashes import PAYMENT_CRASHES, STORING_CRASHES
from crash.points import compare_with_document, render_section
from crash.world import World
from crash.wreckage import Crash, Wreck, wreck_everything
from gateway import Client

pytestmark = pytest.mark.timeout(300)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "Payments": PAYMENT_CRASHES,
    "Payments that store their card": STORING_CRASHES,
}
# Those with recoveries come last in the first section, and wait until everything before them is finished.
CRASHES = (*STORING_CRASHES, *PAYMENT_CRASHES)

of_every_crash = pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)


@pytest.fixture(scope="module")
def wrecks(worlds: dict[str, World]) -> dict[str, list[Wreck]]:
    """Both at once, because starting servers is most of the work and there are two cores."""
    with ThreadPoolExecutor(len(worlds)) as pool:
        made = pool.map(lambda world: wreck_everything(world, CRASHES), worlds.values())
        return dict(zip(worlds, made, strict=True))


@pytest.fixture
def wreckage(database: str, worlds: dict[str, World], wrecks: dict[str, list[Wreck]]) -> World:
    assert len(wrecks[database]) == len(CRASHES)
    return worlds[database]


@pytest.fixture
def client(wreckage: World) -> Client:
    return wreckage.make_client(wreckage.gateways[-1])


@pytest.fixture
def wreck(database: str, wrecks: dict[str, list[Wreck]], crash: Crash) -> Wreck:
    return wrecks[database][CRASHES.index(crash)]


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


def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(
    database: str, wreckage: World, wrecks: dict[str, list[Wreck]]
) -> None:
    ids = [wreck.records[0].id for wreck in wrecks[database] if wreck.crash.manner is not Manner.ANSWER]
    wreckage.acquirer.release()
    entries = [wreckage.acquirer.wait_for_charge(id) for id in ids]
    assert [entry.fate for entry in entries] == [Fate.BLOCKED, Fate.REVERSED]


def test_gateway_and_acquirer_tell_the_same_story_afterwards(wreckage: World) -> None:
    assert find_lies(wreckage.books, wreckage.acquirer.read_ledger()) == []
    assert find_chain_lies(wreckage.books, wreckage.acquirer) == []
    assert wreckage.verify() == ""


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
    payment_id, named_id = wreck.heard.json["id"], wreck.heard.json["registrationId"]
    assert [each.id for each in wreckage.books.read_registrations() if each.made_by == payment_id] == [named_id]
    assert client.get(f"/v1/payments/{payment_id}").json["registrationId"] == named_id


def test_the_document_of_crash_points_tells_what_this_run_saw(wrecks: dict[str, list[Wreck]]) -> None:
    fresh = {
        title: render_section(
            {name: [made[CRASHES.index(crash)] for crash in crashes] for name, made in wrecks.items()}
        )
        for title, crashes in SECTIONS.items()
    }
    written, true = compare_with_document(fresh)
    assert written == true, "if the change is meant: make crashes"
