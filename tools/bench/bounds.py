"""The bounds that the figures are held against, each against the worse of two ratios. Measures and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from tools.bench.measuring import Figures, ServerResult, SideResult
from tools.bench.memory import SETTLED_AT, TENTHS
from tools.bench.operation_costs import OperationsResult
from tools.bench.operations import Operation
from tools.bench.plan import Part
from tools.bench.rules import RULES
from tools.bench.webhooks import ENDPOINTS

GROWTH_FLOOR = 0.9
START_CEILING_S = 1.0
WEBHOOK_FLOOR = 0.85
WEBHOOK_DELAY_CEILING_S = 2.0
NEIGHBOUR_CEILING = 1.1
OFFICE_CEILING = 2.0
RULES_CEILING = 1.15
EXPORT_CEILING_MB = 16.0
MEMORY_CEILING = 1.1


@dataclass(frozen=True)
class ShareFloor:
    """The share of the limit that a database has to reach."""

    database: str
    connections: int
    share: float
    is_per_core: bool = False
    """The server has one process for each core; otherwise it has one."""

    def find_server(self, side: SideResult) -> ServerResult:
        return side.servers[-1 if self.is_per_core else 0]

    @property
    def words(self) -> str:
        processes = "one process per core" if self.is_per_core else "one process"
        return f"share of the limit at {count_connections(self.connections)}, {processes}"


SHARE_FLOORS = (
    ShareFloor("SQLite", 64, 0.80),
    ShareFloor("SQLite", 1, 0.35),
    ShareFloor("PostgreSQL", 64, 0.75),
    ShareFloor("PostgreSQL", 1, 0.25),
    ShareFloor("PostgreSQL", 64, 1.0, is_per_core=True),
)


@dataclass(frozen=True)
class Bound:
    text: str
    limit: float
    measured: float
    is_ceiling: bool = False

    @property
    def is_kept(self) -> bool:
        return self.measured <= self.limit if self.is_ceiling else self.measured >= self.limit

    @property
    def words(self) -> str:
        return f"{'at most' if self.is_ceiling else 'at least'} {self.limit:.2f}"


def list_bounds(figures: Figures) -> list[Bound]:
    """Lists the bounds of what was measured."""
    many, parts = f"{figures.plan.stored_many:,}", figures.plan.parts
    bounds: list[Bound] = []
    for side in figures.sides:
        if Part.RATES in parts:
            bounds += _bound_rates(side)
        if Part.GROWTH in parts:
            kept = min(median(side.growth_shares), side.undisturbed_growth_share)
            bounds.append(Bound(f"{side.name}: speed kept with {many} payments stored", GROWTH_FLOOR, kept))
        if side.operations:
            bounds += _bound_operations(side.name, side.operations, many)
        if side.office:
            bounds += _bound_office(side, many)
        bounds += [*_bound_webhooks(side), *_bound_rules(side), *_bound_memory(side)]
    return bounds


def _bound_rates(side: SideResult) -> Iterator[Bound]:
    for floor in SHARE_FLOORS:
        if floor.database == side.name:
            share = side.worse_share(floor.find_server(side), floor.connections)
            yield Bound(f"{side.name}: {floor.words}", floor.share, share)
    later_s = median(side.servers[0].start_s[1:])
    yield Bound(f"{side.name}: seconds of a later start, one process", START_CEILING_S, later_s, is_ceiling=True)


def _bound_operations(name: str, measured: OperationsResult, many: str) -> Iterator[Bound]:
    for operation, row in measured.rows.items():
        what = f"{name}: {describe_operation(operation)}"
        growths = (("CPU", operation.cpu_growth_max, row.cpu_us), ("time", operation.time_growth_max, row.ms))
        for unit, limit, costs in growths:
            if limit is not None:
                text = f"{what}, growth of its {unit} with {many} stored"
                yield Bound(text, limit, costs.worse_growth, is_ceiling=True)
        if operation.payments_max is not None:
            ratio = max(median(measured.list_ratios(operation)), measured.find_undisturbed_ratio(operation))
            yield Bound(f"{what}, its CPU to a payment's", operation.payments_max, ratio, is_ceiling=True)


def _bound_office(side: SideResult, many: str) -> Iterator[Bound]:
    assert side.office is not None
    for name, times in side.office.times.items():
        text = f"{side.name}: growth of the p95 of {name} with {many} stored"
        yield Bound(text, OFFICE_CEILING, times.growth, is_ceiling=True)
    text = f"{side.name}: MiB that a long export needs beyond a short one"
    yield Bound(text, EXPORT_CEILING_MB, side.office.many_mb - side.office.few_mb, is_ceiling=True)


def _bound_webhooks(side: SideResult) -> Iterator[Bound]:
    if side.webhooks:
        heard = side.webhooks
        share = min(median(heard.shares), heard.undisturbed_share)
        yield Bound(f"{side.name}: speed kept with one endpoint", WEBHOOK_FLOOR, share)
        text = f"{side.name}: seconds until {ENDPOINTS} endpoints have heard of an event"
        yield Bound(text, WEBHOOK_DELAY_CEILING_S, max(heard.delays_s), is_ceiling=True)
        grown = max(median(heard.growths), heard.undisturbed_growth)
        text = f"{side.name}: growth of a healthy endpoint's p99 beside broken ones"
        yield Bound(text, NEIGHBOUR_CEILING, grown, is_ceiling=True)


def _bound_rules(side: SideResult) -> Iterator[Bound]:
    if side.rules:
        cost = max(median(side.rules.costs), side.rules.undisturbed_cost)
        text = f"{side.name}: time of a payment with {RULES} active rules to one without"
        yield Bound(text, RULES_CEILING, cost, is_ceiling=True)


def _bound_memory(side: SideResult) -> Iterator[Bound]:
    if side.memory:
        share = f"{100 * SETTLED_AT // TENTHS} %"
        text = f"{side.name}: memory after {side.memory.payments:,} payments to that after {share} of them"
        yield Bound(text, MEMORY_CEILING, side.memory.growth, is_ceiling=True)


def describe_operation(operation: Operation) -> str:
    return f"{operation.name} at {count_connections(operation.connections)}"


def count_connections(count: int) -> str:
    return f"{count} connection{'s' if count > 1 else ''}"
