"""Payments of a channel with three acquirer accounts that fail in any order, with deaths and recoveries in between.

No payment is ever live at two acquirers, and in the end each is live where the gateway says that it was approved.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acquirer_ledger import Fate
from property.interruptions import MortalDatabase, TickingClock, bury
from property.moody_wire import MOOD, Killed, Mood, MoodyWire
from tollgate.connectors.card import CHARGES
from tollgate.connectors.exchange import AcquirerAccount, WireReply, WireRequest
from tollgate.flows.pay import pay
from tollgate.flows.verify import verify
from tollgate.operations import acquirer_accounts
from tollgate.operations.app import App, Call
from tollgate.payments.merchants import RoutingTerms
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment, State
from tollgate.payments.routing import Strategy
from tollgate.store.merchants import update_channel
from tollgate.store.payments import PAYMENTS
from tollgate.store.statements import Statement
from tollgate.values import HOUR, SECOND, PaymentId
from tollgate.wire import Unsent, Wire
from tollgate.workers.jobs import recover_payments, run_recovery_tasks
from unit.app_fixture import CHANNEL, NOW, ORDER, ScriptedWire, open_app

NAMES = ("first", "second", "third")
PATIENCE = 11 * SECOND
ROUNDS_MAX = 40
ORDERED = msgspec.structs.replace(ORDER, test_mode=TestMode.EXTERNAL)
GIVEN_UP = "the process is given up while it cannot connect"

Behaviour = Mood | str
behaviours = st.sampled_from((*Mood, GIVEN_UP, *[Mood.UNREACHABLE] * 6))
schedules = st.tuples(*[st.lists(behaviours, max_size=6)] * len(NAMES))


@dataclass(frozen=True)
class Step:
    """A payment, or a round of the recovery workers."""

    schedule: tuple[Sequence[Behaviour], ...]
    """The behaviours of each acquirer, message by message; then it answers."""
    writes_left: int | None
    is_payment: bool = True


steps = st.lists(
    st.builds(
        Step,
        schedule=schedules,
        writes_left=st.one_of(st.none(), st.none(), st.integers(0, 8)),
        is_payment=st.sampled_from((True, True, False)),
    ),
    min_size=1,
    max_size=6,
)


class ScheduledWire(MoodyWire):
    """An acquirer with a ledger of its own that behaves by a schedule."""

    def __init__(self, life: Life) -> None:
        super().__init__()
        self.life = life
        self.schedule: list[Behaviour] = []
        self.charged: set[str] = set()
        """The keys of charges that may have left the gateway."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        behaviour = self.schedule.pop(0) if self.schedule else Mood.WILLING
        if behaviour == GIVEN_UP:
            await self.life.overtake()
            raise Unsent
        MOOD.set(Mood(behaviour))
        if request.path == CHARGES and behaviour is not Mood.UNREACHABLE:
            self.charged.add(request.key)
        try:
            return await super().send(request, timeout_s)
        finally:
            self.life.check()


class Life:
    def __init__(self, app: App) -> None:
        self.mortal = MortalDatabase(app.database)
        self.clock = TickingClock(NOW)
        self.wires = {name: ScheduledWire(self) for name in NAMES}
        for wire in self.wires.values():
            wire.meanwhile = self.overtake
        self.app = msgspec.structs.replace(app, database=self.mortal, clock=self.clock, find_wire=self.find_wire)
        self.accounts: dict[str, str] = {CHANNEL.id: NAMES[0]}

    def find_wire(self, address: str, _account: AcquirerAccount | None = None) -> Wire:
        return self.wires[address.removeprefix("https://").partition(".")[0]]

    async def set_up(self, strategy: Strategy) -> None:
        terms = RoutingTerms(strategy=strategy, exploration=50)
        channel = msgspec.structs.replace(CHANNEL, test_url="https://first.example", routing=terms)
        await update_channel(self.mortal, channel)
        await self.app.merchants.refresh(self.mortal)
        for name in NAMES[1:]:
            sent = {"name": name, "test_url": f"https://{name}.example"}
            self.accounts[(await acquirer_accounts.add_account(self.app, channel, sent)).id] = name

    async def live(self, number: int, step: Step) -> None:
        for wire, schedule in zip(self.wires.values(), step.schedule, strict=True):
            wire.schedule = [*schedule]
        self.mortal.writes_left = step.writes_left
        before = asyncio.all_tasks()
        try:
            await asyncio.create_task(self.pay(number) if step.is_payment else self.work())
        except Killed:
            await bury(before)
        self.mortal.writes_left = None
        self.check()

    async def pay(self, number: int) -> None:
        channel = self.app.merchants.get_channel(CHANNEL.id)
        await pay(self.app, ORDERED, Call(channel, "ndc"), payment_id=PaymentId(f"8a{number:030d}"))

    async def work(self) -> None:
        self.clock.at += PATIENCE
        await recover_payments(self.app)
        await run_recovery_tasks(self.app)

    async def overtake(self) -> None:
        """Another process takes over what this one began; its messages are answered."""
        schedules = {name: wire.schedule for name, wire in self.wires.items()}
        for wire in self.wires.values():
            wire.schedule = []
        await self.work()
        for name, wire in self.wires.items():
            wire.schedule = schedules[name]

    async def finish(self) -> None:
        """Every payment becomes final with patience, and then what was late arrives."""
        for wire in self.wires.values():
            wire.schedule = []
        for _ in range(ROUNDS_MAX):
            await self.work()
            self.clock.at += HOUR
        for wire in self.wires.values():
            wire.deliver_belated()
        self.check()
        report = await verify(self.mortal, self.app.keyring, lambda *_: None, pauses_s=())
        assert list(report.findings) == []
        payments = await PAYMENTS.fetch(self.mortal, Statement(PAYMENTS.select()), {})
        for payment in payments:
            if payment.chain_id is None:
                self.check_final(payment)

    def check_final(self, payment: Payment) -> None:
        assert payment.state in (State.APPROVED, State.DECLINED)
        account = self.accounts[payment.account_id or payment.channel_id]
        assert self.list_live(payment.id) == ([account] if payment.state is State.APPROVED else [])
        # The account that is written is the one that may have got it; no other has heard of it.
        assert {name for name, wire in self.wires.items() if payment.id in wire.charged} <= {account}

    def check(self) -> None:
        """Checks at every moment that no payment is live at two acquirers, nor was charged at two."""
        keys = {key for wire in self.wires.values() for key in wire.read_ledger()}
        for key in keys:
            entries = [entry for wire in self.wires.values() if (entry := wire.read_ledger().get(key)) is not None]
            assert sum(entry.executions for entry in entries) <= 1
            assert len(self.list_live(key)) <= 1

    def list_live(self, key: str) -> list[str]:
        entries = {name: wire.read_ledger().get(key) for name, wire in self.wires.items()}
        return [name for name, entry in entries.items() if entry is not None and entry.fate is Fate.APPROVED]


async def live_through(folder: Path, strategy: Strategy, story: Sequence[Step]) -> Life:
    app = await open_app(folder, ScriptedWire())
    try:
        life = Life(app)
        await life.set_up(strategy)
        for number, step in enumerate(story):
            await life.live(number, step)
        await life.finish()
        return life
    finally:
        await app.database.close()


_UNREACHABLE = [Mood.UNREACHABLE] * 2
_MUTE_AT_THE_NEXT = Step(([*_UNREACHABLE, Mood.MUTE],) * 3, None)
_GIVEN_UP = Step(([GIVEN_UP, Mood.UNREACHABLE],) * 3, None)
_DIES_AFTER_MOVING = Step(([*_UNREACHABLE],) * 2 + ([Mood.KILLED_AFTER],), 2)


@settings(max_examples=min(settings().max_examples // 2, 2000))
@given(strategy=st.sampled_from(Strategy), story=steps)
@example(strategy=Strategy.WEIGHT, story=[_MUTE_AT_THE_NEXT] * 3)
@example(strategy=Strategy.COST, story=[_GIVEN_UP] * 3)
@example(strategy=Strategy.COST, story=[_DIES_AFTER_MOVING] * 3)
def test_no_payment_is_live_at_two_acquirers_whatever_fails_in_whatever_order(
    strategy: Strategy, story: list[Step]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live_through(Path(folder), strategy, story))


def test_the_story_reaches_failover_and_reversal(tmp_path: Path) -> None:
    """The lives above would prove nothing if no payment were ever moved."""
    silent_next = Step((_UNREACHABLE, [*_UNREACHABLE], [Mood.MUTE]), None)

    life = asyncio.run(live_through(tmp_path, Strategy.COST, [silent_next] * 4))

    charged = [name for name, wire in life.wires.items() if wire.charged]
    reversed_ = [entry for wire in life.wires.values() for entry in wire.read_ledger().values() if entry.reversals_seen]
    assert charged
    assert reversed_
