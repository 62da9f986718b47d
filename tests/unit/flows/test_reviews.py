"""A decision moves the money of a payment once, whatever the acquirer answers and whoever was faster."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tollgate.flows.reviews import decide
from tollgate.operations import charging
from tollgate.operations.app import App
from tollgate.operations.risk_answers import choose_verdict
from tollgate.operations.signing import TamperedRow, make_signature
from tollgate.payments.payment import Outcome, Payment, State, Verdict
from tollgate.payments.reviews import Decision, ReviewState
from tollgate.payments.splits import Share
from tollgate.store.jobs import Job, ensure_job_writes
from tollgate.store.reviews import find_review
from tollgate.store.statements import Statement, Write
from tollgate.values import DAY, Conflict, FixedClock
from tollgate.wire import Silent, Unsent
from unit.app_fixture import APPROVED, MERCHANT, NOW, ScriptedWire
from unit.flows.chains import DECLINED, follow, happen, meddle_with, read, read_chain, run_only_job, tell
from unit.flows.reviewing import LARGE, accept, begin_review, reject, review_large_amounts

pytestmark = pytest.mark.anyio

TECHNICAL = b'{"status":"declined","response_code":"96","message":"Broken"}'


@pytest.fixture(autouse=True)
async def reviewed(app: App) -> None:
    await review_large_amounts(app)


async def list_later(app: App, first: Payment) -> list[tuple[str, State, int]]:
    _, *later = await read_chain(app, first)
    return [(each.payment_type, each.state, each.money.hundredths) for each in later]


@pytest.mark.parametrize(("code", "expected"), [("000.400.060", "000.400.000"), ("000.400.040", "000.400.040")])
async def test_a_rule_opens_a_review_whatever_reservation_the_approval_has(app: App, code: str, expected: str) -> None:
    payment = await begin_review(app)

    verdict = choose_verdict(app, payment, Verdict(outcome=Outcome.APPROVED, code=code))

    assert verdict.code == expected


# ---- what may follow ----


@pytest.mark.parametrize(
    ("payment_type", "follow_up", "practice", "code"),
    [
        ("PA", "CP", None, "700.400.510"),
        ("PA", "PA", "INCREMENTAL_AUTH", "700.300.200"),
        ("PA", "PA", "REAUTHORIZATION", "700.300.200"),
        ("DB", "RB", None, "700.300.200"),
    ],
)
async def test_nothing_more_is_taken_of_a_rejected_payment_before_it_is_given_back(
    app: App, wire: ScriptedWire, payment_type: str, follow_up: str, practice: str | None, code: str
) -> None:
    payment = await begin_review(app, payment_type)
    await reject(app, payment)
    wire.sent.clear()

    answer = await follow(app, payment, follow_up, 1_000, practice=practice)

    assert tell(answer)[1] == code
    assert wire.sent == []


async def test_a_capture_that_read_the_payment_before_it_was_rejected_is_refused(app: App) -> None:
    payment = await begin_review(app, "PA")
    await reject(app, payment)

    context = await charging.read_own_context(app, payment)

    assert context.is_under_review


async def test_a_rebill_of_a_payment_that_was_rejected_and_refunded_is_refused(app: App) -> None:
    assert isinstance(app.clock, FixedClock)
    payment = await begin_review(app)
    app.clock.at += DAY
    await reject(app, payment)
    assert await run_only_job(app)

    answer = await follow(app, payment, "RB", 1_000)

    assert tell(answer)[1] == "700.300.200"


# ---- giving back ----


@pytest.mark.parametrize(
    ("payment_type", "days", "expected"),
    [("DB", 0, "RV"), ("PA.CP", 0, "RV"), ("PA", 0, "RV"), ("DB", 1, "RF"), ("PA.CP", 1, "RF"), ("PA", 6, "RV")],
)
async def test_a_payment_is_reversed_on_its_day_and_refunded_later(
    app: App, payment_type: str, days: int, expected: str
) -> None:
    assert isinstance(app.clock, FixedClock)
    payment = await begin_review(app, payment_type)
    app.clock.at += days * DAY
    await reject(app, payment)

    assert await run_only_job(app)

    assert await list_later(app, payment) == [(expected, State.APPROVED, LARGE.hundredths)]


async def test_an_authorization_that_has_expired_says_why_nothing_was_given_back(app: App, wire: ScriptedWire) -> None:
    assert isinstance(app.clock, FixedClock)
    payment = await begin_review(app, "PA")
    app.clock.at += 8 * DAY
    await reject(app, payment)
    wire.sent.clear()

    assert await run_only_job(app)

    assert await list_later(app, payment) == [("RV", State.DECLINED, LARGE.hundredths)]
    assert wire.sent == []


@pytest.mark.parametrize("failure", [[Unsent(), Unsent()], [TECHNICAL]], ids=["unsent", "technical"])
@pytest.mark.parametrize("payment_type", ["DB", "PA"])
async def test_a_reversal_that_fails_technically_is_tried_again_as_a_reversal(
    app: App, wire: ScriptedWire, payment_type: str, failure: list[bytes | Exception]
) -> None:
    payment = await begin_review(app, payment_type)
    await reject(app, payment)
    wire.script = [*failure]

    first, second = await run_only_job(app), await run_only_job(app)

    assert (first, second) == (False, True)
    assert [(kind, state) for kind, state, _ in await list_later(app, payment)] == [
        ("RV", State.DECLINED),
        ("RV", State.APPROVED),
    ]


async def test_a_silent_reversal_is_not_sent_beside_another(app: App, wire: ScriptedWire) -> None:
    payment = await begin_review(app)
    await reject(app, payment)
    wire.script = [Silent()]
    first = await run_only_job(app)
    [(kind, state, _)] = await list_later(app, payment)

    assert not first
    assert (kind, state) == ("RV", State.UNRESOLVED)
    assert len(await read_chain(app, payment)) == 2


async def test_refunds_that_the_acquirer_keeps_declining_come_to_an_end(app: App, wire: ScriptedWire) -> None:
    payment = await begin_review(app)
    await reject(app, payment)
    wire.script = [DECLINED] * 100
    tries = 1

    while not await run_only_job(app):
        tries += 1

    kinds = [kind for kind, _, _ in await list_later(app, payment)]
    assert kinds == ["RV", *["RF"] * 12]
    assert tries == 14
    wire.script = [APPROVED]
    assert tell(await follow(app, payment, "RF", LARGE.hundredths))[1] == "000.100.110"


async def test_what_the_merchant_refunds_while_it_is_rejected_is_not_given_back_twice(
    app: App, wire: ScriptedWire
) -> None:
    payment = await begin_review(app)

    async def reject_meanwhile() -> None:
        wire.meanwhile = None
        await reject(app, payment)

    wire.meanwhile = reject_meanwhile
    await follow(app, payment, "RF", 20_000)

    assert await run_only_job(app)
    assert await list_later(app, payment) == [
        ("RF", State.APPROVED, 20_000),
        ("RF", State.APPROVED, LARGE.hundredths - 20_000),
    ]
    review = await find_review(app.database, MERCHANT.id, payment.id)
    assert review is not None
    assert review.state is ReviewState.REJECTED


async def test_giving_back_waits_for_a_refund_that_is_under_way(app: App, wire: ScriptedWire) -> None:
    payment = await begin_review(app)
    done: list[bool] = []

    async def reject_and_give_back() -> None:
        wire.meanwhile = None
        await reject(app, payment)
        done.append(await run_only_job(app))

    wire.meanwhile = reject_and_give_back
    await follow(app, payment, "RF", LARGE.hundredths)

    assert done == [False]
    assert await run_only_job(app)
    assert await list_later(app, payment) == [("RF", State.APPROVED, LARGE.hundredths)]


async def test_a_charged_back_payment_is_not_given_back_as_well(app: App, wire: ScriptedWire) -> None:
    payment = await begin_review(app)
    await happen(app, payment, "CB", LARGE.hundredths)
    await reject(app, payment)
    wire.sent.clear()

    assert await run_only_job(app)

    assert [(kind, state) for kind, state, _ in await list_later(app, payment)] == [
        ("CB", State.APPROVED),
        ("RV", State.DECLINED),
    ]
    assert wire.sent == []


async def test_sellers_give_back_what_each_had(app: App) -> None:
    payment = await begin_review(app, split=(Share("ann", 40_000), Share("bob", 20_000)))
    await reject(app, payment)

    assert await run_only_job(app)

    _, reversal = await read_chain(app, payment)
    assert {share.seller_id: share.amount for share in reversal.split} == {"ann": 40_000, "bob": 20_000}


async def test_a_job_gives_nothing_back_of_a_payment_that_nobody_rejected(app: App, wire: ScriptedWire) -> None:
    payment = await begin_review(app)
    forged = Job(
        id=f"give_back.{payment.id}", merchant_id=MERCHANT.id, topic="give_back", subject_id=payment.id, due_at=NOW
    )
    await app.database.write(ensure_job_writes(forged), label="test")
    wire.sent.clear()

    with pytest.raises(TamperedRow):
        await run_only_job(app)

    assert wire.sent == []


# ---- deciding ----


async def test_a_decision_that_was_overtaken_is_refused_and_changes_nothing(app: App) -> None:
    payment = await begin_review(app)
    others = [True]

    async def accept_first() -> bool:
        if others:
            others.pop()
            await accept(app, payment)
        return True

    with pytest.raises(Conflict):
        await reject(meddle_with(app, accept_first), payment)

    decided = await read(app, payment.id)
    assert decided.result_code == "000.100.110"
    assert decided.mac == make_signature(decided, app.keyring)
    assert len(await read_chain(app, payment)) == 1


async def test_a_tampered_payment_is_not_signed_again_by_a_decision(app: App) -> None:
    payment = await begin_review(app)
    raised = Statement(sa.text("UPDATE payments SET amount = amount + 1 WHERE id = :id"), is_write=True)
    await app.database.write([Write(raised, {"id": payment.id})], label="test")

    with pytest.raises(TamperedRow):
        await decide(app, MERCHANT.id, payment.id, Decision.ACCEPT, "jo")
