"""Figures of a run that nobody measured, for tests of what is made of them. No test lives here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.bench.machine import Machine
from tools.bench.measuring import CONNECTIONS, Figures, ServerResult, SideResult
from tools.bench.memory import MemoryResult
from tools.bench.operation_costs import OperationResult, OperationsResult
from tools.bench.operations import OPERATIONS, PAYMENT, Operation
from tools.bench.plan import Part, Plan
from tools.bench.stocked import Costs
from tools.bench.wrk import Load

LIMIT = 1_000.0
MACHINE = Machine("2 cores (aarch64)", "Python 3.11.2", "load average 0.1 before", "2026-11-19 05:00 UTC")


def make_plan(*parts: Part) -> Plan:
    return Plan(
        rounds=3,
        seconds=1,
        stored_few=1_000,
        stored_many=1_000_000,
        passes=3,
        operations=64,
        far_page=1,
        page_rounds=1,
        neighbour_payments=1,
        memory_payments=1_000,
        memory_s=1,
        parts=frozenset(parts),
    )


def make_figures(*sides: SideResult, parts: Sequence[Part] = (Part.RATES,)) -> Figures:
    return Figures(make_plan(*parts), "1234abcd", MACHINE, sides, "", {})


def make_side(name: str, *servers: ServerResult) -> SideResult:
    return SideResult(name, f"{name} 1", list(servers), limits={"one loop": [LIMIT, LIMIT, LIMIT]})


def make_server(
    processes: int, rates: Mapping[int, Sequence[float]], start_s: Sequence[float] = (3.0, 0.5)
) -> ServerResult:
    """Makes a server that answered so many payments a second in each round; at other connections, half the limit."""
    server = ServerResult(processes, start_s=list(start_s))
    for connections in CONNECTIONS:
        for rate in rates.get(connections, (LIMIT / 2,) * 3):
            server.loads[connections].append(Load(connections, answered=int(rate), seconds=1.0, p50_ms=1.0, p99_ms=2.0))
            server.cpu_us[connections].append(500.0)
    return server


def make_operations(cpu_us: Mapping[Operation, Costs]) -> OperationsResult:
    """Makes the result of operations that cost as much as a payment, 100 µs in each of three passes, but for some."""
    rows = {
        operation: OperationResult(make_steady(1.0, 1.0), cpu_us.get(operation, make_steady(100.0, 100.0)))
        for operation in OPERATIONS
    }
    return OperationsResult(rows, payments=640, few_at_end=1_641)


def make_steady(few: float, many: float) -> Costs:
    """Makes costs that are the same in each pass."""
    return Costs([few] * 3, [many] * 3)


def find_operation(name: str, connections: int = PAYMENT.connections) -> Operation:
    [found] = [each for each in OPERATIONS if (each.name, each.connections) == (name, connections)]
    return found


def make_memory(at_fifth_mb: float, at_end_mb: float) -> MemoryResult:
    read_mb = {1: at_fifth_mb - 9, 2: at_fifth_mb, 5: at_fifth_mb, 10: at_end_mb}
    return MemoryResult(1_000, read_mb, at_end_mb, answered=1_000, payments=1_001)
