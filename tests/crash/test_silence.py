"""An acquirer that falls silent, talks nonsense or is away for a while: what the merchant gets, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from acquirer import Entry, Fate, Manner
from crash.store_reader import find_contradictions
from crash.world import World, insist, pay
from gateway import Answer, Client
from tollgate.connectors.acquiring import INQUIRIES, REVERSALS
from tollgate.connectors.card import CHARGES

APPROVED, DECLINED = "000.100.112", "800.100.152"
SILENT, PENDING, NOT_FOUND, UNREACHABLE = "900.100.300", "000.200.000", "900.100.310", "900.100.600"

TOOK_MONEY = (Manner.ACT_AND_HOLD, Manner.ACT_AND_DROP, Manner.GARBAGE, Manner.HALF, Manner.ERROR)
TOOK_NONE = (Manner.HOLD, Manner.DROP)


@dataclass(frozen=True)
class Case:
    payment_type: str
    manner: Manner
    heard: str
    """The first answer that the merchant gets."""
    ending: str
    fate: Fate
    cents: int = 0

    @property
    def key(self) -> str:
        return f"silence-{CASES.index(self):04d}"

    @property
    def amount(self) -> str:
        return f"{CASES.index(self) + 1}.{self.cents:02d}"


CASES = (
    *(Case("DB", manner, SILENT, SILENT, Fate.REVERSED) for manner in TOOK_MONEY),
    *(Case("DB", manner, SILENT, SILENT, Fate.BLOCKED) for manner in TOOK_NONE),
    Case("PA", Manner.ACT_AND_DROP, SILENT, SILENT, Fate.REVERSED),
    Case("PA", Manner.DROP, SILENT, SILENT, Fate.BLOCKED),
    # A declined charge is not known to be declined, so it is reversed like one that took money.
    Case("DB", Manner.ACT_AND_DROP, SILENT, SILENT, Fate.DECLINED, cents=5),
    *(Case("CD", manner, PENDING, APPROVED, Fate.APPROVED) for manner in TOOK_MONEY),
    *(Case("CD", manner, PENDING, NOT_FOUND, Fate.BLOCKED) for manner in TOOK_NONE),
    Case("CD", Manner.ACT_AND_DROP, PENDING, DECLINED, Fate.DECLINED, cents=5),
    # What the acquirer itself leaves open is asked about until it is decided.
    *(Case(payment_type, Manner.ACT_AND_PEND, PENDING, APPROVED, Fate.APPROVED) for payment_type in ("DB", "PA", "CD")),
    Case("DB", Manner.ACT_AND_PEND, PENDING, DECLINED, Fate.DECLINED, cents=5),
)
FIRST_FREE_AMOUNT = len(CASES) + 1

of_every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.payment_type} {case.manner} {case.fate}"
)


@dataclass(frozen=True)
class Story:
    world: World
    heard: dict[Case, Answer]

    @property
    def client(self) -> Client:
        return self.world.make_client(self.world.gateways[0])

    def find_entry(self, payment_id: str) -> Entry:
        return self.world.acquirer.read_ledger()[payment_id]

    def list_payment_types(self, reference: str) -> list[str]:
        report = self.client.get("/v1/query", {"merchantTransactionId": reference}).json
        return [payment["paymentType"] for payment in report["payments"]]


def run(world: World) -> Story:
    world.make_gateway().start()
    story = Story(world, {})
    for case in CASES:
        world.acquirer.behave(CHARGES, case.manner, times=1)
        story.heard[case] = pay(story.client, case.amount, case.key, case.payment_type)
    world.store.wait_until_nothing_is_open()
    world.acquirer.release()
    return story


@pytest.fixture(scope="module")
def stories(worlds: dict[str, World]) -> dict[str, Story]:
    with ThreadPoolExecutor(len(worlds)) as pool:
        return dict(zip(worlds, pool.map(run, worlds.values()), strict=True))


@pytest.fixture
def story(database: str, stories: dict[str, Story]) -> Story:
    return stories[database]


@pytest.fixture
def new_story(story: Story) -> Iterator[Story]:
    """Tests that go on paying use this: afterwards everything completes and agrees with the acquirer's ledger."""
    yield story
    story.world.store.wait_until_nothing_is_open()
    check_ledgers(story)


def check_ledgers(story: Story) -> None:
    assert find_contradictions(story.world.store, story.world.acquirer.read_ledger()) == []


def test_gateway_and_acquirer_agree(story: Story) -> None:
    check_ledgers(story)


@of_every_case
def test_doubt_about_a_payment_is_failure_and_doubt_about_a_credit_is_pending(story: Story, case: Case) -> None:
    assert story.heard[case].code == case.heard


@of_every_case
def test_a_failed_payment_takes_no_money_and_a_credit_is_paid_out_at_most_once(story: Story, case: Case) -> None:
    payment_id = story.heard[case].json["id"]
    entry = story.find_entry(payment_id)
    assert entry.fate is case.fate
    assert entry.charges_seen <= 1
    assert story.client.get(f"/v1/payments/{payment_id}").code == case.ending


@of_every_case
def test_only_what_was_given_back_has_a_reversal_in_the_report(story: Story, case: Case) -> None:
    assert story.list_payment_types(case.key) == (
        [case.payment_type, "RV"] if case.ending == SILENT else [case.payment_type]
    )


@of_every_case
def test_the_key_repeats_the_answer_and_charges_nothing(story: Story, case: Case) -> None:
    again = insist(story.client, case.amount, case.key, case.payment_type)
    assert (again.status, again.body) == (story.heard[case].status, story.heard[case].body)
    assert story.find_entry(again.json["id"]).charges_seen <= 1


def test_a_reversal_is_repeated_until_the_acquirer_confirms_it(new_story: Story) -> None:
    new_story.world.acquirer.behave(CHARGES, Manner.ACT_AND_DROP, times=1)
    new_story.world.acquirer.behave(REVERSALS, Manner.GARBAGE, times=1)
    answer = pay(new_story.client, f"{FIRST_FREE_AMOUNT}.00", "stubborn-reversal")
    new_story.world.store.wait_until_nothing_is_open()
    entry = new_story.find_entry(answer.json["id"])
    assert (entry.fate, entry.reversals_seen) == (Fate.REVERSED, 2)
    assert new_story.list_payment_types("stubborn-reversal") == ["DB", "RV"]


def test_a_credit_is_asked_about_again_while_the_acquirer_does_not_know_yet(new_story: Story) -> None:
    new_story.world.acquirer.behave(CHARGES, Manner.ACT_AND_DROP, times=1)
    new_story.world.acquirer.behave(INQUIRIES, Manner.PENDING, times=1)
    answer = pay(new_story.client, f"{FIRST_FREE_AMOUNT + 1}.00", "slow-credit", "CD")
    new_story.world.store.wait_until_nothing_is_open()
    assert new_story.client.get(f"/v1/payments/{answer.json['id']}").code == APPROVED


def test_an_acquirer_that_is_away_takes_no_money_and_is_owed_nothing(new_story: Story) -> None:
    new_story.world.acquirer.shut()
    try:
        answer = pay(new_story.client, f"{FIRST_FREE_AMOUNT + 2}.00", "acquirer-away")
    finally:
        new_story.world.acquirer.open()
    assert answer.code == UNREACHABLE
    assert new_story.world.store.has_nothing_open()
    assert new_story.list_payment_types("acquirer-away") == ["DB"]


def test_what_is_owed_to_an_acquirer_waits_until_it_is_back(new_story: Story) -> None:
    acquirer = new_story.world.acquirer
    seen = acquirer.count_requests(CHARGES)
    acquirer.behave(CHARGES, Manner.ACT_AND_HOLD, times=1)
    with ThreadPoolExecutor(1) as shopper:
        paying = shopper.submit(pay, new_story.client, f"{FIRST_FREE_AMOUNT + 3}.00", "acquirer-outage")
        acquirer.wait_for_requests(CHARGES, seen + 1)
        acquirer.shut()
    try:
        answer = paying.result()
        assert answer.code == SILENT
        time.sleep(1.2)
        assert not new_story.world.store.has_nothing_open()
        assert new_story.find_entry(answer.json["id"]).fate is Fate.APPROVED
    finally:
        acquirer.open()
    new_story.world.store.wait_until_nothing_is_open()
    assert new_story.find_entry(answer.json["id"]).fate is Fate.REVERSED
