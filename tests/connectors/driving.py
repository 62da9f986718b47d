"""Runs payments through a connector as the flows do: by the tables of follow-ups and moves, over a wire that fails.

What must hold after each run is in the tests; the acquirers are in `peers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import count, pairwise

from msgspec.structs import replace

from connectors.cases import AMOUNT, Case, Position, Step, choose_word
from connectors.faults import Fault, FaultyWire, Peer
from tollgate.catalog import codes
from tollgate.connectors.exchange import AcquirerAccount, Connector, Exchange, Original, WireReply, WireRequest
from tollgate.connectors.table import ConnectorRow
from tollgate.operations.charging import get_wire_word, plan_attempt
from tollgate.operations.dispatch import dispatch
from tollgate.payments import chain
from tollgate.payments.accounts import CardAccount
from tollgate.payments.completion import complete
from tollgate.payments.order import Order, TestMode
from tollgate.payments.payment import DECIDED, OPEN_STATES, Outcome, Payment, RecoveryTask, State, Verdict
from tollgate.store.database import Database
from tollgate.values import DAY, SECOND, ChannelId, MerchantId, Money, PaymentId, to_instant

APPROVED_CODE = codes.SUCCEEDED_EXTERNAL_TEST
NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
TIMEOUT_S = 60.0
TRIES_MAX = 5
"""A recovery task that meets no fault is done after this many tries; most need one."""


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
