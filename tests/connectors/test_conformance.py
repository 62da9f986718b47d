"""The rules about money that every connector keeps, whatever its acquirer does.

The connectors under test are the rows of `peers`.
"""

from __future__ import annotations

import pytest

from connectors.cases import CASES, Case, Position
from connectors.driving import APPROVED_CODE, Chain, PeerRow, fall_silent
from connectors.faults import Fault
from connectors.peers import PEERS, TAKEN, UNTAKEN
from tollgate.catalog.results import RESULTS, is_success
from tollgate.connectors.exchange import WireReply
from tollgate.payments.payment import NATURES, Nature, Outcome, Payment, State, Verdict
from tollgate.store.database import Database

pytestmark = pytest.mark.anyio

FAULTS = [*Fault]


@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_an_approval_moves_the_amount_once(store: Database, name: str, case: str) -> None:
    row = PEERS[name]
    peer = row.make(store)
    chain = Chain(row, peer)
    attempt = await chain.prepare(CASES[case])
    assert await peer.read_position() == row.expect(CASES[case].before)

    verdict = await chain.send(attempt)
    payment = await decide(chain, attempt, verdict)

    assert payment.outcome is Outcome.APPROVED
    assert payment.result_code == APPROVED_CODE
    assert "ExtendedDescription" in payment.details
    assert await peer.read_position() == row.expect(CASES[case].after)


async def decide(chain: Chain, attempt: Payment, verdict: Verdict) -> Payment:
    """Completes a payment, and decides what its verdict left open."""
    task = chain.complete(attempt, verdict)
    if task is not None:
        assert verdict.outcome is Outcome.WAITING
        assert "ExtendedDescription" in verdict.details
        chain.peer.decide_waiting()
        await chain.recover(attempt, task)
    return chain.members[attempt.id]


@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_a_decline_moves_nothing(store: Database, name: str, case: str) -> None:
    row = PEERS[name]
    peer = row.make(store)
    chain = Chain(row, peer)
    attempt = await chain.prepare(CASES[case])
    peer.declines = True

    payment = await decide(chain, attempt, await chain.send(attempt))

    assert payment.outcome is Outcome.DECLINED
    assert payment.result_code in RESULTS
    assert not is_success(payment.result_code)
    assert "ExtendedDescription" in payment.details
    assert await peer.read_position() == row.expect(CASES[case].before)


@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_requests_that_arrive_twice_are_executed_once(store: Database, name: str, case: str) -> None:
    row = PEERS[name]
    peer = row.make(store)
    chain = Chain(row, peer)
    attempt = await chain.prepare(CASES[case])
    chain.wire.begin(is_doubled=True)

    payment = await decide(chain, attempt, await chain.send(attempt))

    assert payment.outcome is Outcome.APPROVED
    assert await peer.read_position() == row.expect(CASES[case].after)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_a_fault_is_no_answer_and_recovery_leaves_no_doubt(
    store: Database, name: str, case: str, fault: Fault
) -> None:
    row = PEERS[name]
    peer = row.make(store)
    messages = await Chain(row, peer).count_messages(CASES[case])

    hits = [await meets_fault(store, row, CASES[case], fault, at) for at in range(messages)]

    assert any(hits) or (fault is Fault.AMOUNT and len(CASES[case].steps) > 1), f"no answer of {name} tells {fault}"


async def meets_fault(store: Database, row: PeerRow, case: Case, fault: Fault, at: int) -> bool:
    """Checks a payment with a fault at one message, and returns whether the fault could happen there."""
    peer = row.make(store)
    other = Chain(row, peer)
    if fault is Fault.FOREIGN:
        await other.count_messages(case)
        peer.decide_waiting()
    chain = Chain(row, peer)
    attempt = await chain.prepare(case)
    before = await peer.read_position()
    chain.wire.begin(fault, at)
    chain.wire.foreign = other.wire.replies

    verdict = await chain.send(attempt)

    if not chain.wire.is_hit:
        return False
    assert verdict.outcome in (Outcome.SILENT, Outcome.UNSENT), f"{fault} at message {at}: {verdict.outcome}"
    if verdict.outcome is Outcome.SILENT:
        await recover(chain, attempt, verdict)
    await check_end(chain, attempt, case, before)
    return True


async def recover(chain: Chain, attempt: Payment, verdict: Verdict) -> None:
    """Recovers a silent payment. A shopper may decide meanwhile."""
    task = chain.complete(attempt, verdict)
    assert task is not None
    chain.peer.decide_waiting()
    await chain.recover(attempt, task)


async def check_end(chain: Chain, attempt: Payment, case: Case, before: Position) -> None:
    """Checks that the peer's ledger shows the result of a payment, also after everything has arrived."""
    await chain.wire.deliver_late()
    chain.peer.decide_waiting()
    moved = await chain.peer.read_position() - before
    payment = chain.members[attempt.id]
    if payment.state is State.APPROVED:
        assert moved == chain.row.expect(case.after) - chain.row.expect(case.before)
    else:
        assert moved == Position()
        assert NATURES[payment.payment_type] is not Nature.FOLLOWS or payment.state is State.STARTED


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_a_recovery_that_meets_faults_is_repeated_until_it_is_sure(
    store: Database, name: str, case: str, fault: Fault
) -> None:
    row = PEERS[name]
    for first in (Fault.LOST, Fault.UNANSWERED):
        replies = await list_recovery_replies(store, row, CASES[case], first)
        for at in (*range(len(replies)), None):
            await check_recovery(store, row, CASES[case], first, fault, at, replies)


async def list_recovery_replies(store: Database, row: PeerRow, case: Case, first: Fault) -> list[WireReply]:
    """Returns the answers to a recovery task without faults."""
    chain, attempt, task = await fall_silent(store, row, case, first)
    assert await chain.try_recovery(attempt, task)
    return chain.wire.replies


async def check_recovery(
    store: Database, row: PeerRow, case: Case, first: Fault, fault: Fault, at: int | None, foreign: list[WireReply]
) -> None:
    chain, attempt, task = await fall_silent(store, row, case, first)
    chain.wire.begin(fault, at)
    chain.wire.foreign = foreign
    is_done = await chain.try_recovery(attempt, task)
    assert not is_done or at is not None or not chain.wire.is_hit, f"{fault} at every message"
    if not is_done:
        await chain.recover(attempt, task)
    await check_end(chain, attempt, case, row.expect(case.before))


CHARGES = [taken for taken in TAKEN if len(CASES[str(taken.values[1])].steps) == 1]


@pytest.mark.parametrize(("name", "case"), CHARGES)
async def test_what_the_acquirer_was_never_asked_for_is_not_executed_after_a_question(
    store: Database, name: str, case: str
) -> None:
    row = PEERS[name]
    messages = await Chain(row, row.make(store)).count_messages(CASES[case])
    for at in range(messages):
        chain = Chain(row, row.make(store))
        attempt = await chain.prepare(CASES[case])
        chain.wire.begin(Fault.LATE, at)
        await chain.send(attempt)
        chain.wire.begin()

        verdict = await chain.run(chain.connector.inquire(chain.recall(attempt), APPROVED_CODE))

        await chain.wire.deliver_late()
        chain.peer.decide_waiting()
        assert verdict.outcome in (Outcome.DECLINED, Outcome.SILENT)
        if verdict.outcome is Outcome.DECLINED:
            assert await chain.peer.read_position() == Position()


@pytest.mark.parametrize(("name", "case"), UNTAKEN)
async def test_what_a_connector_does_not_take_is_declined_before_anything_is_sent(
    store: Database, name: str, case: str
) -> None:
    row = PEERS[name]
    chain = Chain(row, row.make(store))
    attempt = await chain.prepare(CASES[case])

    verdict = await chain.send(attempt)

    assert verdict.outcome is Outcome.DECLINED
    assert verdict.code in RESULTS
    assert chain.wire.sent == []
