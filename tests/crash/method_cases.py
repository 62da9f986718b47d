"""Gateways that die while other people are on their way with a payment, and how the way ends with the next gateway.

The crash points, and what each may leave behind, are rows elsewhere; here they are only made and looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from acquirer import Entry, Fate
from crash.calendars import pass_deadlines
from crash.crashes import Crash, CrashCase, Ending, Request, describe_end, describe_store
from crash.scenarios import Method, Scenario, Step, insist_on_step
from crash.store_reader import Record
from crash.world import NO_ANSWER, PATIENCE_S, World
from gateway import Client
from tollgate.flows.sepa_files import export_file
from tollgate.store.bank_files import list_bank_files
from tollgate.store.opening import add_to_setting, open_database
from tollgate.values import SECOND
from tollgate.vault.keyring import load_keyring
from tollgate.workers import CLOCK_OFFSET

WEEK_S = 7 * 24 * 3600
"""This is longer than any shopper is awaited, and long enough for every bank holiday."""


@dataclass(frozen=True)
class MethodRequest(Request):
    method: Method = Method.CARD
    brings_browser: bool = True
    status: str = "Y"


@dataclass(frozen=True)
class MethodCrash(Crash):
    step: Step | None = Step.ORDER
    """During which the gateway dies; None: it dies by itself, a week after everything went well."""
    is_left: bool = False
    """The shopper never comes back."""

    @property
    def again(self) -> str:
        return self.step.value if self.step else ""


@dataclass
class MethodCase(CrashCase):
    started: Scenario | None = None
    received: str = ""

    @property
    def scenario(self) -> Scenario:
        assert self.started is not None
        return self.started

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, self.received)


def run_method_crashes(world: World, crashes: Sequence[MethodCrash]) -> list[MethodCase]:
    """Dies at every crash point, then lets a gateway live, with which everybody goes on; a week later all has ended."""
    cases = [MethodCase(crash, started=_begin(world, crash)) for crash in crashes]
    for crash, case in zip(crashes, cases, strict=True):
        _run_case(world, crash, case)
    gateway = world.make_gateway()
    gateway.start()
    pass_deadlines(world.store)
    world.store.wait_until_done("reverse", within_s=PATIENCE_S)
    client = world.make_client(gateway)
    for crash, case in zip(crashes, cases, strict=True):
        if crash.step is not None:
            _go_on(client, case, crash.step)
    assert client.post("/sandbox/clock", {"advance": str(WEEK_S)}).status == 200
    _make_recovery_tasks_due(world)
    wait_until_nothing_is_left(world)
    _look_at_the_end(world, cases)
    return cases


def _begin(world: World, crash: MethodCrash) -> Scenario:
    request = crash.request
    assert isinstance(request, MethodRequest)
    return Scenario(
        world,
        request.method,
        request.payment_type,
        crash.amount or "",
        crash.key,
        request.brings_browser,
        request.status,
    )


# ---- dying ----


def _run_case(world: World, crash: MethodCrash, case: MethodCase) -> None:
    if crash.step is None:
        _crash_later(world, crash, case)
        return
    gateway = world.make_gateway(crash.kill.point)
    gateway.start()
    if crash.recoveries:
        # Crash points of the recovery are meant for this payment alone.
        pass_deadlines(world.store)
        world.store.wait_until_done("reverse", "inquire", within_s=PATIENCE_S)
    client = world.make_client(gateway)
    for step in case.scenario.steps:
        if step is crash.step:
            break
        case.scenario.take(step, client)
    heard = _try_to_take(case.scenario, crash.step, client)
    assert heard is None, f"{crash.name}: the gateway survived and answered {heard}"
    gateway.wait_for_death()
    case.held.append(describe_store(world, case))
    _crash_again(world, crash, case)


def _crash_later(world: World, crash: MethodCrash, case: MethodCase) -> None:
    """All is well when the gateway is switched off; the next one finds that a week has passed."""
    gateway = world.make_gateway()
    gateway.start()
    wait_until_nothing_is_left(world)
    case.received = case.scenario.take(Step.ORDER, world.make_client(gateway))
    gateway.kill()
    asyncio.run(_let_time_pass(world))
    dying = world.make_gateway(crash.kill.point)
    dying.launch()
    dying.wait_for_death()
    case.held.append(describe_store(world, case))
    _crash_again(world, crash, case)


def _crash_again(world: World, crash: MethodCrash, case: MethodCase) -> None:
    if crash.recoveries:
        _make_recovery_tasks_due(world)
    for kill in crash.recoveries:
        pass_deadlines(world.store)
        recovery = world.make_gateway(kill.point)
        recovery.launch()
        recovery.wait_for_death()
        case.held.append(describe_store(world, case))


def _try_to_take(started: Scenario, step: Step, client: Client) -> str | None:
    """Returns None where the gateway died before it could answer."""
    try:
        return started.take(step, client)
    except NO_ANSWER:
        return None


async def _let_time_pass(world: World) -> None:
    database = await open_database(world.database)
    await add_to_setting(database, CLOCK_OFFSET, WEEK_S * SECOND)
    await database.close()


def _make_recovery_tasks_due(world: World) -> None:
    """Makes the tasks due that were put off so that no worker would be faster than the shopper."""
    world.store.query("UPDATE jobs SET due_at = 0 WHERE topic = 'inquire'")


# ---- going on ----


def _go_on(client: Client, case: MethodCase, since: Step) -> None:
    """Repeats the step that got no answer, and then takes the steps that are left."""
    crash, started = case.crash, case.scenario
    assert isinstance(crash, MethodCrash)
    case.received = insist_on_step(started, since, client)
    is_away = not started.path if since is Step.ORDER else crash.is_left
    if not is_away:
        for step in [*started.list_rest(since)][1:]:
            started.take(step, client)


def wait_until_nothing_is_left(world: World) -> None:
    """Waits until workers have no work and every instruction is in a file."""
    world.store.wait_until_nothing_is_open(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while left := world.store.query("SELECT id FROM instructions WHERE state = 0"):
        assert time.monotonic() < deadline, f"no file took {left}"
        time.sleep(0.1)


# ---- looking ----


def read_ledgers(world: World) -> dict[str, Entry]:
    """Reads what the acquirer did, and what the banks did that received the files."""
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


def _look_at_the_end(world: World, cases: Sequence[MethodCase]) -> None:
    records, ledger = world.store.read_payments(), read_ledgers(world)
    sessions = world.acquirer.read_sessions()
    for case in cases:
        case.records = case.find_records(records)
        received = [_describe(case.scenario.method, each, ledger.get(each.id)) for each in case.records]
        if case.scenario.method is Method.PROVIDER and case.records:
            session = sessions.get(case.records[0].id)
            received[0] += f", session {session.status if session else 'never opened'}"
        case.rows = "; ".join(received) or "nothing"


def _describe(method: Method, record: Record, entry: Entry | None) -> str:
    if entry is None and record.is_sent:
        nowhere = "in no file" if method is Method.ACCOUNT else "never charged"
        return f"{record.payment_type} {record.state.name.lower()} `{record.code}`, {nowhere}"
    received = describe_end(record, entry)
    return received.replace("executed once", "in one file") if method is Method.ACCOUNT else received
