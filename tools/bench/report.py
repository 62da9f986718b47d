"""The figures as tables for docs/benchmarks.md, and the floors they are held against. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tools.bench.measuring import CONNECTIONS, JUDGED_AT, Plan, ServerResult, SideResult, median_rate
from tools.bench.wrk import Load

LIMIT_FLOOR = 0.6
GROWTH_FLOOR = 0.9

_TOP = """# Benchmarks

Written by `make bench`; do not edit. Figures are medians of rounds in which server and limit take turns, so that
whatever else the machine does hits both. A ratio is the median of the ratios within the rounds; the span beside it
tells how quiet the machine was, and "undisturbed" is the server's best round beside the limit's best, because
neighbours make both slower and never faster. Floors are held against the lower of the two.
"""
_RATES = """## Payments per second

`tollgate serve` with its defaults, its log going to a file; on PostgreSQL also with `--workers` for each core. wrk
posts debits of fifteen fields over loopback, each with a reference of its own. Every payment is checked, sealed,
written durably, sent to the simulated acquirer, settled durably together with its event, and answered; afterwards all
are counted in the database. The default, one process, is what the floor is held against.
"""
_LIMITS = """The limit is the same two durable commits of the same rows, copied from a payment that the server made,
into the same tables and indexes, one payment at a time, with no work but the database's: pgbench with two prepared
statements and the best of several connection counts, or a bare loop in one thread. A server may pass it, because
payments that wait at the same moment share a commit.
"""
_GROWTH = f"""## With payments stored

Payments per second at {JUDGED_AT} connections; both servers run at once and take turns.
"""
_NEEDS = """## Start and memory

From the command to the first ready answer, and the process's proportional share of memory.
"""
_RIVAL = """
A public stand-in for a payment API, fresh for every measurement, creating charges for one customer. It keeps
everything in memory and writes all of it to a file with every change, without waiting for the disk; so it slows down
as charges add up, and these are its first seconds. Beside it, how many times as many payments Tollgate makes.
"""
_FLOORS = """## Floors
"""


@dataclass(frozen=True)
class Floor:
    text: str
    least: float
    measured: float

    @property
    def is_kept(self) -> bool:
        return self.measured >= self.least


@dataclass(frozen=True)
class Figures:
    plan: Plan
    commit: str
    machine: Sequence[str]
    sides: Sequence[SideResult]
    rival_name: str
    rival: Mapping[int, Sequence[Load]]


def list_floors(figures: Figures) -> list[Floor]:
    floors = []
    for side in figures.sides:
        default = side.servers[0]
        # The lower of the two, so that a neighbour who slows the limit down does not lift the server over it.
        share = min(median(side.limit_shares(default, JUDGED_AT)), side.undisturbed_share(default, JUDGED_AT))
        floors.append(Floor(f"{side.name}: share of the limit at {JUDGED_AT} connections", LIMIT_FLOOR, share))
        many = f"{figures.plan.stored_many:,}"
        kept = min(median(side.growth_shares), side.undisturbed_growth_share)
        floors.append(Floor(f"{side.name}: speed kept with {many} payments stored", GROWTH_FLOOR, kept))
    return floors


def render(figures: Figures) -> str:
    parts = (_render_top, _render_rates, _render_limits, _render_growth, _render_needs, _render_rival, _render_floors)
    return "\n\n".join("\n".join(part(figures)) for part in parts) + "\n"


def _render_top(figures: Figures) -> Iterator[str]:
    plan = figures.plan
    yield _TOP
    yield f"- commit {figures.commit}"
    yield from (f"- {fact}" for fact in figures.machine)
    yield f"- {', '.join(side.version for side in figures.sides)}"
    yield f"- {plan.rounds} rounds, {plan.seconds} s for each measurement"


def _render_rates(figures: Figures) -> Iterator[str]:
    yield _RATES
    titles = ("connections", "payments/s", "p50 ms", "p99 ms", "CPU µs each", "of the limit", "rounds", "undisturbed")
    yield from _head("database", "processes", *titles)
    for side in figures.sides:
        for server in side.servers:
            for connections in CONNECTIONS:
                yield _render_rate(side, server, connections)


def _render_rate(side: SideResult, server: ServerResult, connections: int) -> str:
    loads, shares = server.loads[connections], side.limit_shares(server, connections)
    return _row(
        side.name,
        server.processes,
        connections,
        f"{median_rate(loads):,.0f}",
        f"{median(load.p50_ms for load in loads):.1f}",
        f"{median(load.p99_ms for load in loads):.1f}",
        f"{median(server.cpu_us[connections]):.0f}",
        f"{median(shares):.2f}",
        _span(shares),
        f"{side.undisturbed_share(server, connections):.2f}",
    )


def _render_limits(figures: Figures) -> Iterator[str]:
    yield _LIMITS
    yield from _head("database", "how", "payments/s", "")
    for side in figures.sides:
        for name, rates in side.limits.items():
            yield _row(side.name, name, f"{median(rates):,.0f}", "the limit" if name == side.limit_name else "")


def _render_growth(figures: Figures) -> Iterator[str]:
    plan = figures.plan
    yield _GROWTH
    yield from _head(
        "database", f"{plan.stored_few:,} stored", f"{plan.stored_many:,} stored", "ratio", "rounds", "undisturbed"
    )
    for side in figures.sides:
        shares = side.growth_shares
        few, many = f"{median(side.few):,.0f}", f"{median(side.many):,.0f}"
        ratios = f"{median(shares):.2f}", _span(shares), f"{side.undisturbed_growth_share:.2f}"
        yield _row(side.name, few, many, *ratios)


def _render_needs(figures: Figures) -> Iterator[str]:
    yield _NEEDS
    titles = ("first start s", "later starts s", "idle MiB", "after the load MiB", "payments made")
    yield from _head("database", "processes", *titles)
    for side in figures.sides:
        for server in side.servers:
            first_s, *later_s = server.start_s
            starts = f"{first_s:.2f}", f"{median(later_s):.2f}"
            memory = f"{server.idle_mb:.0f}", f"{server.loaded_mb:.0f}"
            yield _row(side.name, server.processes, *starts, *memory, f"{server.payments:,}")


def _render_rival(figures: Figures) -> Iterator[str]:
    yield f"## Beside {figures.rival_name}"
    yield _RIVAL
    yield from _head("connections", "charges/s", "p50 ms", "p99 ms", *(f"on {side.name}" for side in figures.sides))
    for connections, loads in figures.rival.items():
        rate = median_rate(loads)
        yield _row(
            connections,
            f"{rate:,.0f}",
            f"{median(load.p50_ms for load in loads):.1f}",
            f"{median(load.p99_ms for load in loads):.1f}",
            *(f"{median_rate(side.servers[0].loads[connections]) / rate:.1f} times" for side in figures.sides),
        )


def _render_floors(figures: Figures) -> Iterator[str]:
    yield _FLOORS
    yield from _head("floor", "at least", "measured", "")
    for floor in list_floors(figures):
        kept = "kept" if floor.is_kept else "**broken**"
        yield _row(floor.text, f"{floor.least:.2f}", f"{floor.measured:.2f}", kept)


def _span(shares: Sequence[float]) -> str:
    return f"{min(shares):.2f} to {max(shares):.2f}"


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield _row(*("---" for _ in titles))


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
