"""Checkouts on a real store, shoppers with several windows, a provider, an issuer and a moody acquirer.

Whatever they do in whatever order, a checkout is paid once, by the attempt that it names. That is compared with
the rows and with the acquirer's own ledger.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from acquirer_ledger import Fate
from acquirer_sessions import PATHS, Sessions
from property.emptying import empty_tables
from property.interruptions import MortalDatabase, TickingClock, bury
from property.moody_wire import MOOD, Killed, Mood, MoodyWire
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.threeds import messages
from tollgate.contract.answers import Envelope
from tollgate.contract.checkouts import Submission
from tollgate.contract.fields import read_fields
from tollgate.contract.shopper_urls import write_shopper_token
from tollgate.flows.checkouts import change_checkout, prepare_checkout, read_checkout
from tollgate.flows.resume import Arrival, accept_challenge_result, arrive
from tollgate.flows.submit import submit_checkout
from tollgate.flows.verify import verify
from tollgate.operations.app import App, Call
from tollgate.operations.caches import MerchantCache
from tollgate.payments.checkout import CheckoutKind, CheckoutState
from tollgate.payments.payment import State
from tollgate.store.checkouts import find_checkout
from tollgate.store.database import Database
from tollgate.store.statements import Statement
from tollgate.values import HOUR, MINUTE, SECOND, Refusal
from tollgate.vault.keyring import make_keyring
from tollgate.wire import Silent
from tollgate.workers import WORKERS
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows.shopping import ACS_ID, BASE_URL, BILLING_FIELDS, BROWSER_FIELDS, CHALLENGE, DS_ID, PROOF, Bank

PATIENCE = 21 * SECOND
CHECKOUTS = 2
ROUNDS_MAX = 20
PREPARED = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentType": "DB",
    "shopperResultUrl": "https://shop.example/result",
}
PLAIN_CARD = {"card.number": "4111111111111111", "card.expiryMonth": "05", "card.expiryYear": "2034"}
ENROLLED_CARD = {**PLAIN_CARD, "card.number": "4200000000000000", "card.cvv": "731", **BROWSER_FIELDS, **BILLING_FIELDS}

_RUN = {worker.name: worker.run for worker in WORKERS}
_firsts = Statement(sa.text("SELECT id, ndc, state FROM payments WHERE chain_id IS NULL"))
_owed = Statement(sa.text("SELECT id FROM jobs WHERE topic <> 'remind'"))

Story = Callable[[], Awaitable[object]]


class CheckoutWire:
    """The wire reaches every partner; the acquirer has moods, and a provider may fall silent."""

    def __init__(self) -> None:
        self.moody = MoodyWire()
        self.sessions = Sessions(self.moody.ledger.act)
        self.bank = Bank(ScriptedWire(), [CHALLENGE])

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if request.path in (messages.RANGES, messages.AUTHENTICATIONS):
            return await self.bank.send(request, timeout_s)
        if request.path not in PATHS:
            return await self.moody.send(request, timeout_s)
        mood = MOOD.get()
        if mood in (Mood.KILLED_BEFORE, Mood.DEAF):
            raise Killed if mood is Mood.KILLED_BEFORE else Silent
        body = self.sessions.act(request.path, request.body)
        if mood in (Mood.KILLED_AFTER, Mood.MUTE):
            raise Killed if mood is Mood.KILLED_AFTER else Silent
        return WireReply(200, body)


@dataclass(frozen=True)
class Away:
    """A shopper at the issuer's page, in a window of its own."""

    shopper_token: str
    results_token: str
    server_id: str


@dataclass
class CheckoutWorld:
    app: App
    wire: CheckoutWire
    clock: TickingClock
    checkout_ids: list[str] = field(default_factory=list)
    away: list[Away] = field(default_factory=list)

    # ---- what may happen ----

    async def press_pay(self, place: int, account: dict[str, str]) -> None:
        asked = len(self.wire.bank.asked)
        pairs = list({"paymentBrand": "VISA", **account}.items())
        sent = Submission(pairs=pairs, address="127.0.0.1", accept="*/*", user_agent="Test")
        done = await submit_checkout(self.app, self.checkout_ids[place], CheckoutKind.PAYMENT, sent)
        if done.going_on.kind == "challenge":
            question = self.wire.bank.asked[asked]
            shopper_token, results = (
                url.rsplit("/", 1)[1] for url in (done.going_on.url, question["threeDSServerURL"])
            )
            self.away.append(Away(shopper_token, results, question["threeDSServerTransID"]))

    async def pass_challenge(self, place: int) -> None:
        if not self.away:
            return
        away = self.away[place % len(self.away)]
        message = {
            "messageType": "RReq",
            "messageVersion": "2.2.0",
            "messageCategory": "01",
            "threeDSServerTransID": away.server_id,
            "dsTransID": DS_ID,
            "acsTransID": ACS_ID,
            "transStatus": "Y",
            "eci": "05",
            "authenticationValue": PROOF,
        }
        await accept_challenge_result(self.app, away.results_token, json.dumps(message).encode())
        page_url = f"{BASE_URL}/v1/shopper/{away.shopper_token}"
        await arrive(self.app, Arrival(page_url=page_url, shopper_token=away.shopper_token, has_answer=True))

    async def decide(self, place: int, word: str) -> None:
        """The shopper does, at the provider."""
        waiting = self.list_sessions("open")
        if waiting:
            self.wire.sessions.decide(waiting[place % len(waiting)], word)

    async def come_back(self, place: int) -> None:

        known = self.list_sessions("open", "approved", "declined", "cancelled")
        if known:
            shopper_token = write_shopper_token(MERCHANT.id, known[place % len(known)])
            await arrive(
                self.app, Arrival(page_url=f"{BASE_URL}/v1/shopper/{shopper_token}", shopper_token=shopper_token)
            )

    async def change(self, place: int, amount: str) -> None:
        fields = read_fields([("amount", amount)], Situation("update_checkout", None, False, False))
        await change_checkout(self.app, fields, self.checkout_ids[place], Call(CHANNEL, ""))

    async def ask(self, place: int) -> None:
        await read_checkout(self.app, self.checkout_ids[place], CheckoutKind.PAYMENT, CHANNEL)

    async def work(self) -> None:
        self.clock.at += PATIENCE
        await _RUN["recover"](self.app)
        await _RUN["recovery tasks"](self.app)

    async def meanwhile(self) -> None:
        """Lets others approve at the provider and come back while one is being charged."""
        for _ in self.list_sessions("open"):
            await self.decide(0, "approved")
        for place in range(len(self.list_sessions("approved"))):
            await self.come_back(place)

    def list_sessions(self, *words: str) -> list[str]:
        known: dict[str, dict[str, Any]] = json.loads(self.wire.sessions.report())
        return sorted(key for key, session in known.items() if session["status"] in words)

    async def attempt(self, story: Story, mood: Mood) -> None:
        """Refused, dead or done."""

        async def in_mood() -> None:
            MOOD.set(mood)
            await story()

        before = asyncio.all_tasks()
        try:
            await asyncio.create_task(in_mood())
        except Refusal:
            pass
        except Killed:
            await bury(before)

    # ---- what must hold ----

    async def check(self) -> None:
        approved = await self._list_approved()
        for checkout_id in self.checkout_ids:
            checkout = await find_checkout(self.app.database, MERCHANT.id, checkout_id)
            assert checkout is not None
            standing = approved[checkout_id]
            expected = [checkout.subject_id] if checkout.state >= CheckoutState.DONE else []
            assert standing == expected, (checkout.state, standing, expected)

    async def _list_approved(self) -> dict[str, list[str]]:
        approved: dict[str, list[str]] = {checkout_id: [] for checkout_id in self.checkout_ids}
        for payment_id, ndc, state in await self.app.database.fetch(_firsts, {}):
            if state == State.APPROVED:
                approved[ndc].append(payment_id)
        return approved

    async def finish(self) -> None:
        """Every payment becomes final with patience, and then the acquirer's ledger says the same."""
        for key in self.list_sessions("open"):
            self.wire.sessions.decide(key, "expired")
        for _ in range(ROUNDS_MAX):
            await self.work()
            await self.check()
            if not await self.app.database.fetch(_owed, {}):
                break
            self.clock.at += HOUR
        else:
            raise AssertionError("something never becomes final")
        self.wire.moody.deliver_belated()
        paid = sorted(payment_id for each in (await self._list_approved()).values() for payment_id in each)
        entries = self.wire.moody.read_ledger().values()
        assert sorted(entry.key for entry in entries if entry.fate is Fate.APPROVED) == paid
        report = await verify(self.app.database, self.app.keyring, lambda *_: None, pauses_s=())
        assert list(report.findings) == []


async def open_checkout_world(db: Database) -> CheckoutWorld:
    await empty_tables(db, "authentications", "checkouts")
    wire, clock, merchants = CheckoutWire(), TickingClock(NOW), MerchantCache()
    app = App(
        database=MortalDatabase(db),
        merchants=merchants,
        keyring=make_keyring(),
        clock=clock,
        envelope=Envelope("build"),
        is_live=False,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=7 * 24 * HOUR,
        find_wire=lambda _address, _account=None: wire,
        simulator=wire,
        base_url=BASE_URL,
        random_bytes=random.Random(1).randbytes,
    )
    await merchants.refresh(db)
    world = CheckoutWorld(app, wire, clock)
    wire.moody.meanwhile = world.meanwhile
    for _ in range(CHECKOUTS):
        fields = read_fields(list(PREPARED.items()), Situation("create_checkout", None, False, False))
        answer = await prepare_checkout(app, fields, Call(CHANNEL, "ndc"))
        world.checkout_ids.append(json.loads(answer.body)["id"])
    return world


LIFETIME = LIMITS.checkout_lifetime
A_WHILE = 5 * MINUTE
