"""`make prove-ha`: the primary of PostgreSQL dies again and again under load, and no payment is lost or doubled.

It makes network namespaces and a bridge, so it runs as root; whatever it started and made is removed, also after a
signal; the logs stay if it failed. The report is printed and, after a whole run, written into docs/failover.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

# Started as a file, while its neighbours and the servers that tests start are found from the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from tools.ha.accidents import ACCIDENTS, Accident
from tools.ha.hosts import Cluster, wait_until
from tools.ha.paying import Load
from tools.ha.report import Recovery, Report, render, write_into_docs

from crash.load import check_aftermath
from crash.world import VERIFY_S, World, open_world
from gateway import inherit_variables
from warm import run_warm

WHOLE = 20
PER_S = 50.0
CALM_S = 3.0
RECOVERY_MAX_S = 120.0
PROGRAMS = ("ip", "setpriv", "etcd", "patroni", "pgbouncer", "haproxy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accidents", type=int, default=WHOLE, help="how often the primary is lost")
    parser.add_argument("--per-second", type=float, default=PER_S, help="payments that begin each second")
    chosen = parser.parse_args()
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if os.geteuid() or missing:
        sys.exit(f"run it as root, on Debian, as `make prove-ha` does; missing: {', '.join(missing) or 'nothing'}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("stopped"))
    folder = Path(tempfile.mkdtemp(prefix="tollgate-ha-", dir="/var/tmp"))
    cluster = Cluster(folder)
    try:
        cluster.start()
        report = lose_primaries(cluster, folder, chosen.accidents, chosen.per_second)
    except BaseException:
        print(f"the logs are kept in {folder}", file=sys.stderr)
        raise
    finally:
        cluster.stop()
    shutil.rmtree(folder)
    print(render(report))
    if chosen.accidents >= WHOLE:
        write_into_docs(report)


def lose_primaries(cluster: Cluster, folder: Path, count: int, per_s: float) -> Report:
    data = folder / "tollgate"
    data.mkdir()
    with open_world(data, None, database=cluster.url) as world:
        gateways = [world.make_gateway(name=name) for name in ("first", "second")]
        for gateway in gateways:
            gateway.start()
        expect_no_warning(world)
        clients = [world.make_client(gateway, timeout_s=60.0) for gateway in gateways]
        load = Load(clients, per_s)
        load.start()
        time.sleep(CALM_S)
        recoveries = [lose_primary(cluster, load, ACCIDENTS[n % len(ACCIDENTS)]) for n in range(count)]
        load.finish()
        check_aftermath(world, load, clients[0], replays_max=len(load.payments))
        findings = world.verify()
        if findings:
            raise AssertionError(findings)
    return Report.make(recoveries, load)


def expect_no_warning(world: World) -> None:
    """`tollgate check` must find the synchronous standby."""
    variables = {**inherit_variables(), "TOLLGATE_KEY_FILE": str(world.folder / "keys.json")}
    done = run_warm(["check", "--data", str(world.folder), "--database", world.database], variables, VERIFY_S)
    if "warning:" in done.stdout:
        raise AssertionError(done.stdout)


def lose_primary(cluster: Cluster, load: Load, accident: Accident) -> Recovery:
    before = cluster.get_primary()
    print(time.strftime("%H:%M:%S"), accident.name, before.name, flush=True)
    accident.happen(before)
    happened_at = time.monotonic()
    try:
        wait_until(
            lambda: load.find_recovery(happened_at) is not None, f"payments after: {accident.name}", RECOVERY_MAX_S
        )
    finally:
        accident.mend(before)
    recovered_at = load.find_recovery(happened_at) or time.monotonic()
    wait_until(cluster.is_whole, f"a whole cluster after: {accident.name}")
    whole_at = time.monotonic()
    time.sleep(CALM_S)
    recovery = Recovery(
        accident=accident.name,
        before=before.name,
        after=cluster.get_primary().name,
        seconds=recovered_at - happened_at,
        until_whole_s=whole_at - happened_at,
    )
    print(recovery, flush=True)
    return recovery


if __name__ == "__main__":
    main()
