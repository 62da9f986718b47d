"""A small world for whole lives of payments: an app on a real store, a moody wire, a clock, and a memory of its own.

Every request is predicted, made and compared; when a recovery task runs cannot be predicted and is learned.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from property.audit import Row, Tables, check_signatures, check_splits, check_tables, read_tables
from property.chronicle import KEY_BUSY, Called, Chronicle, fits, read_code
from property.emptying import empty_tables
from property.interruptions import Alarm, MortalDatabase, TickingClock, bury
from property.moody_wire import MOOD, Killed, Mood, MoodyWire
from property.plain_words import (
    AUTHORISED_FOR,
    CAPTURES_MAX,
    NOTHING,
    REBILLS_MAX,
    Deed,
    Fate,
    Ruling,
    Wanted,
)
from tollgate.contract.answers import Answer, Envelope
from tollgate.flows.follow_up import follow_up, record_fact
from tollgate.flows.pay import pay
from tollgate.flows.verify import verify
from tollgate.operations.app import App, Call
from tollgate.operations.caches import MerchantCache
from tollgate.payments.order import FollowUp
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.payments.splits import Share, share_out
from tollgate.store.database import Database
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.values import HOUR, SECOND, Money, Refusal
from tollgate.vault.keyring import make_keyring
from tollgate.workers import WORKERS
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER

SHOP = msgspec.structs.replace(CHANNEL, rebills_max=REBILLS_MAX)
PATIENCE = 11 * SECOND
ROUNDS_MAX = 30

_RUN = {worker.name: worker.run for worker in WORKERS}

Attempt = Callable[[], Awaitable[Answer | Payment]]


async def furnish(db: Database) -> None:
    """Once for each database: the merchant of all lives."""
    await insert_merchant(db, MERCHANT)
    await insert_channel(db, SHOP)


async def begin_world(db: Database) -> World:
    await empty_tables(db)
    world = World(db)
    await world.app.merchants.refresh(db)
    return world


class World:
    def __init__(self, db: Database) -> None:
        self.wire = MoodyWire()
        self.wire.meanwhile = self.overtake
        self.clock = TickingClock(NOW)
        self.mortal = MortalDatabase(db)
        self.past = Chronicle(self.wire, self.clock)
        self.alarm = Alarm()
        self._sealed: set[tuple[str, int | None]] = set()
        self.app = App(
            database=self.mortal,
            merchants=MerchantCache(),
            keyring=make_keyring(),
            clock=self.clock,
            envelope=Envelope("build"),
            is_live=False,
            acquirer_timeout_s=5.0,
            completion_margin_s=5.0,
            authorization_lifetime=AUTHORISED_FOR,
            find_wire=lambda _address, _account=None: self.wire,
            simulator=self.wire,
            random_bytes=random.Random(1).randbytes,
        )
        logging.getLogger("tollgate.worker").addHandler(self.alarm)

    def end(self) -> None:
        logging.getLogger("tollgate.worker").removeHandler(self.alarm)

    # ---- asking ----

    async def attempt(self, call: Attempt, mood: Mood) -> Called:
        async def in_mood() -> Answer | Payment:
            MOOD.set(mood)
            return await call()

        before = asyncio.all_tasks()
        try:
            return await asyncio.create_task(in_mood())
        except Refusal as refusal:
            return refusal
        except Killed:
            await bury(before)
            return None

    async def attempt_mortally(self, call: Attempt, mood: Mood, writes_left: int | None) -> Called:
        self.mortal.writes_left = writes_left
        try:
            return await self.attempt(call, mood)
        finally:
            self.mortal.writes_left = None

    def make_idempotency_key(self, key: str | None, *facts: object) -> IdempotencyKey | None:
        if key is None:
            return None
        print_of_request = hashlib.sha256(repr(facts).encode()).digest()
        return IdempotencyKey(
            merchant_id=SHOP.merchant_id,
            channel_id=SHOP.id,
            key=key,
            fingerprint=print_of_request,
            created_at=self.clock.now(),
        )

    def call_for(self, wanted: Wanted, named: Deed, idempotency_key: IdempotencyKey | None) -> Attempt:
        request = FollowUp(
            payment_type=wanted.payment_type,
            amount=wanted.amount,
            currency=wanted.currency,
            practice=wanted.practice,
            is_final=wanted.is_final,
            descriptor="Shop",
            short_id="1234.5678.9012",
            objection=NOTHING if wanted.amount == 0 else None,
            echo={"sequence": "FINAL"} if wanted.is_final else {},
        )
        if wanted.by_merchant:
            return lambda: follow_up(self.app, request, named.id, Call(SHOP, "ndc", idempotency_key))
        return lambda: record_fact(self.app, request, named.id, Call(SHOP, "ndc"))

    # ---- flows ----

    async def start(
        self,
        payment_type: str,
        money: Money,
        captures_max: int | None,
        mood: Mood,
        writes_left: int | None,
        key: str | None,
        weights: tuple[int, ...] = (),
    ) -> None:
        """weights: those of the sellers of a marketplace among whom the amount is split."""
        objection = NOTHING if money.hundredths == 0 and payment_type != "PA" else None
        echo = {} if captures_max is None else {"numberOfCaptures": str(captures_max)}
        shares = share_out(money.hundredths, weights) if weights else []
        split = tuple(Share(f"seller-{place}", amount) for place, amount in enumerate(shares))
        order = msgspec.structs.replace(
            ORDER, payment_type=payment_type, money=money, echo=echo, objection=objection, split=split
        )
        idempotency_key = self.make_idempotency_key(key, payment_type, money, captures_max, weights)
        called = await self.attempt_mortally(
            lambda: pay(self.app, order, Call(SHOP, "ndc", idempotency_key)), mood, writes_left
        )
        if self.past.is_replay(idempotency_key, called):
            return
        row = self.past.find_new(await read_tables(self.mortal), called)
        if row is None:
            return
        deed = Deed(row.id, payment_type, money.hundredths, money.currency, row.created_at, Fate.WRITTEN, "")
        deed.captures_max = captures_max or CAPTURES_MAX
        if objection and called is not None:
            deed.fate, deed.code = Fate.FAILED, objection
        elif called is not None:
            self.past.hear(deed)
        self.past.keep(deed, idempotency_key, called)

    async def follow(
        self, wanted: Wanted, named: Deed, mood: Mood, writes_left: int | None = None, key: str | None = None
    ) -> None:
        ruling = self.past.memory.judge(wanted, named, self.clock.at)
        idempotency_key = self.make_idempotency_key(key, wanted, named.id)
        called = await self.attempt_mortally(self.call_for(wanted, named, idempotency_key), mood, writes_left)
        if self.past.is_replay(idempotency_key, called):
            return
        row = self.past.find_new(await read_tables(self.mortal), called)
        if row is None:
            self.past.expect_refusal(wanted, ruling, called)
        else:
            deed = self.past.make_deed(wanted, named, ruling, row, called)
            self.past.expect_consent(deed)
            self.past.keep(deed, idempotency_key, called)

    async def click_twice(self, wanted: Wanted, named: Deed, mood: Mood, key: str) -> None:
        """One key, two requests at the same moment: one is carried out, the other waits or gets the same answer."""
        ruling = self.past.memory.judge(wanted, named, self.clock.at)
        idempotency_key = self.make_idempotency_key(key, wanted, named.id)
        call = self.call_for(wanted, named, idempotency_key)
        both = await asyncio.gather(self.attempt(call, mood), self.attempt(call, mood))
        answers = [each for each in both if isinstance(each, Answer)]
        assert len({answer.body for answer in answers}) == 1
        assert all(isinstance(each, Answer) or read_code(each) == KEY_BUSY for each in both)
        row = self.past.find_new(await read_tables(self.mortal), answers[0])
        assert row is not None
        self.past.keep(self.past.make_deed(wanted, named, ruling, row, answers[0]), idempotency_key, answers[0])

    async def follow_both(self, one: tuple[Wanted, Deed, Mood], other: tuple[Wanted, Deed, Mood]) -> None:
        """Two requests at the same moment end as if one had been written before the other."""
        now = self.clock.at
        calls = [self.attempt(self.call_for(wanted, named, None), mood) for wanted, named, mood in (one, other)]
        called = await asyncio.gather(*calls)
        tables = await read_tables(self.mortal)
        sides = [
            (wanted, named, each, self.past.find_new(tables, each))
            for (wanted, named, _), each in zip((one, other), called, strict=True)
        ]
        rulings = [[self.past.memory.judge(wanted, named, now)] for wanted, named, _, _ in sides]
        places = sorted((0, 1), key=lambda side: getattr(sides[side][3], "position", 0))
        # What was refused without a row has no place of its own, so it is judged at each moment of the other.
        early, late = places if sides[places[0]][3] is not None else reversed(places)
        deed = self.keep_written(*sides[early], rulings[early])
        if deed is not None:
            rulings[late] = self.judge_around(deed, sides[late][0], sides[late][1], now, rulings[late])
        if self.keep_written(*sides[late], rulings[late]) is None:
            assert read_code(sides[late][2]) in [ruling.code for ruling in rulings[late]]

    def judge_around(self, deed: Deed, wanted: Wanted, named: Deed, now: int, before: list[Ruling]) -> list[Ruling]:
        """Judges while the other one is in flight, after it, and (only for refusals) before it."""
        fate, deed.fate = deed.fate, Fate.FAILED if deed.does == "" else Fate.WRITTEN
        in_flight = self.past.memory.judge(wanted, named, now)
        deed.fate = fate
        return [in_flight, self.past.memory.judge(wanted, named, now), *(each for each in before if each.code)]

    def keep_written(
        self, wanted: Wanted, named: Deed, called: Called, row: Row | None, rulings: list[Ruling]
    ) -> Deed | None:
        if row is None:
            assert read_code(called) in [ruling.code for ruling in rulings]
            return None
        fitting = [ruling for ruling in rulings if fits(row, ruling)]
        assert fitting, f"{row} is none of {rulings}"
        deed = self.past.make_deed(wanted, named, fitting[0], row, called)
        self.past.memory.deeds[deed.id] = deed
        return deed

    async def work(self, name: str, mood: Mood = Mood.WILLING, writes_left: int | None = None) -> None:
        async def run() -> Any:
            return await _RUN[name](self.app)

        await self.attempt_mortally(run, mood, writes_left)

    async def overtake(self) -> None:
        """Gives up the process that waits for an answer, and lets workers finish what it began."""
        self.clock.at += PATIENCE
        await _RUN["recover"](self.app)
        await _RUN["recovery tasks"](self.app)

    async def finish(self) -> None:
        """Every payment becomes final with patience, whatever happened."""
        for _ in range(ROUNDS_MAX):
            self.clock.at += PATIENCE
            await self.work("recover")
            await self.work("recovery tasks")
            tables = await self.check()
            if not tables.jobs and all(row.fate in (Fate.DONE, Fate.FAILED) for row in tables.rows.values()):
                break
            self.clock.at += HOUR
        else:
            raise AssertionError("something never becomes final")
        self.wire.deliver_belated()
        await self.check()
        report = await verify(self.mortal, self.app.keyring, lambda *_: None, pauses_s=())
        assert list(report.findings) == []

    async def check(self) -> Tables:
        tables = await read_tables(self.mortal)
        self.past.learn(tables)
        check_tables(tables, self.past.memory, self.wire.read_ledger())
        fresh = [row for row in tables.rows.values() if row.mac and (row.id, row.completed_at) not in self._sealed]
        await check_signatures(self.app, fresh)
        await check_splits(self.mortal)
        self._sealed.update((row.id, row.completed_at) for row in fresh)
        assert [record.exc_info for record in self.alarm.records] == []
        return tables
