"""Measures what each operation costs a server with few and one with many stored payments, over HTTP. Judges nothing.

Turns are short and alternate between the two servers. Each is stopped in the turns of the other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from tools.bench.operations import A_SINGLE_TURN, CONNECTIONS, OPERATIONS, PAYMENT, Operation, Target
from tools.bench.plan import Plan, Side
from tools.bench.receiver import ReceiverProcess, run_receiver
from tools.bench.stocked import Costs, Pair
from tools.bench.webhooks import HEARD_S, add_endpoints, await_arrivals

from tollgate.catalog.limits import LIMITS
from tollgate.store.opening import open_database
from tollgate.store.search_index import list_behind
from tollgate.values import SECOND

IDLE_S = 6.0
"""The slowest of the workers that look for work often looks every five seconds."""
JOURNAL_S = 1.0
"""The journal is written a quarter of a second behind, and later under load."""
_GIVEN_UP_S = 300.0


@dataclass
class OperationResult:
    ms: Costs = field(default_factory=Costs)
    """The time of one operation in each turn: from the first request to the last answer, shared out."""
    cpu_us: Costs = field(default_factory=Costs)
    """The processor time of the server for one operation in each pass, with all it does behind the answer."""


@dataclass
class OperationsResult:
    rows: dict[Operation, OperationResult] = field(
        default_factory=lambda: {operation: OperationResult() for operation in OPERATIONS}
    )
    payments: int = 0
    """The payments and follow-ups on each server, all found in its database afterwards."""
    few_at_end: int = 0
    """The transactions that the small store had grown to."""

    def list_ratios(self, operation: Operation) -> list[float]:
        """Lists the processor time of each pass as a multiple of a payment's in the same pass, of both servers."""
        return [
            cost / payment for cost, payment in zip(self._list_both(operation), self._list_both(PAYMENT), strict=True)
        ]

    def find_undisturbed_ratio(self, operation: Operation) -> float:
        """The best pass beside the best: neighbours make both slower, never faster."""
        return min(self._list_both(operation)) / min(self._list_both(PAYMENT))

    def _list_both(self, operation: Operation) -> list[float]:
        costs = self.rows[operation].cpu_us
        return [few + many for few, many in zip(costs.few, costs.many, strict=True)]


def is_compared(operation: Operation) -> bool:
    """Tells whether it is compared with a payment: both are asked for at as many connections."""
    return operation is not PAYMENT and operation.connections == CONNECTIONS


def measure_operations(side: Side, pair: Pair, plan: Plan, tell: Callable[[str], None]) -> OperationsResult:
    result = OperationsResult()
    # Each operation has a turn before any counts, which warms both servers up.
    needed = plan.passes * plan.operations + A_SINGLE_TURN
    targets = [Target(side, each, iter(side.pick_stored(each.database, needed))) for each in pair]
    for operation in OPERATIONS:
        for target in targets:
            _run_turn(target, operation, iter(operation.prepare(target, operation.each)))
    with run_receiver() as receiver:
        for number in range(plan.passes):
            _Pass(targets, receiver, number, plan.operations).measure(result)
            tell(f"{side.name}: operations, pass {number + 1} of {plan.passes}")
    result.few_at_end, _ = (_check(target) for target in targets)
    result.payments = targets[0].payments
    for operation, row in result.rows.items():
        cpu = f"{median(row.cpu_us.few):.0f} and {median(row.cpu_us.many):.0f} µs"
        tell(f"{side.name}: {operation.name} at {operation.connections}: {cpu}, growth {row.cpu_us.growth:.2f}")
    return result


def _check(target: Target) -> int:
    """Every payment answered must be in the database with its event; returns the transactions there."""
    transactions, events = target.side.count_completed(target.stocked.database)
    stored = transactions - target.stocked.filled
    refunds, entries = target.side.count_refunds(target.stocked.database)
    if stored != target.payments or events < transactions or refunds != entries:
        raise RuntimeError(
            f"{target.payments} payments answered, {stored} stored, {refunds} refunds with {entries} entries,"
            f" {events} events of {transactions} transactions"
        )
    return transactions


@dataclass
class _Pass:
    """So many of each operation. What they are done to is made before any is measured."""

    targets: Sequence[Target]
    receiver: ReceiverProcess
    number: int
    operations: int

    def measure(self, result: OperationsResult) -> None:
        prepared = {
            operation: [iter(operation.prepare(target, self._count(operation))) for target in self.targets]
            for operation in OPERATIONS
        }
        self._settle()
        idle_shares = self._measure_idle()
        for operation, row in result.rows.items():
            with self._endpoint(operation):
                self._measure_operation(operation, row, prepared[operation], idle_shares)

    def _count(self, operation: Operation) -> int:
        """Returns as many as fill their turns."""
        return self.operations // operation.each * operation.each

    def _measure_operation(
        self, operation: Operation, row: OperationResult, ids: Sequence[Iterator[str]], idle_shares: Sequence[float]
    ) -> None:
        """A server's own time is what it spends beyond what it spends at rest, until nothing is left to do."""
        count = self._count(operation)
        before_s, began, stopped_s = self._read_cpu_s(), time.monotonic(), [0.0, 0.0]
        for number in range(count // operation.each):
            # Another one begins each time.
            for place in (0, 1) if number % 2 else (1, 0):
                turn_began = time.monotonic()
                with self.targets[1 - place].stocked.subject.pause():
                    spent_s = _run_turn(self.targets[place], operation, ids[place])
                stopped_s[1 - place] += time.monotonic() - turn_began
                (row.ms.many if place else row.ms.few).append(spent_s / operation.each * 1e3)
        self._settle(arrivals=count + 1 if operation.has_endpoint else 0)
        after_s, ran_s = self._read_cpu_s(), time.monotonic() - began
        for place, costs in enumerate((row.cpu_us.few, row.cpu_us.many)):
            at_rest_s = idle_shares[place] * (ran_s - stopped_s[place])
            costs.append((after_s[place] - before_s[place] - at_rest_s) / count * 1e6)

    def _settle(self, arrivals: int = 0) -> None:
        """Waits until nothing is left to do. The clock goes on, because payments are indexed a minute later."""
        for target in self.targets:
            seconds = LIMITS.index_delay // SECOND + 1
            moved = target.stocked.client.post("/sandbox/clock", {"advance": str(seconds), "entityId": None})
            if moved.status != 200:
                raise RuntimeError(f"the clock did not go on: {moved.body.decode()}")
        for place, target in enumerate(self.targets):
            await_arrivals(self.receiver, self._path(place), arrivals)
            asyncio.run(_await_index(target.stocked.database))
        time.sleep(JOURNAL_S)

    def _measure_idle(self) -> list[float]:
        """Returns the share of a processor that each server takes at rest."""
        before_s, began = self._read_cpu_s(), time.monotonic()
        time.sleep(IDLE_S)
        spent_s = time.monotonic() - began
        return [(after - before) / spent_s for before, after in zip(before_s, self._read_cpu_s(), strict=True)]

    def _read_cpu_s(self) -> list[float]:
        return [target.stocked.subject.read_cpu_s() for target in self.targets]

    @contextmanager
    def _endpoint(self, operation: Operation) -> Iterator[None]:
        if not operation.has_endpoint:
            yield
            return
        added = [
            add_endpoints(target.stocked.subject, self.receiver, self._path(place))
            for place, target in enumerate(self.targets)
        ]
        yield
        for target, endpoint_ids in zip(self.targets, added, strict=True):
            client = target.stocked.client
            for endpoint_id in endpoint_ids:
                path = f"/v1/webhooks/{endpoint_id}?entityId={client.entity_id}"
                removed = client.send("DELETE", path, None, client.authorized())
                if removed.status != 200:
                    raise RuntimeError(f"the endpoint was not removed: {removed.body.decode()}")
        time.sleep(HEARD_S)

    def _path(self, place: int) -> str:
        return f"healthy/{self.number}-{place}"


def _run_turn(target: Target, operation: Operation, ids: Iterator[str]) -> float:
    """Returns the seconds from the first request to the last answer, without those in which requests are written."""
    subjects, spent_s = [next(ids) for _ in range(operation.each)], 0.0
    for number, step in enumerate(operation.steps):
        answers, step_s = target.send([step(target, each) for each in subjects], operation.connections)
        spent_s += step_s
        if number == 0 and len(operation.steps) > 1:
            subjects = [str(answer["id"]) for answer in answers]
    target.payments += operation.each if operation.is_payment else 0
    return spent_s


async def _await_index(address: str) -> None:
    database = await open_database(address, must_exist=True)
    try:
        given_up_at = time.monotonic() + _GIVEN_UP_S
        while await list_behind(database):
            if time.monotonic() > given_up_at:
                raise RuntimeError("not all payments were indexed")
            await asyncio.sleep(0.25)
    finally:
        await database.close()
