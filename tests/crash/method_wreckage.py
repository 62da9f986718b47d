"""Gateways that die while other people are on their way with a payment, and how the way ends with the next gateway.

Which seams, and what each may leave behind, is told as rows elsewhere; here they are only made and looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from acquirer import Entry, Fate
from crash.books import Record
from crash.calendars import pass_deadlines
from crash.journeys import Journey, Method, Write, insist_on_step
from crash.world import NO_ANSWER, PATIENCE_S, World
from crash.wreckage import Crash, Deed, Ending, Wreck, describe_end, describe_store
from gateway import Client
from tollgate.flows.sepa_files import export_file
from tollgate.store.bank_files import list_bank_files
from tollgate.store.opening import add_to_setting, open_database
from tollgate.values import SECOND
from tollgate.vault.keyring import load_keyring
from tollgate.workers import CLOCK_OFFSET

WEEK_S = 7 * 24 * 3600
"""Longer than any shopper is awaited, and long enough for every bank holiday."""


@dataclass(frozen=True)
class MethodDeed(Deed):
    method: Method = Method.CARD
    brings_browser: bool = True
    status: str = "Y"


@dataclass(frozen=True)
class MethodCrash(Crash):
    step: Write | None = Write.ORDER
    """During which the gateway dies; None: it dies by itself, a week after everything went well."""
    is_left: bool = False
    """The shopper never comes back."""

    @property
    def again(self) -> str:
        return self.step.value if self.step else ""


@dataclass
class MethodWreck(Wreck):
    journey: Journey | None = None
    told: str = ""

    @property
    def walk(self) -> Journey:
        assert self.journey is not None
        return self.journey

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, self.told)


def wreck_methods(world: World, crashes: Sequence[MethodCrash]) -> list[MethodWreck]:
    """Dies at every seam, then lets a gateway live, with which everybody goes on; a week later all has ended."""
    wrecks = [MethodWreck(crash, journey=_begin(world, crash)) for crash in crashes]
    for crash, wreck in zip(crashes, wrecks, strict=True):
        _wreck(world, crash, wreck)
    gateway = world.make_gateway()
    gateway.start()
    pass_deadlines(world.books)
    world.books.wait_until_calm("reverse", within_s=PATIENCE_S)
    client = world.make_client(gateway)
    for crash, wreck in zip(crashes, wrecks, strict=True):
        if crash.step is not None:
            _go_on(client, wreck, crash.step)
    assert client.post("/sandbox/clock", {"advance": str(WEEK_S)}).status == 200
    _make_errands_due(world)
    wait_until_nothing_is_left(world)
    _look_at_the_end(world, wrecks)
    return wrecks


def _begin(world: World, crash: MethodCrash) -> Journey:
    deed = crash.deed
    assert isinstance(deed, MethodDeed)
    return Journey(world, deed.method, deed.kind, crash.amount or "", crash.key, deed.brings_browser, deed.status)


# ---- dying ----


def _wreck(world: World, crash: MethodCrash, wreck: MethodWreck) -> None:
    if crash.step is None:
        _die_later(world, crash, wreck)
        return
    gateway = world.make_gateway(crash.kill.seam)
    gateway.start()
    if crash.recoveries:
        # Knives at seams of the recovery are meant for this payment alone.
        pass_deadlines(world.books)
        world.books.wait_until_calm("reverse", "inquire", within_s=PATIENCE_S)
    client = world.make_client(gateway)
    for step in wreck.walk.steps:
        if step is crash.step:
            break
        wreck.walk.take(step, client)
    heard = _try_to_take(wreck.walk, crash.step, client)
    assert heard is None, f"{crash.name}: the gateway survived and answered {heard}"
    gateway.wait_for_death()
    wreck.held.append(describe_store(world, wreck))
    _die_again(world, crash, wreck)


def _die_later(world: World, crash: MethodCrash, wreck: MethodWreck) -> None:
    """All is well when the gateway is switched off; the next one finds that a week has passed."""
    gateway = world.make_gateway()
    gateway.start()
    wait_until_nothing_is_left(world)
    wreck.told = wreck.walk.take(Write.ORDER, world.make_client(gateway))
    gateway.kill()
    asyncio.run(_let_time_pass(world))
    dying = world.make_gateway(crash.kill.seam)
    dying.launch()
    dying.wait_for_death()
    wreck.held.append(describe_store(world, wreck))
    _die_again(world, crash, wreck)


def _die_again(world: World, crash: MethodCrash, wreck: MethodWreck) -> None:
    if crash.recoveries:
        _make_errands_due(world)
    for kill in crash.recoveries:
        pass_deadlines(world.books)
        recovery = world.make_gateway(kill.seam)
        recovery.launch()
        recovery.wait_for_death()
        wreck.held.append(describe_store(world, wreck))


def _try_to_take(journey: Journey, step: Write, client: Client) -> str | None:
    """None where the gateway died before it could tell."""
    try:
        return journey.take(step, client)
    except NO_ANSWER:
        return None


async def _let_time_pass(world: World) -> None:
    database = await open_database(world.database)
    await add_to_setting(database, CLOCK_OFFSET, WEEK_S * SECOND)
    await database.close()


def _make_errands_due(world: World) -> None:
    """What was set aside so that no worker would be faster than the shopper."""
    world.books.query("UPDATE jobs SET due_at = 0 WHERE topic = 'inquire'")


# ---- going on ----


def _go_on(client: Client, wreck: MethodWreck, since: Write) -> None:
    """Whoever got no answer tries again, and then come those who had not had their turn yet."""
    crash, journey = wreck.crash, wreck.walk
    assert isinstance(crash, MethodCrash)
    wreck.told = insist_on_step(journey, since, client)
    is_away = not journey.path if since is Write.ORDER else crash.is_left
    if not is_away:
        for step in [*journey.list_rest(since)][1:]:
            journey.take(step, client)


def wait_until_nothing_is_left(world: World) -> None:
    """Neither work for a worker nor an instruction that no file has."""
    world.books.wait_until_quiet(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while left := world.books.query("SELECT id FROM instructions WHERE state = 0"):
        assert time.monotonic() < deadline, f"no file took {left}"
        time.sleep(0.1)


# ---- looking ----


def read_ledgers(world: World) -> dict[str, Entry]:
    """What the acquirer did, and what the banks do that are brought every file."""
    return world.acquirer.read_ledger() | asyncio.run(_read_files(world))


async def _read_files(world: World) -> dict[str, Entry]:
    database = await open_database(world.database)
    keyring = load_keyring(world.folder / "keys.json")
    bodies = [await export_file(database, keyring, file, 0) for file in await list_bank_files(database)]
    await database.close()
    entries: dict[str, Entry] = {}
    for debit in [debit for body in bodies for debit in ElementTree.fromstring(body).iterfind(".//{*}DrctDbtTxInf")]:
        key, amount = debit.findtext(".//{*}EndToEndId", ""), debit.findtext("{*}InstdAmt", "")
        entry = entries.setdefault(key, Entry(key=key, fate=Fate.APPROVED, type="debit", currency="EUR"))
        entry.amount = int(amount.replace(".", ""))
        entry.executions += 1
    return entries


def _look_at_the_end(world: World, wrecks: Sequence[MethodWreck]) -> None:
    records, ledger = world.books.read_payments(), read_ledgers(world)
    sessions = world.acquirer.read_sessions()
    for wreck in wrecks:
        wreck.records = wreck.find_records(records)
        told = [_describe(wreck.walk.method, each, ledger.get(each.id)) for each in wreck.records]
        if wreck.walk.method is Method.PROVIDER and wreck.records:
            session = sessions.get(wreck.records[0].id)
            told[0] += f", session {session.status if session else 'never opened'}"
        wreck.rows = "; ".join(told) or "nothing"


def _describe(method: Method, record: Record, entry: Entry | None) -> str:
    if entry is None and record.is_sent:
        nowhere = "in no file" if method is Method.ACCOUNT else "never charged"
        return f"{record.kind} {record.state.name.lower()} `{record.code}`, {nowhere}"
    told = describe_end(record, entry)
    return told.replace("executed once", "in one file") if method is Method.ACCOUNT else told
