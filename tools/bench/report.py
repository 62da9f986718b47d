"""The figures as tables for docs/benchmarks.md. Measures and judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles

from tools.bench.bounds import list_bounds
from tools.bench.measuring import CONNECTIONS, JUDGED_AT, Figures, ServerResult, SideResult, median_rate
from tools.bench.memory import CONNECTIONS as MEMORY_CONNECTIONS
from tools.bench.memory import SETTLED_AT, TENTHS
from tools.bench.office import EXPORTED_FEW, EXPORTED_MANY
from tools.bench.operation_costs import OperationsResult, is_compared
from tools.bench.operations import Operation
from tools.bench.pages import FAR, FIRST, PAGE_SIZE, SECOND
from tools.bench.plan import Part
from tools.bench.rules import RULES, SHOPPERS
from tools.bench.webhooks import ENDPOINTS, RATE

_SHOWN_TENTHS = (1, SETTLED_AT, 5)

_TOP = """# Benchmarks

Written by `make bench`; do not edit. Figures are medians of rounds in which server and limit take turns, so that
other work on the machine affects both. A ratio is the median of the ratios within the rounds. The span of the rounds
shows how quiet the machine was. "Undisturbed" compares the server's best round with the limit's best, because other
work only makes them slower. Bounds are checked against the worse of the two.
"""
_RATES = """## Payments per second

`tollgate serve` runs with its defaults and logs to a file; on PostgreSQL also with `--workers` for each core. wrk
posts debits of fifteen fields over loopback, each with its own reference. Every payment is checked, sealed, written
durably, sent to the simulated acquirer, completed durably with its event and its ledger entries, and answered.
Afterwards all are counted in the database.
"""
_LIMITS = """The limit is the same two durable commits of the same rows, copied from a payment of the server, into the
same tables and indexes, one payment at a time, with no work but the database's: pgbench with two prepared statements
and the best of several connection counts, or a bare loop in one thread. A server may exceed it, because payments that
wait at the same moment share a commit.
"""
_GROWTH = f"""## With payments stored

Payments per second at {JUDGED_AT} connections; both servers run at once and take turns.
"""
_OPERATIONS = """## What each operation costs with payments stored

Each operation over HTTP with one process: the processor time of the server for one of them, in all its processes and
threads and with all it does behind the answer, beyond what it takes at rest. Then the time of a turn from the first
request to the last answer, divided by its operations, so at several connections it is the time between two answers.
Both servers take short turns, and each is stopped in the turns of the other. What an operation is done to is made
before, or comes from the whole store. "To a payment" is the processor time as a multiple of a payment's, on both
servers. The growth of a page has no bound, because the first page also counts the pages, up to its limit.
"""
_PAGES = f"""## A page far into a report

Milliseconds for one page of {PAGE_SIZE} payments over HTTP at one connection. The far page was reached by following the
cursor from page to page. The first page also counts the pages, up to its limit. These figures have no bound.
"""
_WEBHOOKS = f"""## Events to endpoints

Payments per second at {JUDGED_AT} connections with one endpoint and without any; both servers take turns, and
afterwards all events have arrived. Then {RATE} payments a second with {ENDPOINTS} endpoints: the time from the
completion of a payment to the arrival of its event. Then a healthy endpoint alone, and another beside one that hangs,
one that fails and one that resets connections: the 99th percentile of the same time, at {2 * RATE} payments a second.
"""
_OFFICE = f"""## The back office with payments stored

The 95th percentile of a round in milliseconds, for a whole page over HTTP at one connection. Both
servers run at once and take turns, request by request. Then the resident memory that a server needs, at its peak,
beyond what it had before, to export {EXPORTED_FEW:,} rows and {EXPORTED_MANY:,} rows.
"""
_RULES = f"""## Risk rules

Payments per second at {JUDGED_AT} connections with {RULES} active rules and without any. The servers take short turns.
Each is stopped in the turns of the other, so that what it does behind its answers is done in its own time. The
payments are those of {SHOPPERS:,} shoppers, each with a card, an e-mail and an address. No rule refuses one. The ratio
is the time of a payment with the rules to that of one without. "Undisturbed" compares the best quarter of the turns.
"""
_NEEDS = """## Start and memory

The time from the command to the first ready answer, and the process's proportional share of memory.
"""
_RIVAL = """
A public mock of a payment API, started anew for every measurement, creates charges for one customer. It keeps
everything in memory and writes all of it to a file with every change, without waiting for the disk. So it slows down
as charges add up, and these are its first seconds. The last columns compare Tollgate's payments with it.
"""
_MEMORY = f"""## Memory while payments are made

One process on SQLite makes payments at {MEMORY_CONNECTIONS} connections. The table shows its proportional share
of memory after each part of them. It must not grow once its caches are full, after {100 * SETTLED_AT // TENTHS} %.
Afterwards all payments are counted in the database, with those that were under way when wrk ended one of its runs.
"""
_BOUNDS = """## Bounds
"""


def render(figures: Figures) -> str:
    chosen = [render_part for part, render_part in _SECTIONS if part is None or part in figures.plan.parts]
    return "\n\n".join("\n".join(render_part(figures)) for render_part in chosen) + "\n"


def _render_top(figures: Figures) -> Iterator[str]:
    yield _TOP
    yield from render_run(figures)


def render_run(figures: Figures) -> Iterator[str]:
    """Renders what was run, and where."""
    plan = figures.plan
    yield f"- commit {figures.commit}"
    machine = figures.machine
    yield from (f"- {fact}" for fact in (machine.kind, machine.interpreter, machine.load, f"taken {machine.taken}"))
    yield f"- {', '.join(side.version for side in figures.sides)}"
    yield f"- {plan.rounds} rounds, {plan.seconds} s for each measurement"


def _render_rates(figures: Figures) -> Iterator[str]:
    yield _RATES
    titles = ("connections", "payments/s", "p50 ms", "p99 ms", "CPU µs each", "of the limit", "rounds", "undisturbed")
    yield from render_head("database", "processes", *titles)
    for side in figures.sides:
        for server in side.servers:
            for connections in CONNECTIONS:
                yield _render_rate(side, server, connections)


def _render_rate(side: SideResult, server: ServerResult, connections: int) -> str:
    loads, shares = server.loads[connections], side.limit_shares(server, connections)
    return render_row(
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
    yield from render_head("database", "how", "payments/s", "")
    for side in figures.sides:
        for name, rates in side.limits.items():
            yield render_row(side.name, name, f"{median(rates):,.0f}", "the limit" if name == side.limit_name else "")


def render_growth(figures: Figures) -> Iterator[str]:
    plan = figures.plan
    yield _GROWTH
    yield from render_head(
        "database", f"{plan.stored_few:,} stored", f"{plan.stored_many:,} stored", "ratio", "rounds", "undisturbed"
    )
    for side in figures.sides:
        shares = side.growth_shares
        few, many = f"{median(side.few):,.0f}", f"{median(side.many):,.0f}"
        ratios = f"{median(shares):.2f}", _span(shares), f"{side.undisturbed_growth_share:.2f}"
        yield render_row(side.name, few, many, *ratios)


def render_operations(figures: Figures) -> Iterator[str]:
    stored = f"{figures.plan.stored_few:,} stored", f"{figures.plan.stored_many:,} stored"
    yield _OPERATIONS
    yield from render_head(
        *("database", "operation", "connections", *(f"CPU µs, {each}" for each in stored), "growth", "passes"),
        *("to a payment", "passes", *(f"ms, {each}" for each in stored), "growth", "turns", "undisturbed"),
    )
    measured = [(side.name, side.operations) for side in figures.sides if side.operations]
    for name, operations in measured:
        for operation in operations.rows:
            yield _render_operation(name, operations, operation)
    yield ""
    for name, operations in measured:
        grown = f"the small store grew to {operations.few_at_end:,} transactions while it was measured"
        yield f"- {name}: {operations.payments:,} payments and follow-ups on each server, all counted; {grown}"


def _render_operation(name: str, measured: OperationsResult, operation: Operation) -> str:
    row = measured.rows[operation]
    ratios = measured.list_ratios(operation) if is_compared(operation) else []
    return render_row(
        *(name, operation.name, operation.connections),
        *(f"{median(costs):,.0f}" for costs in (row.cpu_us.few, row.cpu_us.many)),
        *(f"{row.cpu_us.growth:.2f}", _span(row.cpu_us.growths)),
        *((f"{median(ratios):.2f}", _span(ratios)) if ratios else ("", "")),
        *(f"{median(costs):.2f}" for costs in (row.ms.few, row.ms.many)),
        *(f"{row.ms.growth:.2f}", _span(row.ms.growths), f"{row.ms.undisturbed_growth:.2f}"),
    )


def _render_pages(figures: Figures) -> Iterator[str]:
    yield _PAGES
    far = f"page {figures.plan.far_page:,}"
    yield from render_head(
        "database", "first", SECOND, f"{far}, by cursor", f"{far} to the first", "to the second", "rounds"
    )
    for side in figures.sides:
        if side.pages:
            costs = (f"{median(side.pages.costs[page]):.2f}" for page in (FIRST, SECOND, FAR))
            growths = side.pages.growths(SECOND)
            to_first = f"{median(side.pages.growths(FIRST)):.2f}"
            yield render_row(side.name, *costs, to_first, f"{median(growths):.2f}", _span(growths))


def _render_webhooks(figures: Figures) -> Iterator[str]:
    yield _WEBHOOKS
    yield from render_head(
        *("database", "payments/s without", "with one", "ratio", "rounds", "undisturbed", "events"),
        *("p50 s", "p99 s", "all within s", "p99 s alone", "beside broken", "ratio", "rounds"),
    )
    for side in figures.sides:
        if side.webhooks:
            heard = side.webhooks
            delays = quantiles(heard.delays_s, n=100)
            yield render_row(
                side.name,
                *(f"{median(rates):,.0f}" for rates in (heard.unheard, heard.heard)),
                *(f"{median(heard.shares):.2f}", _span(heard.shares), f"{heard.undisturbed_share:.2f}"),
                f"{heard.delivered:,}",
                *(f"{each:.2f}" for each in (delays[49], delays[98], max(heard.delays_s))),
                *(f"{median(each):.2f}" for each in (heard.alone_s, heard.beside_s, heard.growths)),
                _span(heard.growths),
            )


def _render_rules(figures: Figures) -> Iterator[str]:
    yield _RULES
    yield from render_head("database", "payments/s without", f"with {RULES}", "ratio", "rounds", "undisturbed")
    for side in figures.sides:
        if side.rules:
            ruled = side.rules
            rates = (f"{median(each):,.0f}" for each in (ruled.without, ruled.ruled))
            costs = f"{median(ruled.costs):.2f}", _span(ruled.costs), f"{ruled.undisturbed_cost:.2f}"
            yield render_row(side.name, *rates, *costs)


def _render_office(figures: Figures) -> Iterator[str]:
    plan = figures.plan
    yield _OFFICE
    yield from render_head("database", "what", f"{plan.stored_few:,} stored", f"{plan.stored_many:,} stored", "ratio")
    measured = [(side.name, side.office) for side in figures.sides if side.office]
    for name, office in measured:
        for what, times in office.times.items():
            yield render_row(name, what, f"{median(times.few):.1f}", f"{median(times.many):.1f}", f"{times.growth:.2f}")
    yield ""
    for name, office in measured:
        took = f"{office.few_mb:.1f} MiB, and of {office.many_rows:,} rows {office.many_mb:.1f} MiB"
        yield f"- {name}: an export of {EXPORTED_FEW:,} rows took {took} and {office.many_s:.1f} s"


def _render_needs(figures: Figures) -> Iterator[str]:
    yield _NEEDS
    titles = ("first start s", "later starts s", "idle MiB", "after the load MiB", "payments made")
    yield from render_head("database", "processes", *titles)
    for side in figures.sides:
        for server in side.servers:
            first_s, *later_s = server.start_s
            starts = f"{first_s:.2f}", f"{median(later_s):.2f}"
            memory = f"{server.idle_mb:.0f}", f"{server.loaded_mb:.0f}"
            yield render_row(side.name, server.processes, *starts, *memory, f"{server.payments:,}")


def _render_memory(figures: Figures) -> Iterator[str]:
    yield _MEMORY
    titles = (f"MiB after {100 * tenth // TENTHS} %" for tenth in _SHOWN_TENTHS)
    yield from render_head(
        "database", "payments answered", "counted", *titles, "MiB at the end", "to that when caches are full"
    )
    for side in figures.sides:
        if side.memory:
            kept = side.memory
            parts = (f"{kept.read_mb[tenth]:.0f}" if tenth in kept.read_mb else "" for tenth in _SHOWN_TENTHS)
            yield render_row(
                *(side.name, f"{kept.answered:,} of {kept.planned:,}", f"{kept.payments:,}"),
                *(*parts, f"{kept.at_end_mb:.0f}", f"{kept.growth:.2f}"),
            )


def _render_rival(figures: Figures) -> Iterator[str]:
    yield f"## Beside {figures.rival_name}"
    yield _RIVAL
    sides = figures.sides if Part.RATES in figures.plan.parts else ()
    yield from render_head("connections", "charges/s", "p50 ms", "p99 ms", *(f"on {side.name}" for side in sides))
    for connections, loads in figures.rival.items():
        rate = median_rate(loads)
        yield render_row(
            connections,
            f"{rate:,.0f}",
            f"{median(load.p50_ms for load in loads):.1f}",
            f"{median(load.p99_ms for load in loads):.1f}",
            *(f"{median_rate(side.servers[0].loads[connections]) / rate:.1f} times" for side in sides),
        )


def render_bounds(figures: Figures) -> Iterator[str]:
    yield _BOUNDS
    bounds = list_bounds(figures)
    if not bounds:
        yield "Nothing with a bound was measured."
        return
    yield from render_head("what", "bound", "measured", "")
    for bound in bounds:
        yield render_row(bound.text, bound.words, f"{bound.measured:.2f}", "kept" if bound.is_kept else "**broken**")


def _span(shares: Sequence[float]) -> str:
    return f"{min(shares):.2f} to {max(shares):.2f}"


def render_head(*titles: str) -> Iterator[str]:
    yield render_row(*titles)
    yield render_row(*("---" for _ in titles))


def render_row(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


_SECTIONS: tuple[tuple[Part | None, Callable[[Figures], Iterator[str]]], ...] = (
    (None, _render_top),
    (Part.RATES, _render_rates),
    (Part.RATES, _render_limits),
    (Part.GROWTH, render_growth),
    (Part.OPERATIONS, render_operations),
    (Part.PAGES, _render_pages),
    (Part.OFFICE, _render_office),
    (Part.WEBHOOKS, _render_webhooks),
    (Part.RULES, _render_rules),
    (Part.RATES, _render_needs),
    (Part.MEMORY, _render_memory),
    (Part.RIVAL, _render_rival),
    (None, render_bounds),
)
"""The sections stand in the order of the document; one without a part is always there."""
