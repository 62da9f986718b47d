"""Gateways that die at a crash point, again and again over one request, and what was found then and in the end.

The crash points, and what each may leave behind, are rows elsewhere; here they are only made and looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum

from acquirer import Entry, Fate, Manner
from crash.calendars import pass_deadlines
from crash.server import Server
from crash.store_reader import Record, StoreReader
from crash.world import PATIENCE_S, World, follow, insist_on, pay, record_fact, try_to
from gateway import Answer, Client
from tollgate.connectors.acquiring import FOLLOW_UPS
from tollgate.connectors.card import CHARGES

FACTS = frozenset({"CB"})
"""A bank reports these instead of the merchant."""


class Share(StrEnum):
    """A follow-up asks for this share of the payment named."""

    PART = "part"
    REST = "rest"
    TOO_MUCH = "too much"


@dataclass(frozen=True)
class Request:
    """A request, and the payments that have to come before it: none for a payment itself."""

    payment_type: str
    after: tuple[str, ...] = ()
    share: Share = Share.PART
    extra: tuple[tuple[str, str], ...] = ()
    title: str = ""
    cents: int = 0
    """The cents of the amount; the acquirer declines some amounts by them."""

    @property
    def name(self) -> str:
        return self.title or " of ".join([self.payment_type, *self.after[-1:]])


@dataclass(frozen=True)
class Ending:
    rows: str
    """The gateway's record and the acquirer's action."""
    heard: str
    """The answer to the same request when it is sent again."""


@dataclass(frozen=True)
class Kill:
    point: str
    leaves: tuple[str, ...] = ()
    """The store may hold one of these then, where that is chance; elsewhere the document names the one that it held."""


@dataclass(frozen=True)
class Crash:
    """One request during which the gateway dies, and then recoveries that die as well."""

    number: int
    """The number is unique, and amounts are made of it, so that money moved twice shows."""
    request: Request
    kill: Kill
    endings: tuple[Ending, ...]
    manner: Manner = Manner.ANSWER
    """The acquirer holds the request while the gateway is killed from outside, unless this is an answer."""
    recoveries: tuple[Kill, ...] = ()

    @property
    def again(self) -> str:
        """The action of a caller without an answer; empty if no caller waits."""
        return "repeated"

    @property
    def name(self) -> str:
        return " ".join([self.request.name, self.kill.point, *(kill.point for kill in self.recoveries[:1])])

    @property
    def key(self) -> str:
        return f"crash-{self.number:04d}"

    @property
    def first_amount(self) -> str:
        return f"{self.number * 100}.00"

    @property
    def amount(self) -> str | None:
        if not self.request.after or self.request.share is Share.PART:
            return f"{self.number}.{self.request.cents:02d}"
        return None if self.request.share is Share.REST else f"{self.number * 100 + 1}.00"

    @property
    def path(self) -> str:
        return FOLLOW_UPS if self.request.after else CHARGES


@dataclass
class CrashCase:
    """A case is one crash and what is known of it."""

    crash: Crash
    before: tuple[str, ...] = ()
    """The payments that came before, oldest first."""
    held: list[str] = field(default_factory=list)
    """The states of the store after each kill, in words."""
    records: list[Record] = field(default_factory=list)
    rows: str = ""
    heard: Answer | None = None

    def find_records(self, records: Iterable[Record]) -> list[Record]:
        """Returns all that the request led to, in the order of the chain."""
        own = {self.before[0]} if self.before else {each.id for each in records if each.key == self.crash.key}
        return [each for each in records if (each.id in own or each.chain_id in own) and each.id not in self.before]

    def tell_more(self, store: StoreReader) -> list[str]:  # noqa: ARG002
        """Lists what the store holds of the case besides its payments."""
        return []

    @property
    def ending(self) -> Ending:
        assert self.heard is not None
        is_replayed = "idempotency-replayed" in self.heard.headers
        return Ending(self.rows, f"`{self.heard.code}`" + (", replayed" if is_replayed else ""))


def run_payment_crashes(
    world: World, crashes: Sequence[Crash], before_recovery: Callable[[], object] = lambda: None
) -> list[CrashCase]:
    """Dies at every crash point, then lets a gateway live that finishes everything, and asks again for all of it."""
    cases = prepare(world, crashes)
    for case in cases:
        _run_case(world, case)
    before_recovery()
    gateway = world.make_gateway()
    gateway.start()
    pass_deadlines(world.store)
    world.store.wait_until_nothing_is_open(PATIENCE_S)
    _look_at_the_end(world, cases)
    for case in cases:
        case.heard = insist_on(_make_request(world.make_client(gateway), case), case.crash.name)
    world.store.wait_until_nothing_is_open(PATIENCE_S)
    return cases


def prepare(world: World, crashes: Sequence[Crash]) -> list[CrashCase]:
    gateway = world.make_gateway()
    gateway.start()
    client = world.make_client(gateway)
    cases = [CrashCase(crash, _prepare_one(client, crash)) for crash in crashes]
    gateway.kill()
    return cases


def _prepare_one(client: Client, crash: Crash) -> tuple[str, ...]:
    ids: list[str] = []
    for payment_type in crash.request.after:
        key = f"{crash.key}-{payment_type}"
        fields = {"paymentType": payment_type, "amount": crash.first_amount, "currency": "EUR"}
        answer = follow(client, ids[-1], fields, key) if ids else pay(client, crash.first_amount, key, payment_type)
        assert answer.status == 200, answer.body
        ids.append(answer.json["id"])
    return tuple(ids)


def _make_request(client: Client, case: CrashCase) -> Callable[[], Answer]:
    crash, request, amount = case.crash, case.crash.request, case.crash.amount
    if not case.before:
        return lambda: pay(client, amount or "", crash.key, request.payment_type, dict(request.extra))
    currency = None if amount is None else "EUR"
    fields = {"paymentType": request.payment_type, "amount": amount, "currency": currency, **dict(request.extra)}
    if request.payment_type in FACTS:
        return lambda: record_fact(client, case.before[-1], fields)
    return lambda: follow(client, case.before[-1], fields, crash.key)


# ---- dying ----


def _run_case(world: World, case: CrashCase) -> None:
    crash = case.crash
    gateway = world.make_gateway("" if crash.manner is not Manner.ANSWER else crash.kill.point)
    gateway.start()
    if crash.recoveries or crash.manner is not Manner.ANSWER:
        # Crash points of the recovery, and an acquirer's bad manners, are meant for this request alone, not for what
        # an earlier one left behind.
        pass_deadlines(world.store)
        world.store.wait_until_nothing_is_open(PATIENCE_S)
    ask = _make_request(world.make_client(gateway), case)
    if crash.manner is Manner.ANSWER:
        assert try_to(ask) is None, f"{crash.name}: the gateway survived"
        gateway.wait_for_death()
    else:
        _kill_while_held(world, case, gateway, ask)
    case.held.append(describe_store(world, case))
    for kill in crash.recoveries:
        pass_deadlines(world.store)
        recovery = world.make_gateway(kill.point)
        recovery.launch()
        recovery.wait_for_death()
        case.held.append(describe_store(world, case))


def _kill_while_held(world: World, case: CrashCase, gateway: Server, ask: Callable[[], Answer]) -> None:
    path = case.crash.path
    seen = world.acquirer.count_requests(path)
    world.acquirer.behave(path, case.crash.manner, times=1)
    with ThreadPoolExecutor(1) as shopper:
        answer = shopper.submit(try_to, ask)
        world.acquirer.wait_for_requests(path, seen + 1)
        gateway.kill()
    assert answer.result() is None


# ---- looking ----

_OWED = {
    "reverse": "a reversal is due",
    "inquire": "an inquiry is due",
    "repeat": "a repeat is due",
    "expire": "its end is set",
}
_DONE = {
    Fate.APPROVED: "executed once",
    Fate.REVERSED: "executed once and undone",
    Fate.DECLINED: "declined by the acquirer",
    Fate.BLOCKED: "never executed",
}


def describe_store(world: World, case: CrashCase) -> str:
    world.store.wait_until_alone()
    records = world.store.read_payments()
    found = case.find_records(records)
    ids = {*case.before, *(each.id for each in found)}
    received, more = (
        "; ".join(f"{each.payment_type} {each.state.name.lower()}" for each in found),
        case.tell_more(world.store),
    )
    parts = [*([received] if received else []), *more] or ["nothing"]
    if any(each.reserved for each in records if each.id in ids):
        parts.append("money reserved")
    stages, instructions = world.store.read_stages(), world.store.read_instructions()
    parts += [f"authentication {stages[id].name.lower()}" for id in ids if id in stages]
    parts += [f"instruction {instructions[id].name.lower()}" for id in ids if id in instructions]
    parts += [each.received for each in world.store.read_registrations() if each.made_by in ids]
    parts += sorted(_OWED[topic] for id, topic in world.store.list_owed() if id in ids)
    return ", ".join(parts)


def _look_at_the_end(world: World, cases: Iterable[CrashCase]) -> None:
    records, ledger = world.store.read_payments(), world.acquirer.read_ledger()
    registrations = world.store.read_registrations()
    for case in cases:
        case.records = case.find_records(records)
        ids = {each.id for each in case.records}
        received = [describe_end(each, ledger.get(each.id)) for each in case.records]
        case.rows = (
            "; ".join([*received, *(each.received for each in registrations if each.made_by in ids)]) or "nothing"
        )


def describe_end(record: Record, entry: Entry | None) -> str:
    text = f"{record.payment_type} {record.state.name.lower()} `{record.code}`"
    if not record.is_sent:
        return text
    if entry is None:
        return f"{text}, unknown to the acquirer"
    return f"{text}, {_DONE[entry.fate] if entry.executions < 2 else f'executed {entry.executions} times'}"
