"""A back-test reports payments that were refused after their approval, reviewed, or made under other rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.contract.risk_rules import read_rule
from tollgate.flows import reviews
from tollgate.flows.try_rules import evaluate_history, try_rules
from tollgate.operations.app import App
from tollgate.operations.risk_rules import add_rule, change_rule
from tollgate.payments.payment import Outcome, Payment, State
from tollgate.payments.reviews import Decision
from tollgate.payments.risk import RiskOutcome, Rule
from tollgate.payments.risk_replay import assume_active
from tollgate.payments.risk_report import Fate
from tollgate.store.risk import list_rules
from tollgate.values import HOUR, SECOND, FixedClock
from unit.app_fixture import MERCHANT, NOW, ScriptedWire, open_app
from unit.flows.chains import REVERSED, begin, follow, happen, read_chain, run_only_job

pytestmark = pytest.mark.anyio

RULE_ID = "8a" + "7" * 30
NO_MATCH = {"kind": "avs", "answers": "N"}
UNMATCHED = b'{"status":"approved","response_code":"00","message":"Fine","avs_response":"N"}'


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[App]:
    app = await open_app(tmp_path, wire)
    yield app
    await app.database.close()


def wait(app: App) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at += HOUR


async def add(app: App, sent: dict[str, str]) -> None:
    await add_rule(app.database, MERCHANT.id, {"mode": "active", **sent}, by="test", now=NOW, new_id=RULE_ID)
    await app.merchants.refresh(app.database)


async def change(app: App, sent: dict[str, str]) -> None:
    await change_rule(app.database, MERCHANT.id, RULE_ID, sent, by="test", now=app.clock.now())
    await app.merchants.refresh(app.database)


def propose(**sent: str) -> Rule:
    return read_rule(sent, merchant_id=MERCHANT.id, rule_id=RULE_ID, version=1, by="test", now=NOW)


async def buy(app: App, wire: ScriptedWire, answer: bytes = UNMATCHED) -> Payment:
    wait(app)
    wire.script = [answer]
    return await begin(app)


async def test_a_part_of_the_past_is_judged_as_within_the_whole(app: App, wire: ScriptedWire) -> None:
    """Windows of totals begin with a full minute, so they are longer than they say."""
    assert isinstance(app.clock, FixedClock)
    rule = propose(kind="count", attribute="channel", window="1m", count="1", mode="active")
    first = await buy(app, wire)
    app.clock.at += 10 * SECOND
    await begin(app)
    app.clock.at += 80 * SECOND
    last = await begin(app)

    async def find_outcome(begins_at: int) -> RiskOutcome:
        pages = evaluate_history(app, MERCHANT.id, [rule], begins_at=begins_at)
        [found] = [each.finding async for page in pages for each in page if each.payment.id == last.id]
        return found.outcome

    assert await find_outcome(first.created_at) is await find_outcome(last.created_at) is RiskOutcome.REFUSE


# ---- what became of a payment ----


async def test_a_payment_refused_after_its_approval_is_declined_and_not_refunded(app: App, wire: ScriptedWire) -> None:
    await add(app, {**NO_MATCH, "outcome": "refuse"})
    refused = await buy(app, wire)
    assert (refused.state, refused.outcome) == (State.DECLINED, Outcome.REFUSED)
    wire.script = [REVERSED]
    assert await run_only_job(app)
    assert [each.payment_type for each in await read_chain(app, refused)] == ["DB", "RV"]

    report = await try_rules(app, MERCHANT.id, assume_active([]))

    assert report.payments.counts == {Fate.DECLINED: 1}
    assert report.changes[RiskOutcome.REFUSE, RiskOutcome.ACCEPT].counts == {Fate.DECLINED: 1}


async def test_a_payment_whose_review_was_rejected_is_declined_and_not_refunded(app: App, wire: ScriptedWire) -> None:
    await add(app, NO_MATCH)
    reviewed = await buy(app, wire)
    wait(app)
    await reviews.decide(app, MERCHANT.id, reviewed.id, Decision.REJECT, "test")
    before = await try_rules(app, MERCHANT.id, [])
    assert await run_only_job(app)
    assert len(await read_chain(app, reviewed)) == 2

    report = await try_rules(app, MERCHANT.id, await list_rules(app.database, MERCHANT.id))

    assert before.payments.counts == report.payments.counts == {Fate.DECLINED: 1}
    assert report.outcomes[RiskOutcome.REVIEW].counts == {Fate.DECLINED: 1}
    assert report.changes == {}


@pytest.mark.parametrize("decision", [None, Decision.ACCEPT])
async def test_a_payment_that_is_under_review_or_was_accepted_is_approved(
    app: App, wire: ScriptedWire, decision: Decision | None
) -> None:
    await add(app, NO_MATCH)
    reviewed = await buy(app, wire)
    wait(app)
    if decision is not None:
        await reviews.decide(app, MERCHANT.id, reviewed.id, decision, "test")

    report = await try_rules(app, MERCHANT.id, await list_rules(app.database, MERCHANT.id))

    assert report.payments.counts == {Fate.APPROVED: 1}
    assert report.changes == {}


async def test_a_merchant_who_refunds_a_payment_under_review_has_refunded_it(app: App, wire: ScriptedWire) -> None:
    await add(app, NO_MATCH)
    reviewed = await buy(app, wire)
    wait(app)
    await follow(app, reviewed, "RF")

    report = await try_rules(app, MERCHANT.id, [])

    assert report.payments.counts == {Fate.APPROVED: 1, Fate.REFUNDED: 1}


async def test_a_chargeback_counts_until_it_is_reversed(app: App, wire: ScriptedWire) -> None:
    paid = await buy(app, wire)
    wait(app)
    await happen(app, paid, "CB")
    charged_back = await try_rules(app, MERCHANT.id, [])
    wait(app)
    [*_, chargeback] = await read_chain(app, paid)
    await happen(app, chargeback, "CR")

    assert charged_back.payments.counts == {Fate.APPROVED: 1, Fate.CHARGED_BACK: 1}
    assert (await try_rules(app, MERCHANT.id, [])).payments.counts == {Fate.APPROVED: 1}


# ---- other rules than then ----


async def test_answers_are_not_asked_for_where_a_rule_refuses_before(app: App, wire: ScriptedWire) -> None:
    """Then nothing would have been sent, so nothing would have been answered."""
    await buy(app, wire)
    too_much = replace(propose(kind="amount", amount="1.00", currency="EUR", mode="active"), id="8a01")
    unmatched = propose(**NO_MATCH, mode="active")

    found = [each async for page in evaluate_history(app, MERCHANT.id, [too_much, unmatched]) for each in page]

    assert [hit.rule_id for each in found for hit in each.finding.hits] == ["8a01"]


async def test_a_rule_in_shadow_changes_an_outcome_only_if_it_is_taken_for_active(app: App, wire: ScriptedWire) -> None:
    await add(app, {**NO_MATCH, "mode": "shadow"})
    await buy(app, wire)
    present = await list_rules(app.database, MERCHANT.id)

    as_it_is = await try_rules(app, MERCHANT.id, present)
    as_if_active = await try_rules(app, MERCHANT.id, assume_active(present))

    assert as_it_is.changes == {}
    assert as_it_is.noted == as_it_is.rules == as_if_active.noted == as_if_active.rules
    assert list(as_if_active.changes) == [(RiskOutcome.ACCEPT, RiskOutcome.REVIEW)]


async def test_a_rule_that_was_switched_off_is_left_out_and_what_it_noted_is_not(app: App, wire: ScriptedWire) -> None:
    await add(app, NO_MATCH)
    await buy(app, wire)
    await change(app, {"mode": "off"})
    await buy(app, wire)

    report = await try_rules(app, MERCHANT.id, assume_active(await list_rules(app.database, MERCHANT.id)))

    assert report.rules == {}
    assert report.noted[RULE_ID].counts == {Fate.APPROVED: 1}
    assert report.changes[RiskOutcome.REVIEW, RiskOutcome.ACCEPT].counts == {Fate.APPROVED: 1}


async def test_the_newest_version_is_compared_with_the_version_that_judged_each_payment(
    app: App, wire: ScriptedWire
) -> None:
    await add(app, NO_MATCH)
    await buy(app, wire)
    await change(app, {"answers": "A"})
    await buy(app, wire)
    await change(app, {"answers": "N,A"})
    newest = await list_rules(app.database, MERCHANT.id)

    report = await try_rules(app, MERCHANT.id, newest)
    versions = [
        hit.version
        async for page in evaluate_history(app, MERCHANT.id, newest)
        for each in page
        for hit in each.finding.hits
    ]

    assert versions == [3, 3]
    assert report.noted[RULE_ID].counts == {Fate.APPROVED: 1}
    assert report.rules[RULE_ID].counts == {Fate.APPROVED: 2}
    assert report.changes[RiskOutcome.ACCEPT, RiskOutcome.REVIEW].counts == {Fate.APPROVED: 1}
