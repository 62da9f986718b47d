"""The figures of `make bench-scale` as tables for docs/scale.md, and the arithmetic from them. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tools.bench.measuring import JUDGED_AT, Figures
from tools.bench.postgres_side import StoredSize
from tools.bench.report import render_bounds, render_growth, render_head, render_operations, render_row, render_run

SECONDS_A_DAY = 86_400
RATES = (1_000, 10_000)
"""Payments a second whose needs are derived."""
ROWS = (10**9, 10**10)
USABLE_SHARE = 0.5
"""The share of a processor that is planned with, so that a failed machine and a busy hour find room."""


@dataclass(frozen=True)
class ScaleFigures:
    rates: Figures
    months: int
    size: StoredSize
    logged_bytes: Sequence[float]
    """The write-ahead log of one payment, of each round; so are the two below."""
    gateway_us: Sequence[float]
    database_us: Sequence[float]

    @property
    def stored(self) -> int:
        return self.rates.plan.stored_many

    @property
    def bytes_each(self) -> float:
        return self.size.total_bytes / self.stored


TITLE = "## The run\n"
"""The figures begin here; what stands before is written by hand."""
_SIZE = """## What a payment takes

Bytes of a stored payment in each table, over all payments, after filling. Terms of the search are not filled in.
"""
_NEEDS = f"""## What one payment needs

At {JUDGED_AT} connections beside the large store, one process: medians and spans of the rounds. The processor time of
the database is that of all its processes. Its log holds whole pages after each checkpoint, so with checkpoints that
are farther apart it is shorter.
"""
_ARITHMETIC = f"""## What follows from it

Derived, not measured: the figures above times the rate or the number of payments. Cores are planned to be busy for
{100 * USABLE_SHARE:.0f} % of the time.
"""


def render(figures: ScaleFigures) -> str:
    rates = figures.rates
    sections = (
        [
            TITLE,
            f"Written by `make bench-scale`; do not edit. {figures.stored:,} payments in {figures.size.partitions}"
            f" monthly partitions, spread equally over {figures.months} months.",
            "",
            *render_run(rates),
        ],
        render_growth(rates),
        render_operations(rates),
        _render_size(figures),
        _render_needs(figures),
        _render_arithmetic(figures),
        render_bounds(rates),
    )
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _render_size(figures: ScaleFigures) -> Iterator[str]:
    yield _SIZE
    yield from render_head("table", "rows, bytes", "indexes, bytes", "together")
    size = figures.size
    for name, table_bytes in size.table_bytes.items():
        both = table_bytes, size.index_bytes[name], table_bytes + size.index_bytes[name]
        yield render_row(name, *(f"{each / figures.stored:,.0f}" for each in both))
    totals = sum(size.table_bytes.values()), sum(size.index_bytes.values()), size.total_bytes
    yield render_row("all", *(f"{each / figures.stored:,.0f}" for each in totals))


def _render_needs(figures: ScaleFigures) -> Iterator[str]:
    yield _NEEDS
    yield from render_head("what", "one payment", "rounds")
    for what, values in (
        ("processor time of the gateway, µs", figures.gateway_us),
        ("processor time of the database, µs", figures.database_us),
        ("write-ahead log, bytes", figures.logged_bytes),
    ):
        yield render_row(what, f"{median(values):,.0f}", f"{min(values):,.0f} to {max(values):,.0f}")


def _render_arithmetic(figures: ScaleFigures) -> Iterator[str]:
    yield _ARITHMETIC
    yield from render_head(
        *("payments a second, all day", "cores of gateways", "cores of databases"),
        *("log, MB/s", "stored a day, GB", "days to 10^10 payments"),
    )
    for rate in RATES:
        yield render_row(
            f"{rate:,}",
            *(f"{rate * median(each) / 1e6 / USABLE_SHARE:.1f}" for each in (figures.gateway_us, figures.database_us)),
            f"{rate * median(figures.logged_bytes) / 1e6:.0f}",
            f"{rate * SECONDS_A_DAY * figures.bytes_each / 1e9:,.0f}",
            f"{10**10 / (rate * SECONDS_A_DAY):,.0f}",
        )
    yield ""
    yield from render_head("payments stored", "TB", "of it indexes, TB", f"GB of indexes a month, of {figures.months}")
    for rows in ROWS:
        indexes = rows * sum(figures.size.index_bytes.values()) / figures.stored
        yield render_row(
            f"{rows:,}",
            *(f"{each / 1e12:,.1f}" for each in (rows * figures.bytes_each, indexes)),
            f"{indexes / figures.months / 1e9:,.0f}",
        )
