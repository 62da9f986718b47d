"""A store in which everything has happened at least once: every kind of transaction, every fate, two merchants.

The rows are made by the flows themselves, with a wire that follows a script; nothing is written by hand here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import orjson
import pytest

from tollgate.contract.answers import Envelope
from tollgate.flows.follow_up import follow_up, get_named_payment, record_fact, start_follow_up
from tollgate.flows.pay import pay
from tollgate.flows.recover import run_recovery_task
from tollgate.operations import charging
from tollgate.operations.app import App, Call
from tollgate.operations.caches import MerchantCache
from tollgate.payments.chain import decide_follow_up
from tollgate.payments.merchants import Channel, Merchant
from tollgate.payments.order import FollowUp, Order
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.payments.splits import Share
from tollgate.store.database import Database
from tollgate.store.jobs import lease_due
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.store.payments import list_overdue
from tollgate.values import DAY, HOUR, SECOND, ChannelId, FixedClock, MerchantId, Money
from tollgate.vault.keyring import Keyring, make_keyring
from tollgate.wire import Silent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire

DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'
PENDING = b'{"status":"pending","response_code":"00","message":"Later"}'
REVERSED = b'{"status":"reversed"}'
NEIGHBOUR = Merchant(id=MerchantId("8a" + "3" * 30), name="Neighbour", created_at=NOW)
NEIGHBOUR_CHANNEL = Channel(id=ChannelId("8a" + "4" * 30), merchant_id=NEIGHBOUR.id, name="Shop", created_at=NOW)


class Killed(Exception):
    """The end of a process, for the request it was working on."""


@dataclass
class Lives:
    """Lives holds the transactions that happened, each with a name."""

    app: App
    wire: ScriptedWire
    clock: FixedClock
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def keyring(self) -> Keyring:
        return self.app.keyring

    async def pay(
        self, name: str, *, channel: Channel = CHANNEL, idempotency_key: IdempotencyKey | None = None, **changes: object
    ) -> str:
        self._tick()
        order: Order = msgspec.structs.replace(ORDER, **changes)
        answer = await pay(self.app, order, Call(channel, "ndc", idempotency_key))
        return self._remember(name, orjson.loads(answer.body)["id"])

    async def follow(
        self, name: str, payment_type: str, named: str, amount: int | None = None, **changes: object
    ) -> str:
        self._tick()
        request = msgspec.structs.replace(make_request(payment_type, amount), **changes)
        answer = await follow_up(self.app, request, self.ids[named], Call(CHANNEL, "ndc"))
        return self._remember(name, orjson.loads(answer.body)["id"])

    async def record(self, name: str, payment_type: str, named: str, amount: int | None = None) -> Payment:
        self._tick()
        made = await record_fact(self.app, make_request(payment_type, amount), self.ids[named], Call(CHANNEL, "ndc"))
        self._remember(name, made.id)
        return made

    async def run_recovery_tasks(self) -> None:
        self._tick()
        jobs = await lease_due(
            self.app.database, now=self.clock.now(), wall_now=self.clock.wall(), owner="me", lease_s=1, limit=100
        )
        for job in jobs:
            await run_recovery_task(self.app, job)

    def _remember(self, name: str, payment_id: str) -> str:
        self.ids[name] = payment_id
        return payment_id

    def _tick(self) -> None:
        """No two things happen at the same moment."""
        self.clock.at += SECOND


def make_request(payment_type: str, amount: int | None) -> FollowUp:
    return FollowUp(
        payment_type=payment_type,
        amount=amount,
        currency=None if amount is None else "EUR",
        practice=None,
        is_final=False,
        descriptor="Shop",
        short_id="1234.5678.9012",
    )


async def open_lives(db: Database) -> Lives:
    for merchant, channel in ((MERCHANT, CHANNEL), (NEIGHBOUR, NEIGHBOUR_CHANNEL)):
        await insert_merchant(db, merchant)
        await insert_channel(db, channel)
    merchants = MerchantCache()
    await merchants.refresh(db)
    wire, clock = ScriptedWire(), FixedClock(NOW)
    app = App(
        database=db,
        merchants=merchants,
        keyring=make_keyring(),
        clock=clock,
        envelope=Envelope("build"),
        is_live=False,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=7 * DAY,
        find_wire=lambda _address, _account=None: wire,
        simulator=wire,
    )
    return Lives(app, wire, clock)


async def live_through_everything(db: Database) -> Lives:
    lives = await open_lives(db)
    await _authorise_and_capture(lives)
    await _take_and_give_back(lives)
    await _dispute(lives)
    await _fall_silent(lives)
    await _split(lives)
    await _leave_in_flight(lives)
    return lives


async def _authorise_and_capture(lives: Lives) -> None:
    await lives.pay("pa", payment_type="PA")
    await lives.follow("cp 1", "CP", "pa", 3000)
    await lives.follow("increment", "PA", "pa", 1000, practice="INCREMENTAL_AUTH")
    lives.wire.script = [DECLINED]
    await lives.follow("cp declined", "CP", "pa", 100)
    await lives.follow("cp refused", "CP", "pa", 999_999)
    await lives.follow("cp other currency", "CP", "pa", 100, currency="USD")
    await lives.follow("cp final", "CP", "pa", 4000, is_final=True)
    await lives.follow("rf of cp", "RF", "cp 1", 1000)
    await lives.follow("renewal", "PA", "pa", 500, practice="REAUTHORIZATION")
    await lives.pay("pa void", payment_type="PA")
    await lives.follow("void", "RV", "pa void")
    await lives.pay("pa open", payment_type="PA")
    await lives.pay("pa receipt", payment_type="PA")
    await lives.record("receipt", "RC", "pa receipt", 1200)


async def _take_and_give_back(lives: Lives) -> None:
    idempotency_key = IdempotencyKey(
        merchant_id=CHANNEL.merchant_id, channel_id=CHANNEL.id, key="key", fingerprint=b"print", created_at=NOW
    )
    await lives.pay("db", idempotency_key=idempotency_key)
    await lives.follow("rb", "RB", "db", 1000)
    await lives.follow("rf 1", "RF", "db", 200)
    await lives.follow("rf 2", "RF", "db", 300)
    await lives.pay("pa.cp", payment_type="PA.CP")
    await lives.follow("rv", "RV", "pa.cp")
    await lives.pay("cd", payment_type="CD")
    await lives.pay("neighbour", channel=NEIGHBOUR_CHANNEL, money=Money(4200, "USD"))
    lives.wire.script = [DECLINED]
    await lives.pay("db declined")


async def _dispute(lives: Lives) -> None:
    await lives.pay("db disputed")
    await lives.record("cb", "CB", "db disputed", 9200)
    await lives.record("cr", "CR", "cb")
    await lives.record("cb again", "CB", "cr", 9000)
    await lives.pay("db returned")
    await lives.follow("rf returned", "RF", "db returned", 5000)
    await lives.record("return", "CB", "rf returned", 5000)
    await lives.follow("rf once more", "RF", "db returned", 9200)


async def _split(lives: Lives) -> None:
    split = (Share("ann", 5000), Share("bob", 4200))
    await lives.pay("pa split", payment_type="PA", split=split)
    await lives.follow("cp split", "CP", "pa split", 4600)
    await lives.follow("rf split", "RF", "cp split", 1000)


async def _fall_silent(lives: Lives) -> None:
    lives.wire.script = [Silent()]
    await lives.pay("db reversed")
    lives.wire.script = [REVERSED]
    await lives.run_recovery_tasks()
    lives.wire.script = [Silent()]
    await lives.pay("cd resolved", payment_type="CD")
    await lives.run_recovery_tasks()
    lives.wire.script = [Silent()]
    await lives.pay("cd unresolved", payment_type="CD")
    lives.wire.script = [Silent()]
    await lives.follow("rf unresolved", "RF", "db", 400)
    lives.wire.script = [Silent()]
    await lives.follow("cp unresolved", "CP", "pa open", 700)
    lives.wire.script = [Silent()]
    await lives.pay("db in doubt")
    lives.wire.script = [PENDING]
    await lives.pay("db waiting")


async def _leave_in_flight(lives: Lives) -> None:
    """Leaves attempts as a process leaves them that was killed between its writes."""
    before = {row.id for row in await list_started(lives)}
    for payment_type, named in (("", "db started"), ("CP", "pa open"), ("RF", "cp final")):
        lives.wire.script = [Killed()]
        with pytest.raises(Killed):
            await (lives.follow("never answered", payment_type, named, 50) if payment_type else lives.pay(named))
        [left] = [row for row in await list_started(lives) if row.id not in before]
        before.add(left.id)
        lives.ids[f"{left.payment_type} started"] = left.id
    lives.ids["rc started"] = await _leave_decided(lives)


async def _leave_decided(lives: Lives) -> str:
    """Leaves a receipt whose result is known and not written yet."""
    app, fact = lives.app, make_request("RC", 60)
    named, _ = await get_named_payment(app, "RC", lives.ids["pa receipt"], CHANNEL)
    context = await charging.read_chain_context(app, named)
    decision = decide_follow_up(
        charging.make_follow_up_request(fact, named), context, charging.make_terms(app, CHANNEL, named)
    )
    bare = msgspec.structs.replace(start_follow_up(app, fact, named, "ndc"), result_code="000.100.110")
    attempt = charging.plan_attempt(bare, decision)
    assert await app.database.write(charging.start_writes(attempt, context, decision), label="test")
    return attempt.id


async def list_started(lives: Lives) -> list[Payment]:
    return await list_overdue(lives.app.database, lives.clock.wall() + HOUR, 100)
