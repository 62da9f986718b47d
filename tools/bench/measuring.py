"""Measures one database, part by part, and collects the results. Prints progress, judges nothing.

Rounds are interleaved: whatever else the machine does hits server and limit alike, so ratios are taken within a round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tools.bench.machine import Machine
from tools.bench.memory import MemoryResult, measure_memory
from tools.bench.office import OfficeResult, measure_office
from tools.bench.operation_costs import OperationsResult, measure_operations
from tools.bench.pages import PageResult, measure_pages
from tools.bench.plan import Part, Plan, Side
from tools.bench.rival import run_rival
from tools.bench.rules import RulesResult, measure_rules
from tools.bench.stocked import Pair, open_pair
from tools.bench.subject import Subject
from tools.bench.webhooks import WebhookResult, measure_webhooks
from tools.bench.wrk import Call, Load, send_load

CONNECTIONS = (1, 16, 64)
JUDGED_AT = 64
"""The number of connections at which the limit is to be reached."""
RIVAL_CONNECTIONS = (1, 64)
STOCKED_PARTS = {Part.OPERATIONS, Part.PAGES, Part.OFFICE, Part.GROWTH}
WARM_UP_S = 2
STARTS = 6


@dataclass
class ServerResult:
    """One way to run the server: with so many processes."""

    processes: int
    loads: dict[int, list[Load]] = field(default_factory=lambda: {count: [] for count in CONNECTIONS})
    cpu_us: dict[int, list[float]] = field(default_factory=lambda: {count: [] for count in CONNECTIONS})
    """The server's own processor time for one payment."""
    start_s: list[float] = field(default_factory=list)
    """The first one makes the tables and the sandbox merchant."""
    idle_mb: float = 0.0
    loaded_mb: float = 0.0
    payments: int = 0
    """Found in the database afterwards, each with its result and its event."""


@dataclass
class SideResult:
    name: str
    version: str
    servers: list[ServerResult]
    """The default, one process, comes first; it is the one that is judged."""
    limits: dict[str, list[float]] = field(default_factory=dict)
    few: list[float] = field(default_factory=list)
    many: list[float] = field(default_factory=list)
    operations: OperationsResult | None = None
    pages: PageResult | None = None
    webhooks: WebhookResult | None = None
    office: OfficeResult | None = None
    rules: RulesResult | None = None
    memory: MemoryResult | None = None

    @property
    def limit_name(self) -> str:
        return max(self.limits, key=lambda name: median(self.limits[name]))

    def limit_shares(self, server: ServerResult, connections: int) -> list[float]:
        """Returns the share of each round; how far they lie apart shows how quiet the machine was."""
        limits = self.limits[self.limit_name]
        return [load.per_second / limit for load, limit in zip(server.loads[connections], limits, strict=True)]

    def undisturbed_share(self, server: ServerResult, connections: int) -> float:
        """The best round of the server beside the best of the limit: neighbours make both slower, never faster."""
        best = max(load.per_second for load in server.loads[connections])
        return best / max(rate for rates in self.limits.values() for rate in rates)

    def worse_share(self, server: ServerResult, connections: int) -> float:
        """The lower of the median and the undisturbed share."""
        return min(median(self.limit_shares(server, connections)), self.undisturbed_share(server, connections))

    @property
    def growth_shares(self) -> list[float]:
        return [many / few for few, many in zip(self.few, self.many, strict=True)]

    @property
    def undisturbed_growth_share(self) -> float:
        return max(self.many) / max(self.few)


@dataclass(frozen=True)
class Figures:
    """All that one run measured."""

    plan: Plan
    commit: str
    machine: Machine
    sides: Sequence[SideResult]
    rival_name: str
    rival: Mapping[int, Sequence[Load]]


def measure_side(side: Side, folder: Path, plan: Plan, tell: Callable[[str], None]) -> SideResult:
    servers = [ServerResult(processes) for processes in side.process_counts]
    result = SideResult(side.name, side.version, servers)
    if Part.RATES in plan.parts:
        measure_rates(side, folder, plan, result, tell)
    if plan.parts & STOCKED_PARTS:
        measure_stocked(side, folder, plan, result, tell)
    if Part.WEBHOOKS in plan.parts:
        result.webhooks = measure_webhooks(side, folder, plan, tell)
    if Part.RULES in plan.parts:
        result.rules = measure_rules(side, folder, plan, tell)
    if Part.MEMORY in plan.parts and side.is_embedded:
        result.memory = measure_memory(side, folder, plan, tell)
    return result


def measure_rates(side: Side, folder: Path, plan: Plan, result: SideResult, tell: Callable[[str], None]) -> None:
    """Each server on a database of its own, the limit on another one of the same kind with the same tables."""
    with ExitStack() as stack:
        trials = [_start_trial(side, folder, server, stack) for server in result.servers]
        specimen = side.read_specimen(trials[0].subject.database)
        bare = Subject(folder / "limit", side.create_database())
        bare.process.run("migrate")
        for number in range(1, plan.rounds + 1):
            for trial in trials:
                for connections in CONNECTIONS:
                    trial.measure(connections, plan.seconds)
            for name, per_second in side.measure_limit(bare.database, specimen, plan.seconds).items():
                result.limits.setdefault(name, []).append(per_second)
            tell(f"{side.name}, round {number} of {plan.rounds}: {_tell_round(result)}")
        for trial in trials:
            trial.finish(side)


@dataclass
class Trial:
    """A running server, the request it is sent, and how many of them it answered."""

    subject: Subject
    call: Call
    result: ServerResult
    answered: int

    def measure(self, connections: int, seconds: int) -> None:
        before_s = self.subject.read_cpu_s()
        load = send_load(self.call, connections, seconds)
        self.answered += load.answered
        self.result.loads[connections].append(load)
        self.result.cpu_us[connections].append((self.subject.read_cpu_s() - before_s) / load.answered * 1e6)

    def finish(self, side: Side) -> None:
        """Answered payments must be in the database; requests that wrk cut off at the end of a run may be besides."""
        self.result.loaded_mb = self.subject.read_memory_mb()
        self.subject.stop()
        payments, events = side.count_completed(self.subject.database)
        if payments != events or payments < self.answered:
            raise RuntimeError(f"{self.answered} payments answered, {payments} completed, {events} events")
        self.result.payments = payments


def _start_trial(side: Side, folder: Path, result: ServerResult, stack: ExitStack) -> Trial:
    subject = Subject(folder / f"rates-{result.processes}", side.create_database(), result.processes)
    stack.callback(subject.stop)
    for _ in range(STARTS):
        subject.stop()
        subject.start()
    result.start_s = subject.start_s
    result.idle_mb = subject.read_memory_mb()
    subject.pay_once()
    call = subject.make_call()
    return Trial(subject, call, result, answered=1 + _warm_up(call))


def measure_stocked(side: Side, folder: Path, plan: Plan, result: SideResult, tell: Callable[[str], None]) -> None:
    """Growth comes last, because it stores tens of thousands of payments, also beside the few."""
    with ExitStack() as stack:
        pair = open_pair(side, folder, plan, stack, tell)
        if Part.OPERATIONS in plan.parts:
            result.operations = measure_operations(side, pair, plan, tell)
        if Part.PAGES in plan.parts:
            result.pages = measure_pages(side.name, pair[1], plan, tell)
        if Part.OFFICE in plan.parts:
            result.office = measure_office(side, pair, plan, tell)
        if Part.GROWTH in plan.parts:
            measure_growth(pair, plan, result)
            kept = median(result.growth_shares)
            tell(f"{side.name}: {kept:.2f} of the speed with {plan.stored_many} payments stored")


def measure_growth(pair: Pair, plan: Plan, result: SideResult) -> None:
    """Payments, asked of both in turns."""
    calls = [stocked.subject.make_call() for stocked in pair]
    for call in calls:
        _warm_up(call)
    for _ in range(plan.rounds):
        for call, rates in zip(calls, (result.few, result.many), strict=True):
            rates.append(send_load(call, JUDGED_AT, plan.seconds).per_second)


def measure_rival(plan: Plan, tell: Callable[[str], None]) -> dict[int, list[Load]]:
    loads: dict[int, list[Load]] = {}
    for connections in RIVAL_CONNECTIONS:
        for _ in range(plan.rounds):
            with run_rival() as call:
                loads.setdefault(connections, []).append(send_load(call, connections, plan.seconds))
    tell("localstripe: " + ", ".join(f"{median_rate(each):.0f}/s" for each in loads.values()))
    return loads


def median_rate(loads: Sequence[Load]) -> float:
    return median(load.per_second for load in loads)


def _warm_up(call: Call) -> int:
    return send_load(call, JUDGED_AT, WARM_UP_S).answered


def _tell_round(result: SideResult) -> str:
    rates = [
        f"{loads[-1].per_second:.0f}/s at {connections}"
        for server in result.servers
        for connections, loads in server.loads.items()
    ]
    limits = [f"{rates[-1]:.0f}/s {name}" for name, rates in result.limits.items()]
    return f"{', '.join(rates)}; limit {', '.join(limits)}"
