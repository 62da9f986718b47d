"""kill -9 at every seam of a payment and of its recovery, on both databases: nothing lost, nothing charged twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from acquirer import Fate
from crash.books import find_lies
from crash.world import World, insist
from crash.wreckage import APPROVED, CRASHES, UNHEARD, Crash, wreck_everything
from gateway import Client

pytestmark = pytest.mark.timeout(110)


@pytest.fixture(scope="module")
def wreckages(worlds: dict[str, World]) -> dict[str, World]:
    """Both at once, because starting servers is most of the work and there are two cores."""
    with ThreadPoolExecutor(len(worlds)) as pool:
        list(pool.map(wreck_everything, worlds.values()))
    for world in worlds.values():
        world.make_gateway().start()
    return worlds


@pytest.fixture
def wreckage(database: str, wreckages: dict[str, World]) -> World:
    wreckages[database].books.wait_until_quiet()
    return wreckages[database]


@pytest.fixture
def client(wreckage: World) -> Client:
    return wreckage.make_client(wreckage.gateways[-1])


@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)
def test_a_payment_cut_off_anywhere_ends_as_the_seam_allows(wreckage: World, crash: Crash) -> None:
    records = wreckage.books.find_by_key(crash.key)
    ledger = wreckage.acquirer.read_ledger()
    endings = [(record.code, ledger[record.id].fate) for record in records] or [UNHEARD]
    assert len(endings) == 1
    assert endings[0] in crash.endings


@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)
def test_a_retry_after_the_crash_answers_what_was_recorded(wreckage: World, client: Client, crash: Crash) -> None:
    before = wreckage.books.find_by_key(crash.key)
    charges_before = len(wreckage.acquirer.read_ledger())
    answer = insist(client, crash.amount, crash.key, crash.kind)
    after = wreckage.books.find_by_key(crash.key)
    assert len(after) == 1
    assert answer.json["id"] == after[0].id
    if not before:
        assert answer.code == APPROVED
        return
    assert after == before
    assert answer.headers["idempotency-replayed"] == "true"
    assert len(wreckage.acquirer.read_ledger()) == charges_before
    # A credit is answered as pending first, and that answer is repeated; what it came to is read by its id.
    assert client.get(f"/v1/payments/{after[0].id}").code == after[0].code
    assert answer.code == ("000.200.000" if crash.kind == "CD" else after[0].code)


def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(wreckage: World) -> None:
    held = [crash for crash in CRASHES if not crash.seam]
    ids = [record.id for crash in held for record in wreckage.books.find_by_key(crash.key)]
    assert len(ids) == len(held)
    wreckage.acquirer.release()
    entries = [wreckage.acquirer.wait_for_charge(id) for id in ids]
    assert [entry.fate for entry in entries] == [Fate.BLOCKED, Fate.REVERSED]


def test_gateway_and_acquirer_tell_the_same_story_afterwards(wreckage: World) -> None:
    assert find_lies(wreckage.books, wreckage.acquirer.read_ledger()) == []


@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.name)
def test_a_reversal_stands_in_the_report_beside_what_it_reversed(client: Client, crash: Crash) -> None:
    insist(client, crash.amount, crash.key, crash.kind)
    report = client.get("/v1/query", {"merchantTransactionId": crash.key}).json["payments"]
    kinds = [payment["paymentType"] for payment in report]
    was_silent = report[0]["result"]["code"] == "900.100.300"
    assert kinds == ([crash.kind, "RV"] if was_silent else [crash.kind])
    assert [payment["referencedId"] for payment in report[1:]] == [report[0]["id"]] * was_silent
