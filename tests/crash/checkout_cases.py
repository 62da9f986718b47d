"""Gateways that die over a checkout: while a shopper submits it, its merchant asks for it, or its shop is reminded.

The crash points, and what each may leave behind, are rows elsewhere; here they are only made and looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from api.checking_out import STORING, ask, prepare, submit
from api.reminded_shops import RemindedShop
from crash.crashes import Crash, CrashCase, Ending, Request, describe_end, describe_store
from crash.scenarios import BROWSER_FIELDS, FIELDS, Method, Scenario, Step, insist_on_step
from crash.schedule_checks import put_to_sleep
from crash.store_reader import Record, StoreReader
from crash.world import PATIENCE_S, World, insist_on, try_to
from gateway import CARD, Answer, Client
from tollgate.payments.checkout import REMIND_TOPIC, CheckoutState
from tollgate.payments.payment import RecoveryTask
from tollgate.payments.registration import RegistrationState

HALF_HOUR_S = 30 * 60
PLAIN_CARD = {**CARD, "paymentBrand": "MASTER", "card.number": "5555555555554444"}
"""One that takes no part in 3-D Secure, so that its holder is not sent away."""
_SOON = (
    *(recovery_task.value for recovery_task in RecoveryTask if recovery_task is not RecoveryTask.EXPIRE),
    REMIND_TOPIC,
)
"""These are not left until the time of a challenge is over."""
_TIMES = {1: "once", 2: "twice"}


class Part(StrEnum):
    """The gateway dies during this part."""

    SUBMISSION = "asked for and submitted again"
    STATUS = "asked for again"
    RETURN = "back again, then asked for"
    REMINDER = ""


@dataclass(frozen=True)
class CheckoutRequest(Request):
    part: Part = Part.SUBMISSION
    kind_of_checkout: str = "payment"
    method: Method = Method.CARD
    """The shopper leaves and returns with this; a checkout is paid by card while one is late at a provider."""


@dataclass(frozen=True)
class CheckoutCrash(Crash):
    @property
    def again(self) -> str:
        return self.checkout_request.part.value

    @property
    def checkout_request(self) -> CheckoutRequest:
        assert isinstance(self.request, CheckoutRequest)
        return self.request


@dataclass
class CheckoutScenario(Scenario):
    checkout_id: str = ""

    def _order(self, client: Client) -> str:
        fields = {**FIELDS[self.method], **(BROWSER_FIELDS if self.method is Method.CARD else {})}
        answer = submit(client, self.checkout_id, self.shop_url, fields)
        assert answer.json["next"]["kind"] != "result", answer.body
        self.path = urlsplit(answer.json["next"]["url"]).path
        [(self.id,)] = self.world.store.query(f"SELECT subject_id FROM checkouts WHERE id = '{self.checkout_id}'")
        if self.method is Method.PROVIDER:
            self.world.store.postpone_recovery_tasks(self.id)
            message = self.world.acquirer.read_sessions()[self.id].message
            assert message is not None
            self.path = urlsplit(message.back_url).path
        return f"`{answer.code}`"


@dataclass
class CheckoutCase(CrashCase):
    checkout_id: str = ""
    result_url: str = ""
    received: str = ""
    started: CheckoutScenario | None = None

    @property
    def request(self) -> CheckoutRequest:
        assert isinstance(self.crash, CheckoutCrash)
        return self.crash.checkout_request

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, self.received)

    @property
    def scenario(self) -> CheckoutScenario:
        assert self.started is not None
        return self.started

    def prepare(self, world: World, client: Client, shop_url: str) -> None:
        """Prepares the case while a gateway is alive that nothing happens to."""
        self.result_url = f"{shop_url}/result"
        prepared = {"amount": self.crash.amount, "currency": "EUR", "paymentType": self.request.payment_type}
        fields = prepared if self.request.kind_of_checkout == "payment" else dict(STORING)
        self.checkout_id = prepare(client, {**fields, "testMode": "EXTERNAL"})
        if self.request.part is Part.RETURN:
            self.started = CheckoutScenario(
                world, self.request.method, self.request.payment_type, self.crash.amount or "", ""
            )
            self.scenario.checkout_id, self.scenario.shop_url = self.checkout_id, self.result_url
            for step in self.scenario.steps[:-1]:
                self.scenario.take(step, client)
        if self.request.part in (Part.STATUS, Part.REMINDER) or self.request.method is Method.PROVIDER:
            assert self.submit(client).status == 200

    def submit(self, client: Client) -> Answer:
        return submit(client, self.checkout_id, self.result_url, PLAIN_CARD, kind=self.request.kind_of_checkout)

    def ask(self, client: Client) -> Answer:
        return ask(client, self.checkout_id, kind=self.request.kind_of_checkout)

    def run(self, world: World) -> None:
        gateway = world.make_gateway(self.crash.kill.point)
        if self.request.part is Part.REMINDER:
            wake_reminders(world.store, self.checkout_id)
            gateway.launch()
        else:
            gateway.start()
            client = world.make_client(gateway)
            survived = try_to(lambda: self.act(client))
            assert survived is None, f"{self.crash.name}: the gateway survived and told {survived}"
        gateway.wait_for_death()
        self.held.append(describe_store(world, self))
        put_to_sleep(world.store, REMIND_TOPIC)

    def act(self, client: Client) -> Answer:
        if self.request.part is Part.RETURN:
            return Answer(200, {}, self.scenario.take(Step.RETURN, client).encode())
        return self.submit(client) if self.request.part is Part.SUBMISSION else self.ask(client)

    def look(self, world: World, shop: RemindedShop) -> None:
        """Notes what became of the checkout before anybody asks."""
        ledger = world.acquirer.read_ledger()
        self.records = self.find_records(world.store.read_payments())
        received = [describe_end(each, ledger.get(each.id)) for each in self.records]
        if self.request.part is Part.REMINDER:
            calls = shop.list_ids().count(self.checkout_id)
            received += [f"the shop was called {_TIMES.get(calls, f'{calls} times')}"]
        self.rows = "; ".join([*received, *self.tell_more(world.store)])

    def listen(self, client: Client) -> None:
        """Notes what its merchant reads, and what a shopper who tries again gets."""
        if self.request.part is Part.REMINDER:
            return
        status = insist_on(lambda: self.ask(client), self.crash.name)
        self.received += f"`{status.code}`"
        if self.request.part is Part.SUBMISSION and status.code != APPROVED:
            self.received += f", `{self.submit(client).code}`"

    def find_records(self, records: Iterable[Record]) -> list[Record]:
        """Finds the payments of the checkout by its amount, which no other has."""
        if self.request.part is Part.REMINDER:
            return []
        known = list(records)
        own = {each.id for each in known if not each.chain_id and each.amount == self.crash.number * 100}
        return [each for each in known if each.id in own or each.chain_id in own]

    def tell_more(self, store: StoreReader) -> list[str]:
        where = f"WHERE id = '{self.checkout_id}'"
        [(state, reminder)] = store.query(f"SELECT state, reminder FROM checkouts {where}")
        if self.request.part is Part.REMINDER:
            return [f"reminder {reminder or 'due'}"]
        stored = store.query(f"SELECT state FROM registrations WHERE ndc = '{self.checkout_id}'")
        registrations = [f"registration {RegistrationState(int(found)).name.lower()}" for (found,) in stored]
        return [f"checkout {CheckoutState(int(state)).name.lower()}", *registrations]


APPROVED = "000.100.112"


def run_checkout_crashes(world: World, shop: RemindedShop, crashes: Sequence[CheckoutCrash]) -> list[CheckoutCase]:
    """Dies at every crash point, then lets a gateway live that finishes everything, until all checkouts are over."""
    cases = [CheckoutCase(crash) for crash in crashes]
    gateway = world.make_gateway()
    gateway.start()
    for case in cases:
        case.prepare(world, world.make_client(gateway), shop.url)
    put_to_sleep(world.store, REMIND_TOPIC)
    gateway.kill()
    for case in cases:
        case.run(world)
    reminded = [case.checkout_id for case in cases if case.request.part is Part.REMINDER]
    wake_reminders(world.store, *reminded)
    gateway = world.make_gateway()
    gateway.start()
    world.store.wait_until_done(*_SOON, within_s=PATIENCE_S)
    let_come_back(world, world.make_client(gateway), [case for case in cases if case.request.part is Part.RETURN])
    world.store.wait_until_done(*_SOON, within_s=PATIENCE_S)
    for case in cases:
        case.look(world, shop)
        case.listen(world.make_client(gateway))
    # The minute of all others has come and gone when nothing is owed any more.
    wake_reminders(world.store)
    assert world.make_client(gateway).post("/sandbox/clock", {"advance": str(HALF_HOUR_S)}).status == 200
    world.store.wait_until_nothing_is_open(PATIENCE_S)
    return cases


def let_come_back(world: World, client: Client, cases: Iterable[CheckoutCase]) -> None:
    """Lets shoppers who got no answer return; then workers may ask about them again."""
    for case in cases:
        case.received = f"{insist_on_step(case.scenario, Step.RETURN, client)}, "
        world.store.query(f"UPDATE jobs SET due_at = 0 WHERE topic = 'inquire' AND subject_id = '{case.scenario.id}'")


def wake_reminders(store: StoreReader, *checkout_ids: str) -> None:
    """Due at once, while the checkout is young, so that chance cannot let its minute pass; of all where none is named.

    The lease of the dead process is left to run out, because it is wall time, which cannot be moved.
    """
    named = ", ".join(f"'{checkout_id}'" for checkout_id in checkout_ids)
    which = f" AND subject_id IN ({named})" if checkout_ids else ""
    store.query(f"UPDATE jobs SET due_at = 0, leased_until = 0 WHERE topic = '{REMIND_TOPIC}'{which}")
