"""`make bench-scale`: payments beside ten million in monthly partitions of PostgreSQL, into docs/scale.md.

It measures what a stored payment takes, and derives from it what other rates and sizes need. It fails when a bound of
`make bench` is broken. All traffic stays on loopback.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

# Started as a file, while its neighbours and the servers that tests start are found from the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from tools.bench.bounds import list_bounds
from tools.bench.machine import ROOT, describe_commit, describe_machine
from tools.bench.measuring import JUDGED_AT, Figures, SideResult, measure_growth
from tools.bench.operation_costs import measure_operations
from tools.bench.plan import Part, Plan
from tools.bench.postgres_side import PostgresSide, StoredSize
from tools.bench.scale_report import TITLE, ScaleFigures, render
from tools.bench.stocked import Stocked, open_pair
from tools.bench.wrk import send_load

from postgres import PostgresCluster

MONTHS = 12
PLAN = Plan(
    rounds=9,
    seconds=3,
    stored_few=1_000,
    stored_many=10_000_000,
    passes=3,
    operations=320,
    far_page=0,
    page_rounds=0,
    neighbour_payments=0,
    memory_payments=0,
    memory_s=0,
    parts=frozenset({Part.GROWTH, Part.OPERATIONS}),
)
REPORT = ROOT / "docs" / "scale.md"


def measure(plan: Plan) -> ScaleFigures:
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr, flush=True)

    commit, machine = describe_commit(), describe_machine()
    with (
        tempfile.TemporaryDirectory(prefix="tollgate-bench-") as name,
        PostgresCluster(fsync=True) as cluster,
        ExitStack() as stack,
    ):
        # The default is made for a small store: with it, filling would be one checkpoint after the other.
        cluster.run_sql("ALTER SYSTEM SET max_wal_size = '8GB'")
        cluster.run_sql("SELECT pg_reload_conf()")
        side = PostgresSide(cluster, months=MONTHS)
        result = SideResult(side.name, side.version, [])
        pair = open_pair(side, Path(name), plan, stack, tell)
        size = side.measure_size(pair[1].database)
        tell(f"{size.total_bytes / plan.stored_many:.0f} bytes for a stored payment")
        result.operations = measure_operations(side, pair, plan, tell)
        measure_growth(pair, plan, result)
        figures = Figures(plan, commit, machine, [result], "", {})
        return _measure_needs(side, pair[1], figures, size, tell)


def _measure_needs(
    side: PostgresSide, stocked: Stocked, figures: Figures, size: StoredSize, tell: Callable[[str], None]
) -> ScaleFigures:
    """The log and the processor time of payments alone, in as many rounds as the rates have."""
    call = stocked.subject.make_call()
    logged_bytes, gateway_us, database_us = [], [], []
    for _ in range(figures.plan.rounds):
        before = side.read_logged_bytes(), stocked.subject.read_cpu_s(), side.read_cpu_s()
        answered = send_load(call, JUDGED_AT, figures.plan.seconds).answered
        after = side.read_logged_bytes(), stocked.subject.read_cpu_s(), side.read_cpu_s()
        logged, gateway, database = (late - early for early, late in zip(before, after, strict=True))
        logged_bytes.append(logged / answered)
        gateway_us.append(gateway / answered * 1e6)
        database_us.append(database / answered * 1e6)
    tell("processor time and log of payments measured")
    return ScaleFigures(figures, MONTHS, size, logged_bytes, gateway_us, database_us)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=int, metavar="COUNT", help="another size of the large store, printed only")
    given = parser.parse_args()
    plan = PLAN if given.stored is None else dataclasses.replace(PLAN, stored_many=given.stored)
    if shutil.which("wrk") is None:
        sys.exit("bench: wrk is missing; `make machine` installs it")
    # An exception on the way out is what stops the servers.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    figures = measure(plan)
    text = render(figures)
    print(text)
    if plan == PLAN:
        before, title, _ = REPORT.read_text("utf-8").partition(TITLE)
        REPORT.write_text(before + title + text.removeprefix(TITLE), "utf-8")
    broken = [bound for bound in list_bounds(figures.rates) if not bound.is_kept]
    if broken:
        sys.exit("\n".join(f"bench: {bound.text} is {bound.measured:.2f}, not {bound.words}" for bound in broken))


if __name__ == "__main__":
    main()
