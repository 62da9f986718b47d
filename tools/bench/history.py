"""The row of a whole run for docs/benchmarks-history.md, which ends with the table of runs. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator

from tools.bench.bounds import list_bounds
from tools.bench.measuring import Figures

SHARES_AT = (1, 64)
DATABASES = ("SQLite", "PostgreSQL")
_SERVERS = (("SQLite", 0), ("PostgreSQL", 0), ("PostgreSQL", -1))
"""The last server of PostgreSQL has one process for each core."""
TITLES = (
    *("taken", "commit", "machine", "interpreter"),
    *(f"SQLite, {count}" for count in SHARES_AT),
    *(f"PostgreSQL, {count}" for count in SHARES_AT),
    *(f"PostgreSQL per core, {count}" for count in SHARES_AT),
    "broken bounds",
)


def append_run(text: str, figures: Figures) -> str:
    """Returns the page with one more row at its end."""
    if not text.endswith("|\n"):
        raise ValueError("the page does not end with the table of runs")
    return f"{text}{render_cells(list_cells(figures))}\n"


def list_cells(figures: Figures) -> list[str]:
    machine = figures.machine
    broken = [f"{bound.text} {bound.measured:.2f}" for bound in list_bounds(figures) if not bound.is_kept]
    return [
        *(machine.taken, figures.commit, machine.kind, machine.interpreter),
        *_list_shares(figures),
        "; ".join(broken) or "none",
    ]


def render_cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _list_shares(figures: Figures) -> Iterator[str]:
    sides = {side.name: side for side in figures.sides}
    for name, place in _SERVERS:
        for connections in SHARES_AT:
            yield f"{sides[name].worse_share(sides[name].servers[place], connections):.2f}"
