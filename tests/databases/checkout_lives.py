"""A store with checkouts in every state: unpaid, locked, paid, read, registering, paid too late, forgotten.

The rows are made by the flows themselves; nothing is written by hand here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson
import pytest
from msgspec.structs import replace

from acquirer_sessions import PATHS, Sessions
from databases.lives import Killed, Lives, open_lives
from tollgate.catalog.rule import Situation
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.contract.checkouts import Submission
from tollgate.contract.fields import read_fields
from tollgate.contract.shopper_urls import write_shopper_token
from tollgate.flows.checkouts import cancel_prepared, prepare_checkout, read_checkout
from tollgate.flows.recover import run_recovery_task
from tollgate.flows.resume import Arrival, arrive
from tollgate.flows.submit import submit_checkout
from tollgate.operations.app import App, Call
from tollgate.payments.checkout import CheckoutKind
from tollgate.store.checkouts import find_checkout
from tollgate.store.database import Database
from tollgate.store.jobs import lease_due
from tollgate.values import MINUTE, SECOND, FixedClock
from tollgate.vault.keyring import Keyring
from tollgate.wire import Silent
from unit.app_fixture import CHANNEL, MERCHANT, ScriptedWire
from unit.flows.shopping import Bank

DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'
REVERSED = b'{"status":"reversed"}'
PAYS = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", "shopperResultUrl": "https://shop.example/result"}
STORES = {"createRegistration": "true", "shopperResultUrl": "https://shop.example/result"}
CARD = {
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "731",
}
PAYPAL = {"paymentBrand": "PAYPAL"}


@dataclass
class ProviderWire:
    """A provider beside the acquirer, and an issuer that challenges nobody."""

    acquirer: ScriptedWire
    sessions: Sessions = field(default_factory=lambda: Sessions(lambda _path, _body: b""))
    fault: Exception | None = None
    """Raised by the line to the provider while it is set."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if request.path in PATHS:
            if self.fault:
                raise self.fault
            return WireReply(200, self.sessions.act(request.path, request.body))
        return await Bank(self.acquirer, knows_cards=False).send(request, timeout_s)


@dataclass
class CheckoutWorld:
    """Checkouts in one line each, by a name."""

    lives: Lives
    provider: ProviderWire
    app: App
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of checkouts and of what was done for them, by name."""

    @property
    def keyring(self) -> Keyring:
        return self.app.keyring

    @property
    def clock(self) -> FixedClock:
        return self.lives.clock

    async def prepare(self, name: str, fields: dict[str, str] = PAYS) -> str:
        self.clock.at += SECOND
        read = read_fields(list(fields.items()), Situation("create_checkout", None, False, False))
        answer = await prepare_checkout(self.app, read, Call(CHANNEL, "ndc"))
        self.ids[name] = orjson.loads(answer.body)["id"]
        return self.ids[name]

    async def submit(
        self,
        name: str,
        account: dict[str, str] = CARD,
        *script: bytes | Exception,
        kind: CheckoutKind = CheckoutKind.PAYMENT,
    ) -> str:
        """Returns the code that the shopper gets."""
        self.clock.at += SECOND
        self.provider.acquirer.script = list(script)
        sent = Submission(pairs=list(account.items()), address="127.0.0.1", accept=None, user_agent=None)
        done = await submit_checkout(self.app, self.ids[name], kind, sent)
        code: str = orjson.loads(done.answer.body)["result"]["code"]
        return code

    async def remember_attempt(self, name: str, as_name: str) -> str:
        checkout = await find_checkout(self.app.database, MERCHANT.id, self.ids[name])
        assert checkout is not None
        assert checkout.subject_id is not None
        self.ids[as_name] = checkout.subject_id
        return checkout.subject_id

    async def ask(self, name: str, kind: CheckoutKind = CheckoutKind.PAYMENT) -> str:
        self.clock.at += SECOND
        answer = await read_checkout(self.app, self.ids[name], kind, CHANNEL)
        code: str = orjson.loads(answer.body)["result"]["code"]
        return code

    async def approve_at_provider(self, payment_id: str) -> None:
        self.clock.at += SECOND
        self.provider.sessions.decide(payment_id, "approved")
        shopper_token = write_shopper_token(MERCHANT.id, payment_id)
        await arrive(self.app, Arrival(page_url="https://gate.example", shopper_token=shopper_token))

    async def run_recovery_tasks(self) -> None:
        self.clock.at += MINUTE
        now, wall_now = self.clock.now(), self.clock.wall()
        database = self.app.database
        for job in await lease_due(database, now=now, wall_now=wall_now, owner="me", lease_s=1, limit=100):
            await run_recovery_task(self.app, job)


async def open_checkout_world(db: Database) -> CheckoutWorld:
    lives = await open_lives(db)
    provider = ProviderWire(lives.wire)
    return CheckoutWorld(lives, provider, replace(lives.app, simulator=provider, base_url="https://gate.example"))


async def live_through_checkouts(db: Database) -> CheckoutWorld:
    world = await open_checkout_world(db)
    for name in ("unpaid", "declined", "paid", "told", "held", "late", "owing", "payout"):
        await world.prepare(name, {**PAYS, "paymentType": "CD"} if name == "payout" else PAYS)
    assert (await world.submit("declined", CARD, DECLINED)).startswith("800.")
    for name in ("paid", "told"):
        assert await world.submit(name) == "000.100.110"
        await world.remember_attempt(name, f"payment of {name}")
    assert await world.ask("told") == "000.100.110"
    for name in ("late", "owing"):
        assert await world.submit(name, PAYPAL) == "000.200.000"
        waiting = await world.remember_attempt(name, f"{name} attempt")
        assert await world.submit(name) == "000.100.110"
        await world.approve_at_provider(waiting)
        if name == "late":
            await world.run_recovery_tasks()
    await _cancel(world)
    assert await world.submit("payout", CARD, Silent()) == "000.200.000"
    with pytest.raises(Killed):
        await world.submit("held", CARD, Killed())
    await world.remember_attempt("held", "payment of held")
    await _store(world)
    return world


async def _cancel(world: CheckoutWorld) -> None:
    """One that was never tried, and one whose shopper pays at a provider afterwards and gets the money back."""
    await world.prepare("withdrawn")
    await cancel_prepared(world.app, world.ids["withdrawn"], CHANNEL)
    await world.prepare("cancelled")
    assert await world.submit("cancelled", PAYPAL) == "000.200.000"
    waiting = await world.remember_attempt("cancelled", "cancelled attempt")
    await cancel_prepared(world.app, world.ids["cancelled"], CHANNEL)
    await world.approve_at_provider(waiting)


async def _store(world: CheckoutWorld) -> None:
    await world.prepare("stores", STORES)
    await world.submit("stores", {**CARD, "card.expiryYear": "2020"}, kind=CheckoutKind.REGISTRATION)
    await world.prepare("stored", STORES)
    assert await world.submit("stored", kind=CheckoutKind.REGISTRATION) == "000.100.110"
    await world.remember_attempt("stored", "registration of stored")
