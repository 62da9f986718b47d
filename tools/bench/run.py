"""`make bench`: payments beside the limit, and what each operation costs, on both databases, into docs/benchmarks.md.

A whole run adds its row to docs/benchmarks-history.md. It fails when a bound is broken. All traffic stays on
loopback, and whatever was started is stopped, also after a signal.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

# Started as a file, while its neighbours and the servers that tests start are found from the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from tools.bench.bounds import list_bounds
from tools.bench.history import append_run
from tools.bench.machine import ROOT, describe_commit, describe_machine
from tools.bench.measuring import Figures, measure_rival, measure_side
from tools.bench.pages import PAGE_SIZE
from tools.bench.plan import Part, Plan
from tools.bench.postgres_side import PostgresSide
from tools.bench.report import render
from tools.bench.rival import name_rival
from tools.bench.sqlite_side import SqliteSide

from postgres import PostgresCluster

FULL = Plan(
    rounds=5,
    seconds=3,
    stored_few=1_000,
    stored_many=1_000_000,
    passes=3,
    operations=320,
    far_page=10_000,
    page_rounds=15,
    neighbour_payments=1_000,
    memory_payments=1_000_000,
    memory_s=1_500,
)
QUICK = Plan(
    rounds=2,
    seconds=2,
    stored_few=1_000,
    stored_many=100_000,
    passes=2,
    operations=128,
    far_page=500,
    page_rounds=5,
    neighbour_payments=400,
    memory_payments=60_000,
    memory_s=180,
)

REPORT = ROOT / "docs" / "benchmarks.md"
HISTORY = ROOT / "docs" / "benchmarks-history.md"


def measure(plan: Plan) -> Figures:
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr, flush=True)

    commit, machine = describe_commit(), describe_machine()
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-") as name:
        folder = Path(name)
        sides = []
        if plan.parts - {Part.RIVAL}:
            sides.append(measure_side(SqliteSide(folder), folder / "sqlite", plan, tell))
        # The memory is that of a server with SQLite.
        if plan.parts - {Part.RIVAL, Part.MEMORY}:
            with PostgresCluster(fsync=True) as cluster:
                sides.append(measure_side(PostgresSide(cluster), folder / "postgres", plan, tell))
    rival = measure_rival(plan, tell) if Part.RIVAL in plan.parts else {}
    return Figures(plan, commit, machine, sides, name_rival() if rival else "", rival)


def read_arguments() -> tuple[Plan, bool]:
    """Reads what to measure, and whether the report is to be written: only a whole run of full size is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short run that prints and leaves the report alone")
    parser.add_argument("--only", nargs="+", type=Part, choices=list(Part), metavar="PART", default=list(Part),
                        help=f"some parts, printed: {', '.join(Part)}")  # fmt: skip
    parser.add_argument("--stored", type=int, metavar="COUNT", help="another size of the large store, printed")
    given = parser.parse_args()
    plan = dataclasses.replace(QUICK if given.quick else FULL, parts=frozenset(given.only))
    if given.stored is not None:
        plan = dataclasses.replace(
            plan, stored_many=given.stored, far_page=min(plan.far_page, given.stored // PAGE_SIZE)
        )
    return plan, plan == FULL


def main() -> None:
    plan, is_whole = read_arguments()
    if shutil.which("wrk") is None:
        sys.exit("bench: wrk is missing; `make machine` installs it")
    # An exception on the way out is what stops the servers.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    figures = measure(plan)
    text = render(figures)
    print(text)
    if is_whole:
        REPORT.write_text(text, "utf-8")
        HISTORY.write_text(append_run(HISTORY.read_text("utf-8"), figures), "utf-8")
    broken = [bound for bound in list_bounds(figures) if not bound.is_kept]
    if broken:
        sys.exit("\n".join(f"bench: {bound.text} is {bound.measured:.2f}, not {bound.words}" for bound in broken))


if __name__ == "__main__":
    main()
