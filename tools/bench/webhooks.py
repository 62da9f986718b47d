"""Measures deliveries of events: what an endpoint costs payments, how soon events arrive, and beside broken endpoints.

Endpoints are added over HTTP as a platform does, and the receiver is another process on loopback.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from tools.bench.plan import Plan, Side
from tools.bench.receiver import ReceiverProcess, run_receiver
from tools.bench.subject import ORDER, Subject
from tools.bench.wrk import send_load

from gateway import Client

CONNECTIONS = 64
ENDPOINTS = 10
RATE = 50
"""Payments a second, at which ten endpoints have to hear of each in time."""
BROKEN = ("hanging", "failing", "resetting")
_CALLERS = 16
HEARD_S = 1.5
"""After this time every process knows a new endpoint."""
_DRAIN_S = 300.0
_HEX_DIGITS = 16


@dataclass
class WebhookResult:
    unheard: list[float] = field(default_factory=list)
    """Payments a second without an endpoint."""
    heard: list[float] = field(default_factory=list)
    """Payments a second with one."""
    delivered: int = 0
    """The number of events of those payments, all of which were delivered afterwards."""
    delays_s: list[float] = field(default_factory=list)
    """The time from each of a steady flow of payments to the arrival of its event, at each of ten endpoints."""
    alone_s: list[float] = field(default_factory=list)
    """The 99th percentile of that at one healthy endpoint, in each round."""
    beside_s: list[float] = field(default_factory=list)
    """The same beside broken endpoints."""

    @property
    def shares(self) -> list[float]:
        return [heard / unheard for heard, unheard in zip(self.heard, self.unheard, strict=True)]

    @property
    def undisturbed_share(self) -> float:
        return max(self.heard) / max(self.unheard)

    @property
    def growths(self) -> list[float]:
        return [beside / alone for beside, alone in zip(self.beside_s, self.alone_s, strict=True)]

    @property
    def undisturbed_growth(self) -> float:
        return min(self.beside_s) / min(self.alone_s)


def measure_webhooks(side: Side, folder: Path, plan: Plan, tell: Callable[[str], None]) -> WebhookResult:
    result = WebhookResult()
    with run_receiver() as receiver:
        _measure_share(side, folder, plan, result, receiver)
        tell(f"{side.name}: {median(result.shares):.2f} of the speed with an endpoint")
        _measure_delays(side, folder, plan, result, receiver)
        tell(f"{side.name}: {ENDPOINTS} endpoints hear of an event within {max(result.delays_s):.2f} s")
        _measure_neighbours(side, folder, plan, result, receiver)
        tell(f"{side.name}: beside broken endpoints {median(result.growths):.2f} of the time alone")
    return result


def _start(side: Side, folder: Path, stack: ExitStack) -> Subject:
    subject = Subject(folder, side.create_database())
    stack.callback(subject.stop)
    subject.start()
    return subject


def add_endpoints(subject: Subject, receiver: ReceiverProcess, *paths: str) -> list[str]:
    """Returns the ids of the endpoints, once every process knows them."""
    client, endpoint_ids = subject.process.client(), []
    for path in paths:
        # The receiver answers a test event in every case, and recognises it only in clear.
        terms = {"url": receiver.make_url(path), "scheme": "signed" if path.startswith(BROKEN) else "encrypted"}
        added = client.post("/v1/webhooks", terms)
        tested = client.post(f"/v1/webhooks/{added.json['id']}/test", {})
        if tested.json["state"] != "active":
            raise RuntimeError(f"the endpoint was not activated: {tested.body.decode()}")
        endpoint_ids.append(str(added.json["id"]))
    time.sleep(HEARD_S)
    return endpoint_ids


def _measure_share(side: Side, folder: Path, plan: Plan, result: WebhookResult, receiver: ReceiverProcess) -> None:
    """Both servers take turns, and what the one still has to deliver is delivered before the other's turn."""
    with ExitStack() as stack:
        unheard, heard = (_start(side, folder / name, stack) for name in ("unheard", "heard"))
        add_endpoints(heard, receiver, "healthy/share")
        calls = [(subject.make_call(), rates) for subject, rates in ((unheard, result.unheard), (heard, result.heard))]
        for number in range(plan.rounds + 1):
            for call, rates in calls:
                load = send_load(call, CONNECTIONS, plan.seconds)
                # The first round warms both up.
                rates.extend([load.per_second] if number else [])
            _drain(side, heard, receiver, "healthy/share")
        result.delivered = len(receiver.read_arrivals("healthy/share"))


def _drain(side: Side, subject: Subject, receiver: ReceiverProcess, path: str) -> None:
    """Waits until the events of all payments have arrived, and the test event besides."""
    await_arrivals(receiver, path, side.count_completed(subject.database)[1] + 1)


def await_arrivals(receiver: ReceiverProcess, path: str, count: int) -> None:
    given_up_at = time.monotonic() + _DRAIN_S
    while len(receiver.read_arrivals(path)) < count:
        if time.monotonic() > given_up_at:
            raise RuntimeError("not all events were delivered")
        time.sleep(0.5)


def _measure_delays(side: Side, folder: Path, plan: Plan, result: WebhookResult, receiver: ReceiverProcess) -> None:
    with ExitStack() as stack:
        subject = _start(side, folder / "ten", stack)
        paths = [f"healthy/{number}" for number in range(ENDPOINTS)]
        add_endpoints(subject, receiver, *paths)
        ids = _pay_steadily(subject.process.client(), RATE * plan.rounds * plan.seconds, RATE)
        for path in paths:
            _drain(side, subject, receiver, path)
            result.delays_s += _list_delays(receiver.read_arrivals(path), ids)


def _measure_neighbours(side: Side, folder: Path, plan: Plan, result: WebhookResult, receiver: ReceiverProcess) -> None:
    """One healthy endpoint alone, and another beside three broken ones, in turns of the same payments."""
    with ExitStack() as stack:
        alone, beside = (_start(side, folder / name, stack) for name in ("alone", "beside"))
        add_endpoints(alone, receiver, "healthy/alone")
        add_endpoints(beside, receiver, "healthy/beside", *BROKEN)
        turns = ((alone, "healthy/alone", result.alone_s), (beside, "healthy/beside", result.beside_s))
        for _ in range(plan.rounds):
            for subject, path, percentiles in turns:
                ids = _pay_steadily(subject.process.client(), plan.neighbour_payments // plan.rounds, 2 * RATE)
                _drain(side, subject, receiver, path)
                percentiles.append(quantiles(_list_delays(receiver.read_arrivals(path), ids), n=100)[-1])


def _pay_steadily(client: Client, count: int, per_second: int) -> Sequence[str]:
    """Makes payments at a steady rate, and returns their ids."""
    begun = time.monotonic()

    def pay(number: int) -> str:
        time.sleep(max(0.0, begun + number / per_second - time.monotonic()))
        answer = client.post("/v1/payments", ORDER)
        if answer.status != 200:
            raise RuntimeError(f"a payment was refused: {answer.body.decode()}")
        return str(answer.json["id"])

    with ThreadPoolExecutor(_CALLERS) as callers:
        return list(callers.map(pay, range(count)))


def _list_delays(arrivals: dict[str, float], payment_ids: Sequence[str]) -> list[float]:
    """Returns the time from each payment's completion, with which the id of its event begins, to its arrival."""
    by_payment = {event_id[_HEX_DIGITS:]: (event_id[:_HEX_DIGITS], at) for event_id, at in arrivals.items()}
    return [at - int(completed, 16) / 1e6 for completed, at in map(by_payment.__getitem__, payment_ids)]
