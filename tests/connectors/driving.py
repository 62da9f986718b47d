"""Runs payments through a connector as the flows do: by the tables of follow-ups and moves, over a wire that fails.

What must hold after each run is in the tests; the acquirers are in `peers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from itertools import count, pairwise
from typing import Protocol

from msgspec.structs import replace

from tollgate.catalog import codes
from tollgate.connectors.exchange import AcquirerAccount, Connector, Exchange, Original, WireReply, WireRequest
from tollgate.connectors.table import ConnectorRow
from tollgate.operations.charging import get_wire_word, plan_attempt
from tollgate.operations.dispatch import dispatch
from tollgate.payments import chain
from tollgate.payments.accounts import CardAccount
from tollgate.payments.completion import complete
from tollgate.payments.following import INCREMENTAL_PRACTICE, choose_following
from tollgate.payments.order import Order, TestMode
from tollgate.payments.payment import DECIDED, OPEN_STATES, Outcome, Payment, RecoveryTask, State, Verdict
from tollgate.store.database import Database
from tollgate.values import DAY, SECOND, ChannelId, MerchantId, Money, PaymentId, to_instant
from tollgate.wire import Silent, Unsent

APPROVED_CODE = codes.SUCCEEDED_EXTERNAL_TEST
NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
TIMEOUT_S = 60.0
TRIES_MAX = 5
"""A recovery task that meets no fault is done after this many tries; most need one."""
MESSAGES_MAX = 50
"""No exchange with a peer of these tests takes more messages; one that does would never end."""
AMOUNT = 10_000
"""The amount of a first payment, in hundredths. Peers may decline amounts with other cents."""


@dataclass(frozen=True)
class Position:
    """The money that a peer holds and has taken, of all payments together, in minor units.

    What it gave back or paid out is subtracted.
    """

    held: int = 0
    taken: int = 0

    def __sub__(self, other: Position) -> Position:
        return Position(self.held - other.held, self.taken - other.taken)


class Peer(Protocol):
    """An acquirer on the other side of the wire, with a ledger of its own."""

    declines: bool
    """Whether it declines requests that would move money."""

    async def answer(self, request: WireRequest) -> WireReply:
        """Acts and answers, as a healthy acquirer does."""
        ...

    async def read_position(self) -> Position: ...

    def decide_waiting(self) -> None:
        """Decides what was answered as waiting."""
        ...

    def alter_amount(self, reply: WireReply) -> WireReply | None:
        """Returns the answer with another amount; None where this answer contains none."""
        ...

    def names_payment(self, reply: WireReply) -> bool:
        """Tells whether an answer names its payment, so that it cannot be taken for the answer to another."""
        ...


@dataclass(frozen=True)
class PeerRow:
    """A connector under test, with the acquirer that answers it."""

    connector: ConnectorRow
    make: Callable[[Database], Peer]
    """Makes a peer with an empty ledger. The store is there for peers that need one."""
    order: Order
    """A first payment; its type and amount are replaced."""
    account: AcquirerAccount | None = None
    takes: frozenset[str] = frozenset({"PA", "DB", "PA.CP", "CD"})
    """The types of first payments that the connector sends; others it declines."""
    words: frozenset[str] = frozenset({"capture", "reversal", "refund", "rebill", "increment", "renewal"})
    """The follow-ups that the connector sends; others it declines."""
    currencies: tuple[str, ...] = ("EUR", "JPY", "KWD")
    holds: bool = True
    """Whether an authorization holds money; that of a direct debit only notes the mandate."""

    def expect(self, position: Position, hundred: int = AMOUNT) -> Position:
        """Returns a position in percent as this peer has it. hundred: the first amount in minor units."""
        held = position.held * hundred // 100 if self.holds else 0
        return Position(held, position.taken * hundred // 100)

    def takes_case(self, case: Case) -> bool:
        return self.takes_steps(case.steps)

    def takes_start(self, case: Case) -> bool:
        """Tells whether all steps but the last are taken."""
        return self.takes_steps(case.steps[:-1])

    def takes_steps(self, steps: tuple[Step, ...]) -> bool:
        words = (choose_word(step, before) for before, step in pairwise(steps))
        return self.takes.issuperset(step.payment_type for step in steps[:1]) and self.words.issuperset(words)


@dataclass(frozen=True)
class Step:
    """A payment. All but the first follow the one before."""

    payment_type: str
    percent: int = 100
    """The amount, as a part of that of the first payment."""
    practice: str | None = None


@dataclass(frozen=True)
class Case:
    """Payments that follow each other, and the position of the peer, in percent, before and after the last of them."""

    steps: tuple[Step, ...]
    after: Position
    before: Position = Position()

    @property
    def name(self) -> str:
        return "-".join(step.practice or step.payment_type for step in self.steps)


def choose_word(step: Step, before: Step) -> str:
    following = choose_following(step.payment_type, before.payment_type, step.practice)
    assert following is not None
    assert following.wire_word is not None
    return following.wire_word


_PA, _DB, _CP = Step("PA"), Step("DB"), Step("CP")
_HELD, _TAKEN = Position(held=100), Position(taken=100)
_MORE = Step("PA", 40, INCREMENTAL_PRACTICE)
_AGAIN = Step("PA", 80, "REAUTHORIZATION")

CASES: Mapping[str, Case] = {
    case.name: case
    for case in (
        Case((_PA,), _HELD),
        Case((_DB,), _TAKEN),
        Case((Step("PA.CP"),), _TAKEN),
        Case((Step("CD"),), Position(taken=-100)),
        Case((_PA, _CP), _TAKEN, _HELD),
        Case((_PA, Step("RV")), Position(), _HELD),
        Case((_DB, Step("RV")), Position(), _TAKEN),
        Case((_DB, Step("RF", 40)), Position(taken=60), _TAKEN),
        Case((_PA, _CP, Step("RF", 40)), Position(taken=60), _TAKEN),
        Case((_PA, _CP, Step("RV")), Position(), _TAKEN),
        Case((_DB, Step("RB", 40)), Position(taken=140), _TAKEN),
        Case((_DB, Step("RB", 40), Step("RF", 40)), _TAKEN, Position(taken=140)),
        Case((_PA, _MORE), Position(held=140), _HELD),
        Case((_PA, _AGAIN), Position(held=180), _HELD),
    )
}


class Fault(StrEnum):
    """A fault of the wire or the acquirer, at one message."""

    LOST = "the request is lost"
    LATE = "the request arrives when everything is over"
    UNANSWERED = "the answer is lost"
    UNSENT = "the request cannot be sent"
    EMPTY = "an empty answer"
    NOISE = "an answer of noise"
    CUT = "half an answer"
    DOUBLED = "an answer that begins again"
    DEEP = "an answer without an end of its brackets"
    PAGE = "a page of a proxy"
    FAILED = "an answer with the status of a failure"
    ECHO = "the request as its own answer"
    AMOUNT = "an answer with another amount"
    FOREIGN = "the answer to another payment"


_ALTERATIONS: Mapping[Fault, Callable[[WireRequest, WireReply], WireReply]] = {
    Fault.EMPTY: lambda _request, reply: WireReply(reply.status, b""),
    Fault.NOISE: lambda _request, reply: WireReply(reply.status, bytes(range(256))),
    Fault.CUT: lambda _request, reply: WireReply(reply.status, reply.body[: len(reply.body) // 2]),
    Fault.DOUBLED: lambda _request, reply: WireReply(reply.status, reply.body * 2),
    Fault.DEEP: lambda _request, reply: WireReply(reply.status, b"[" * 100_000),
    Fault.PAGE: lambda _request, _reply: WireReply(200, b"<html><body>Bad gateway</body></html>"),
    Fault.FAILED: lambda _request, reply: WireReply(502, reply.body),
    Fault.ECHO: lambda request, reply: WireReply(reply.status, request.body),
}


class FaultyWire:
    """Carries requests to a peer, and fails at one message of an exchange, or at all of them."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.begin()
        self.late: list[WireRequest] = []
        """The requests that are still under way."""
        self.foreign: list[WireReply] = []
        """The answers to the same messages about another payment."""

    def begin(self, fault: Fault | None = None, at: int | None = None, *, is_doubled: bool = False) -> None:
        """Begins an exchange. at: the number of the message with the fault; None for all messages."""
        self._fault, self._at, self._is_doubled = fault, at, is_doubled
        self.sent: list[WireRequest] = []
        self.replies: list[WireReply] = []
        self.is_hit = False
        """Whether the fault happened."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        fault = self._fault if self._at in (None, len(self.sent)) else None
        if fault is Fault.UNSENT:
            self.is_hit = True
            raise Unsent
        self.sent.append(request)
        assert len(self.sent) <= MESSAGES_MAX, f"the exchange does not end: {request.method} {request.path}"
        if fault in (Fault.LOST, Fault.LATE):
            self.is_hit = True
            self.late += [request] if fault is Fault.LATE else []
            raise Silent
        reply = await self._peer.answer(request)
        if self._is_doubled:
            reply = await self._peer.answer(request)
        self.replies.append(reply)
        return reply if fault is None else self._alter(fault, request, reply)

    def _alter(self, fault: Fault, request: WireRequest, reply: WireReply) -> WireReply:
        altered: WireReply | None
        if fault is Fault.UNANSWERED:
            self.is_hit = True
            raise Silent
        if fault is Fault.AMOUNT:
            altered = self._peer.alter_amount(reply)
        elif fault is Fault.FOREIGN:
            altered = next(filter(self._peer.names_payment, self.foreign[len(self.sent) - 1 : len(self.sent)]), None)
        else:
            altered = _ALTERATIONS[fault](request, reply)
        self.is_hit = altered is not None
        return reply if altered is None else altered

    async def deliver_late(self) -> None:
        """Lets the requests arrive that are under way; nobody waits for their answers any more."""
        while self.late:
            await self._peer.answer(self.late.pop(0))


_TERMS = chain.Terms(now=NOW, authorization_lifetime=7 * DAY, captures_max=10, rebills_max=10)
_numbers = count()


class Chain:
    """The payments of one chain, without a store."""

    def __init__(self, row: PeerRow, peer: Peer, currency: str = "EUR", amount: int = AMOUNT) -> None:
        self.row, self.peer = row, peer
        self.connector: Connector = row.connector.make(row.account)
        self.wire = FaultyWire(peer)
        self.order = replace(row.order, money=Money(amount, currency))
        self.members: dict[str, Payment] = {}
        self.notes: list[tuple[WireRequest, WireReply | str]] = []

    @property
    def last(self) -> Payment:
        return [*self.members.values()][-1]

    def start(self, step: Step) -> Payment:
        """Starts the next payment of the chain."""
        attempt = self._start_follow_up(step) if self.members else self._start_first(step)
        self._keep(attempt)
        return attempt

    def _start_first(self, step: Step) -> Payment:
        self.order = order = replace(self.order, payment_type=step.payment_type)
        return Payment(
            id=make_payment_id(),
            merchant_id=MerchantId("8a" + "1" * 30),
            channel_id=ChannelId("8a" + "2" * 30),
            payment_type=order.payment_type,
            state=State.STARTED,
            money=order.money,
            brand=order.brand,
            method=order.method,
            descriptor=order.descriptor,
            short_id=order.short_id,
            ndc="8a" + "3" * 30,
            created_at=NOW,
            deadline_at=NOW + 60 * SECOND,
            test_mode=TestMode.EXTERNAL,
            merchant_transaction_id=order.merchant_transaction_id,
            echo=order.echo,
        )

    def _start_follow_up(self, step: Step) -> Payment:
        named, first = self.last, next(iter(self.members.values()))
        attempt = replace(
            named,
            id=make_payment_id(),
            payment_type=step.payment_type,
            state=State.STARTED,
            referenced_id=named.id,
            chain_id=first.id,
            position=len(self.members) + 1,
            outcome=None,
            result_code="",
            details={},
            completed_at=None,
        )
        money = Money(first.money.hundredths * step.percent // 100, named.money.currency)
        request = chain.FollowUpRequest(payment_type=step.payment_type, money=money, practice=step.practice)
        context = chain.ChainContext(named=named, money_source=named, first=first)
        decision = chain.decide_follow_up(request, context, _TERMS)
        assert isinstance(decision, chain.Plan), decision
        return plan_attempt(attempt, decision)

    def _keep(self, payment: Payment) -> None:
        self.members[payment.id] = payment
        balances = chain.count_chain(self.members.values())
        for each in self.members.values():
            self.members[each.id] = replace(each, balance=balances[each.id])

    async def send(self, attempt: Payment) -> Verdict:
        """Sends an attempt for the first time."""
        if attempt.referenced_id is None:
            return await self.run(self.connector.charge(self.order, attempt, APPROVED_CODE, back_url="https://x.test/"))
        original = self.recall(self.members[attempt.referenced_id])
        word = get_wire_word(attempt)
        return await self.run(self.connector.follow_up(attempt, word, APPROVED_CODE, original=original))

    async def run(self, exchange: Exchange) -> Verdict:
        def note(request: WireRequest, reply: WireReply | str) -> None:
            self.notes.append((request, reply))

        return await dispatch(exchange, self.wire, timeout_s=TIMEOUT_S, label="conformance", note=note)

    def recall(self, payment: Payment) -> Original:
        """Returns a payment as later messages need it: its account without the CVV."""
        first = next(iter(self.members.values()))
        account = self.order.account if self.row.connector.needs_account else None
        if isinstance(account, CardAccount):
            account = replace(account, cvv=None)
        return Original(payment=self.members[payment.id], first=first, account=account)

    def complete(self, attempt: Payment, verdict: Verdict) -> RecoveryTask | None:
        completion = complete(attempt, verdict, NOW)
        self._keep(completion.payment)
        return completion.recovery_task

    async def try_recovery(self, payment: Payment, task: RecoveryTask) -> bool:
        """Runs a recovery task once, and returns whether it is done."""
        payment = self.members[payment.id]
        if task is RecoveryTask.REVERSE:
            return (await self.run(self.connector.reverse(self.recall(payment)))).outcome is Outcome.APPROVED
        assert payment.state in OPEN_STATES
        if task is RecoveryTask.INQUIRE:
            exchange = self.connector.inquire(self.recall(payment), APPROVED_CODE)
        else:
            assert payment.referenced_id is not None
            exchange = self.connector.repeat(
                payment,
                get_wire_word(payment),
                APPROVED_CODE,
                original=self.recall(self.members[payment.referenced_id]),
                was_accepted=payment.state is State.WAITING,
            )
        verdict = await self.run(exchange)
        if verdict.outcome in DECIDED:
            self.complete(payment, verdict)
        return verdict.outcome in DECIDED

    async def recover(self, payment: Payment, task: RecoveryTask) -> None:
        """Runs a recovery task without faults until it is done."""
        for _ in range(TRIES_MAX):
            self.wire.begin()
            if await self.try_recovery(payment, task):
                return
        raise AssertionError(f"{task} of {payment.payment_type} is never done")

    async def pay(self, step: Step) -> Payment:
        """Runs a payment without faults until it is decided."""
        attempt = self.start(step)
        task = self.complete(attempt, await self.send(attempt))
        if task is not None:
            self.peer.decide_waiting()
            await self.recover(attempt, task)
        return self.members[attempt.id]

    async def prepare(self, case: Case) -> Payment:
        """Runs all payments of a case but the last, which is started."""
        for step in case.steps[:-1]:
            assert (await self.pay(step)).state is State.APPROVED
        self.wire.begin()
        return self.start(case.steps[-1])

    async def count_messages(self, case: Case) -> int:
        """Runs a whole case, and returns the number of messages of its last payment."""
        attempt = await self.prepare(case)
        await self.send(attempt)
        return len(self.wire.sent)


def make_payment_id() -> PaymentId:
    return PaymentId("8a" + blake2b(str(next(_numbers)).encode(), digest_size=15).hexdigest())


async def fall_silent(store: Database, row: PeerRow, case: Case, fault: Fault) -> tuple[Chain, Payment, RecoveryTask]:
    """Runs a case until its last message has the fault, so that a recovery task remains."""
    messages = await Chain(row, row.make(store)).count_messages(case)
    chain = Chain(row, row.make(store))
    attempt = await chain.prepare(case)
    chain.wire.begin(fault, messages - 1)
    task = chain.complete(attempt, await chain.send(attempt))
    assert task is not None
    chain.peer.decide_waiting()
    chain.wire.begin()
    return chain, attempt, task
