"""Gateways and commands that die while an endpoint is tested or removed, or while its events are replayed.

The crash points, and what each may leave behind, are rows elsewhere; here they are only made and looked at.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial

from crash.crash_point import arm, read_point
from crash.crashes import Crash, CrashCase, Ending, Request, describe_store
from crash.delivery_cases import wait_until_delivered
from crash.store_reader import Record, StoreReader
from crash.world import PATIENCE_S, World, pay, try_to
from gateway import COMMAND_S, Answer, Client, inherit_variables
from receiving import Receiver
from tollgate.payments.webhooks import DeliveryState, WebhookState
from warm import WarmProcess

OK, FAILED = 200, 500
RETRY_S = "3"
"""A delivery that failed before the crash is tried again soon after it."""
_KILLED = -9
_TIMES = {0: "not heard", 1: "heard once", 2: "heard twice"}
_AGAIN: dict[tuple[int, ...], str] = {(0, 0): "no event heard again", (1, 1): "every event heard again"}


class Action(Enum):
    TEST = auto()
    REMOVE = auto()
    """An endpoint is removed while a delivery to it is pending."""
    REPLAY = auto()
    """The command dies, and no gateway is alive meanwhile."""


@dataclass(frozen=True)
class EndpointRequest(Request):
    action: Action = Action.TEST
    status: int = OK
    """The receiver answers tests with this status."""


@dataclass
class EndpointCase(CrashCase):
    webhook_id: str = ""
    heard_before: Counter[str] = field(default_factory=Counter)
    """The receiver had heard each event so often when the case began."""
    answered: str = ""

    @property
    def request(self) -> EndpointRequest:
        assert isinstance(self.crash.request, EndpointRequest)
        return self.crash.request

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, self.answered)

    def find_records(self, records: Iterable[Record]) -> list[Record]:  # noqa: ARG002
        """Finds nothing: the payments of these cases are there for their events only."""
        return []

    def tell_more(self, store: StoreReader) -> list[str]:
        """Lists the state of the endpoint, and what is recorded of the action."""
        own = f"webhook_id = '{self.webhook_id}'"
        found = store.query(f"SELECT state FROM webhooks WHERE id = '{self.webhook_id}'")
        told = [f"endpoint {WebhookState(int(state)).name.lower()}" for (state,) in found] or ["endpoint removed"]
        states = [DeliveryState(int(state)) for (state,) in store.query(f"SELECT state FROM deliveries WHERE {own}")]
        match self.request.action:
            case Action.TEST:
                tests = len(store.query(f"SELECT id FROM delivery_attempts WHERE {own}"))
                return [*told, *(["test recorded"] if tests else [])]
            case Action.REMOVE:
                return [*told, *(f"delivery {state.name.lower()}" for state in states)]
            case Action.REPLAY:
                replays = len(store.query(f"SELECT id FROM replays WHERE {own}"))
                pending = states.count(DeliveryState.PENDING)
                queued = "every event queued" if pending == len(states) else f"{pending} events queued"
                return [*told, *(["replay recorded"] if replays else []), *([queued] if pending else [])]

    def tell_heard(self, receiver: Receiver, store: StoreReader) -> list[str]:
        """Tells how often the receiver heard the events since the case began."""
        if self.request.action is Action.REMOVE:
            # How often the delivery failed before is chance.
            return []
        heard = receiver.count_events() - self.heard_before
        if self.request.action is Action.TEST:
            return [_TIMES.get(heard.total(), f"heard {heard.total()} times")]
        own = store.query(f"SELECT event_id FROM deliveries WHERE webhook_id = '{self.webhook_id}'")
        times = [heard[event_id] for (event_id,) in own]
        assert sum(times) == heard.total(), "an event of another endpoint was replayed"
        return [_AGAIN.get(tuple(times), f"heard again {times} times")]

    # ---- the three actions ----

    def prepare(self, world: World, receiver: Receiver, client: Client) -> None:
        """Adds the endpoint and makes what the action is about, while a gateway is alive that nothing happens to."""
        added = client.post("/v1/webhooks", {"url": receiver.url, "retries": RETRY_S})
        assert added.status == OK, added.body
        self.webhook_id = added.json["id"]
        if self.request.action is not Action.TEST:
            assert self.test(client).json["state"] == "active"
            is_replayed = self.request.action is Action.REPLAY
            receiver.choose = lambda _number: OK if is_replayed else FAILED
            for part in range(2 if is_replayed else 1):
                assert pay(client, f"{self.crash.number}{part}.00", f"{self.crash.key}-{part}").status == OK
            if is_replayed:
                wait_until_delivered(world)
            else:
                _wait_for_failure(world, self.webhook_id)
        self.heard_before = receiver.count_events()

    def test(self, client: Client) -> Answer:
        return client.post(f"/v1/webhooks/{self.webhook_id}/test", {})

    def remove(self, client: Client) -> Answer:
        return client.send("DELETE", f"/v1/webhooks/{self.webhook_id}", None, client.authorized())

    def replay(self, world: World, point: str = "") -> int:
        """Runs the command, which is killed at a point if one is named, and returns its exit code."""
        place = ["--data", str(world.folder), "--database", world.database]
        command = ["events", "replay", "--webhook", self.webhook_id, "--status", "delivered", "--yes", *place]
        variables = {**inherit_variables(), "TOLLGATE_KEY_FILE": str(world.folder / "keys.json")}
        log = world.folder / f"{self.crash.key}.log"
        process = WarmProcess(command, variables, log, log, partial(arm, read_point(point)) if point else None)
        return process.wait(COMMAND_S)

    def read_log(self, world: World) -> str:
        return (world.folder / f"{self.crash.key}.log").read_text("utf-8")

    def die(self, world: World) -> None:
        point = self.crash.kill.point
        if self.request.action is Action.REPLAY:
            assert self.replay(world, point) == _KILLED, f"{self.crash.name}: the command survived"
            return
        gateway = world.make_gateway(point)
        gateway.start()
        client, act = world.make_client(gateway), self.test if self.request.action is Action.TEST else self.remove
        assert try_to(partial(act, client)) is None, f"{self.crash.name}: the gateway survived"
        gateway.wait_for_death()

    def repeat(self, world: World, client: Client) -> str:
        match self.request.action:
            case Action.TEST:
                return f"endpoint {self.test(client).json['state']}"
            case Action.REMOVE:
                return "removed" if self.remove(client).status == OK else "not found"
            case Action.REPLAY:
                assert self.replay(world) == 0
                wait_until_delivered(world)
                return f"{self.read_log(world).split()[-1]} events queued"


def run_endpoint_crashes(world: World, receiver: Receiver, crashes: Sequence[Crash]) -> list[EndpointCase]:
    """Dies at every crash point, and after each lets a gateway live that delivers what is left and is asked again."""
    cases = [EndpointCase(crash) for crash in crashes]
    for case in cases:
        receiver.choose = lambda _number: OK
        gateway = world.make_gateway()
        gateway.start()
        case.prepare(world, receiver, world.make_client(gateway))
        gateway.kill()
        if case.request.action is Action.TEST:
            receiver.choose = partial(_answer, case.request.status)
        case.die(world)
        case.held.append(describe_store(world, case))
        if case.request.action is not Action.TEST:
            receiver.choose = lambda _number: OK
        recovery = world.make_gateway()
        recovery.start()
        wait_until_delivered(world)
        case.rows = "; ".join([*case.tell_more(world.store), *case.tell_heard(receiver, world.store)])
        client = world.make_client(recovery)
        case.answered = case.repeat(world, client)
        # Or else the payments of the next case would be events of this endpoint too.
        case.remove(client)
        recovery.kill()
    return cases


def _answer(status: int, _number: int) -> int:
    return status


def _wait_for_failure(world: World, webhook_id: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not world.store.query(f"SELECT tries FROM deliveries WHERE webhook_id = '{webhook_id}' AND tries > 0"):
        assert time.monotonic() < deadline, f"no delivery failed within {PATIENCE_S} s"
        time.sleep(0.1)
