"""`make bench`: payments per second on both databases beside the limit, into docs/benchmarks.md.

Fails when a floor is broken. All traffic stays on loopback, and whatever was started is stopped, also after a signal.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

# Started as a file, while its neighbours and the servers that tests start are found from the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from tools.bench.machine import ROOT, describe_commit, describe_machine
from tools.bench.measuring import Plan, measure_rival, measure_side
from tools.bench.postgres_side import PostgresSide
from tools.bench.report import Figures, list_floors, render
from tools.bench.rival import name_rival
from tools.bench.sqlite_side import SqliteSide

from postgres import PostgresCluster

FULL = Plan(rounds=5, seconds=3, stored_few=1_000, stored_many=1_000_000)
QUICK = Plan(rounds=2, seconds=2, stored_few=1_000, stored_many=100_000)

REPORT = ROOT / "docs" / "benchmarks.md"


def measure(plan: Plan) -> Figures:
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr, flush=True)

    commit, machine = describe_commit(), describe_machine()
    with tempfile.TemporaryDirectory(prefix="tollgate-bench-") as name:
        folder = Path(name)
        sides = [measure_side(SqliteSide(folder), folder / "sqlite", plan, tell)]
        with PostgresCluster() as cluster:
            sides.append(measure_side(PostgresSide(cluster), folder / "postgres", plan, tell))
    rival = measure_rival(plan, tell)
    return Figures(plan, commit, machine, sides, name_rival(), rival)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short run that prints and leaves the report alone")
    is_quick = parser.parse_args().quick
    if shutil.which("wrk") is None:
        sys.exit("bench: wrk is missing; `make machine` installs it")
    # An exception on the way out is what stops the servers.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    figures = measure(QUICK if is_quick else FULL)
    text = render(figures)
    print(text)
    if not is_quick:
        REPORT.write_text(text, "utf-8")
    broken = [floor for floor in list_floors(figures) if not floor.is_kept]
    if broken:
        sys.exit("\n".join(f"bench: {floor.text} is {floor.measured:.2f}, below {floor.least}" for floor in broken))


if __name__ == "__main__":
    main()
