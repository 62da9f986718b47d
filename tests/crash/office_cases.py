"""Gateways and commands that die while something is done for a person: a granted action, a file, an erasure, the index.

The crash points, and what each may leave behind, are rows elsewhere; here they are only made and looked at.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from crash.calendars import move_clock, pass_deadlines
from crash.crash_point import arm, read_point
from crash.crashes import Crash, CrashCase, Ending, Request, describe_end, describe_store
from crash.server import Server
from crash.store_reader import Record, StoreReader
from crash.world import PATIENCE_S, World, pay, try_to
from gateway import COMMAND_S, Answer, Client, inherit_variables
from office_client import OfficeClient, enter_office
from office_users import enter_as
from tollgate.catalog.permissions import Role
from tollgate.payments.users import ApprovalState
from tollgate.values import make_id
from warm import WarmProcess

FOUR_EYES = ("--four-eyes", "refund=1.00,token")
_KILLED = -9
_FORM = re.compile(r'action="([^"]+/approvals/[0-9a-f]+)"')
_KEY = re.compile(r'action="[^"]*/refund">.*?name="key" value="([0-9a-z]+)"', re.DOTALL)
_OUTCOMES = {
    "had been sent before": "sent before",
    "had been made before": "made before",
    "Refund of": "sent now",
    "was made": "made now",
}
"""The words of an outcome, and what they mean."""


class Action(Enum):
    REFUND = auto()
    """A second person grants a refund."""
    TOKEN = auto()
    """A second person grants an access token."""
    RECORD = auto()
    """The command dies in a file with two chargebacks, and no gateway is alive meanwhile."""
    ERASE = auto()
    """The command that erases a person dies; search index and payment name the person before."""
    INDEX = auto()
    """The gateway dies while it indexes a payment, which nobody waits for."""


@dataclass(frozen=True)
class OfficeRequest(Request):
    action: Action = Action.REFUND


@dataclass(frozen=True)
class OfficeCrash(Crash):
    @property
    def again(self) -> str:
        is_awaited = not (isinstance(self.request, OfficeRequest) and self.request.action is Action.INDEX)
        return "repeated" if is_awaited else ""


@dataclass
class OfficeCase(CrashCase):
    approver: OfficeClient | None = None
    subject: str = ""
    """The subject of the request for a second person."""
    answered: str = ""

    @property
    def action(self) -> Action:
        assert isinstance(self.crash.request, OfficeRequest)
        return self.crash.request.action

    @property
    def email(self) -> str:
        return f"{self.crash.key}@shopper.example"

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, self.answered)

    def find_records(self, records: Iterable[Record]) -> list[Record]:
        """Finds what followed the payments of the case."""
        return [each for each in records if each.chain_id in self.before]

    def tell_more(self, store: StoreReader) -> list[str]:
        match self.action:
            case Action.REFUND:
                return self._tell_approval(store)
            case Action.TOKEN:
                made = len(store.query(f"SELECT id FROM credentials WHERE label = '{self.crash.key}'"))
                return [*self._tell_approval(store), *([f"{made} token"] if made else [])]
            case Action.ERASE:
                echo = store.query(f"SELECT echo FROM payments WHERE id = '{self.before[0]}'")[0][0]
                told = "payment names the person" if self.email in echo else "payment erased"
                return [told, *(["index names the person"] if self.is_indexed(store, self.email) else [])]
            case Action.INDEX:
                return [_tell_index(store) if self.is_indexed(store) else "not indexed"]
            case Action.RECORD:
                return []

    def _tell_approval(self, store: StoreReader) -> list[str]:
        found = store.query(f"SELECT state, outcome FROM approvals WHERE subject = '{self.subject}'")
        return [
            f"approval {ApprovalState(int(state)).name.lower()}{', outcome noted' if outcome else ''}"
            for state, outcome in found
        ]

    def is_indexed(self, store: StoreReader, word: str = "") -> bool:
        """Tells whether the payment is found by something, or by a word."""
        own = f"payment_id = '{self.before[0]}'"
        return any(word in term for (term,) in store.query(f"SELECT term FROM payment_terms WHERE {own}"))

    # ---- before the crash ----

    def prepare(self, world: World, gateway: Server, client: Client) -> None:
        """Makes what the action is about, while a gateway is alive that nothing happens to."""
        extra = {"customer.email": self.email, "customer.givenName": "Jane", "customer.surname": "Jones"}
        for part in range(2 if self.action is Action.RECORD else 1):
            paid = pay(client, f"{self.crash.number * 100 + part}.00", f"{self.crash.key}-{part}", extra=extra)
            assert paid.status == 200, paid.body
            self.before += (paid.json["id"],)
        if self.action in (Action.REFUND, Action.TOKEN):
            self._ask_second_person(gateway)
        if self.action is Action.ERASE:
            move_clock(world.store)
            _wait_for(lambda: self.is_indexed(world.store, self.email), "the payment is not indexed")

    def _ask_second_person(self, gateway: Server) -> None:
        office = enter_office(gateway)
        self.approver = enter_as(gateway, Role.ADMINISTRATOR, merchant_id=office.merchant_id)
        if self.action is Action.TOKEN:
            self.subject = self.crash.key
            office.get(f"{office.base}/tokens")
            answer = office.post(f"{office.base}/tokens", {"key": make_id(), "label": self.subject})
        else:
            [self.subject] = self.before
            path = f"{office.base}/payments/{self.subject}"
            key = _KEY.search(office.get(path).body.decode())
            assert key is not None
            answer = office.post(f"{path}/refund", {"key": key[1], "amount": self.crash.amount or ""})
        assert "A second person has to confirm this" in answer.body.decode()

    # ---- the crash, and the same again ----

    def grant(self, gateway: Server) -> Answer | None:
        """Grants the request; None if the page offers no request to grant."""
        assert self.approver is not None
        self.approver.base_url = gateway.base_url
        form = _FORM.search(self.approver.get(f"{self.approver.base}/approvals").body.decode())
        return None if form is None else self.approver.post(form[1], {"decision": "grant"})

    def run_command(self, world: World, point: str = "") -> int:
        """Runs the command of the action, which is killed at a point if one is named, and returns its exit code."""
        if self.action is Action.RECORD:
            path = world.folder / f"{self.crash.key}.csv"
            lines = [f"{each},CB,{self.crash.number}.0{place},EUR,{each}" for place, each in enumerate(self.before)]
            path.write_text("\n".join(["paymentId,type,amount,currency,reference", *lines]), "utf-8")
            command = ["record", "--file", str(path)]
        else:
            [(merchant_id,)] = world.store.query(f"SELECT merchant_id FROM payments WHERE id = '{self.before[0]}'")
            command = ["erase", merchant_id, "--email", self.email, "--yes"]
        command += ["--data", str(world.folder / "gateway"), "--database", world.database]
        variables = {**inherit_variables(), "TOLLGATE_KEY_FILE": str(world.folder / "keys.json")}
        log = world.folder / f"{self.crash.key}.log"
        process = WarmProcess(command, variables, log, log, partial(arm, read_point(point)) if point else None)
        return process.wait(COMMAND_S)

    def die(self, world: World) -> None:
        point = self.crash.kill.point
        if self.action in (Action.RECORD, Action.ERASE):
            assert self.run_command(world, point) == _KILLED, f"{self.crash.name}: the command survived"
            return
        gateway = _make_gateway(world, point)
        if self.action is Action.INDEX:
            move_clock(world.store)
            gateway.launch()
        else:
            gateway.start()
            assert try_to(lambda: self.grant(gateway) or _fail(self)) is None, f"{self.crash.name}: it survived"
        gateway.wait_for_death()

    def repeat(self, world: World, gateway: Server) -> str:
        if self.action is Action.INDEX:
            return ""
        if self.action in (Action.RECORD, Action.ERASE):
            assert self.run_command(world) == 0
            told = (world.folder / f"{self.crash.key}.log").read_text("utf-8").splitlines()
            if self.action is Action.RECORD:
                return ", ".join(told[-3:-1])
            return "; ".join([told[-1], *self.tell_more(world.store)])
        if self.grant(gateway) is None:
            return "nothing to grant"
        [(outcome,)] = world.store.query(f"SELECT outcome FROM approvals WHERE subject = '{self.subject}'")
        told = [meaning for words, meaning in _OUTCOMES.items() if words in outcome]
        return ", ".join([*told, *self.tell_more(world.store)])


def _fail(case: OfficeCase) -> Answer:
    raise AssertionError(f"{case.crash.name}: there is nothing to grant")


def _tell_index(store: StoreReader) -> str:
    """Compares the tallies with the payments that are indexed; all payments of these cases are completed."""
    [(indexed,)] = store.query("SELECT count(DISTINCT payment_id) FROM payment_terms")
    [(counted,)] = store.query("SELECT sum(payments) FROM payment_tallies")
    return "indexed and counted once" if indexed == counted else f"{indexed} indexed, {counted} counted"


def _make_gateway(world: World, point: str = "") -> Server:
    gateway = world.make_gateway(point)
    gateway.arguments = FOUR_EYES
    return gateway


def run_office_crashes(world: World, crashes: Sequence[OfficeCrash]) -> list[OfficeCase]:
    """Dies at every crash point, and after each lets a gateway live in which the same is done again."""
    cases = [OfficeCase(crash) for crash in crashes]
    for case in cases:
        gateway = _make_gateway(world)
        gateway.start()
        pass_deadlines(world.store)
        case.prepare(world, gateway, world.make_client(gateway))
        gateway.kill()
        case.die(world)
        case.held.append(describe_store(world, case))
        # Past the time-outs of the acquirer, and past the time for which a granted action may still run.
        move_clock(world.store)
        recovery = _make_gateway(world)
        recovery.start()
        world.store.wait_until_nothing_is_open(PATIENCE_S)
        if case.action is Action.INDEX:
            _wait_for(partial(case.is_indexed, world.store), "the payment is not indexed")
        records, ledger = world.store.read_payments(), world.acquirer.read_ledger()
        ended = [describe_end(each, ledger.get(each.id)) for each in case.find_records(records)]
        case.rows = "; ".join([*ended, *case.tell_more(world.store)]) or "nothing"
        case.answered = case.repeat(world, recovery)
        world.store.wait_until_nothing_is_open(PATIENCE_S)
        recovery.kill()
    return cases


def _wait_for(is_so: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{complaint} after {PATIENCE_S} s"
        time.sleep(0.1)
