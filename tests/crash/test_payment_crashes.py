"""kill -9 at every crash point of a payment and its recovery: nothing lost, nothing charged twice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from acquirer import Fate, Manner
from crash.crash_runs import (
    Batch,
    CrashRun,
    CrashRuns,
    check_agreement,
    check_document,
    make_batches,
    of_every_batch,
    of_every_crash,
)
from crash.crashes import Crash, CrashCase, run_payment_crashes
from crash.payment_crashes import PAYMENT_CRASHES, PAYMENT_RECOVERIES, STORING_CRASHES
from crash.world import World
from gateway import Client

pytestmark = pytest.mark.timeout(1200)

SECTIONS: dict[str, tuple[Crash, ...]] = {
    "Payments": (*PAYMENT_CRASHES, *PAYMENT_RECOVERIES),
    "Payments that register their card": STORING_CRASHES,
}
BATCHES = make_batches(SECTIONS, ((*STORING_CRASHES, *PAYMENT_CRASHES), PAYMENT_RECOVERIES))
PaymentRun = CrashRun[Crash, CrashCase]
PaymentRuns = CrashRuns[Crash, CrashCase]


def run_share(world: World, _: ExitStack, share: Sequence[Crash]) -> list[CrashCase]:
    return run_payment_crashes(world, share)


@pytest.fixture
def crashed_world(crash_run: PaymentRun, crash: Crash) -> World:
    return crash_run.places[crash]


@pytest.fixture
def client(crashed_world: World) -> Client:
    return crashed_world.make_client(crashed_world.gateways[-1])


@pytest.fixture
def case(crash_run: PaymentRun, crash: Crash) -> CrashCase:
    return crash_run.cases[crash]


@of_every_crash(BATCHES)
def test_a_payment_cut_off_anywhere_ends_as_the_seam_allows(case: CrashCase, crash: Crash) -> None:
    assert case.ending in crash.endings


@of_every_crash(BATCHES)
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


@of_every_batch(BATCHES[:1])
def test_what_the_acquirer_was_still_holding_takes_no_money_when_it_is_let_go(
    crash_run: PaymentRun,
) -> None:
    held = [crash for crash in PAYMENT_CRASHES if crash.manner is not Manner.ANSWER]
    world = crash_run.places[held[0]]
    world.acquirer.release()
    entries = [world.acquirer.wait_for_charge(crash_run.cases[crash].records[0].id) for crash in held]
    assert [entry.fate for entry in entries] == [Fate.BLOCKED, Fate.REVERSED]
    assert world.verify() == ""


@of_every_batch(BATCHES)
def test_gateway_and_acquirer_agree_afterwards(crash_run: PaymentRun) -> None:
    check_agreement(crash_run)


@of_every_crash(BATCHES)
def test_a_reversal_stands_in_the_report_beside_what_it_reversed(client: Client, case: CrashCase, crash: Crash) -> None:
    report = client.get("/v1/query", {"merchantTransactionId": crash.key}).json["payments"]
    kinds = [payment["paymentType"] for payment in report]
    was_silent = report[0]["result"]["code"] == "900.100.300"
    assert kinds == ([crash.request.payment_type, "RV"] if was_silent else [crash.request.payment_type])
    assert [payment["referencedId"] for payment in report[1:]] == [report[0]["id"]] * was_silent
    assert case.heard is not None
    assert report[0]["id"] == case.heard.json["id"]


@of_every_crash(BATCHES, *STORING_CRASHES)
def test_a_retry_after_the_crash_names_the_one_registration_that_was_made(
    crashed_world: World, client: Client, case: CrashCase
) -> None:
    assert case.heard is not None
    payment_id, named_id = case.heard.json["id"], case.heard.json.get("registrationId")
    [made_id] = [each.id for each in crashed_world.store.read_registrations() if each.made_by == payment_id]
    # A payment that was declined has stored nothing and names nothing.
    assert named_id == (made_id if case.heard.status == 200 else None)
    assert client.get(f"/v1/payments/{payment_id}").json.get("registrationId") == named_id


@of_every_batch(BATCHES)
def test_the_document_of_crash_points_says_what_this_run_saw(batch: Batch[Crash], crash_runs: PaymentRuns) -> None:
    check_document(batch, crash_runs)
