"""Three database hosts and one gateway host on this machine, each database host in a network namespace of its own.

They run the files of `deploy/postgresql-ha`. Which accident happens to them is decided elsewhere.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tools.bench.machine import ROOT

from postgres import find_binaries

DEPLOY = ROOT / "deploy" / "postgresql-ha"
BRIDGE = "tollgate-ha"
NETWORK = "10.77.35"
GATEWAY = f"{NETWORK}.254"
HAPROXY_PORT = 5000
WAIT_S = 180.0
"""A cluster that is not whole again by then is taken for broken."""
LOOK_EVERY_S = 0.2
USER = "postgres"


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def wait_until(is_so: Callable[[], bool], what: str, within_s: float = WAIT_S) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(f"still not so after {within_s} s: {what}")
        time.sleep(LOOK_EVERY_S)


@dataclass
class DatabaseHost:
    """A host runs etcd, Patroni with its PostgreSQL, and PgBouncer."""

    number: int
    folder: Path
    passwords: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"db{self.number}"

    @property
    def address(self) -> str:
        return f"{NETWORK}.{self.number}"

    @property
    def namespace(self) -> str:
        return f"{BRIDGE}-{self.number}"

    @property
    def _cable(self) -> str:
        return f"tgha-{self.number}"

    def prepare(self) -> None:
        """Makes the namespace with its cable to the bridge, the folders, and the files as an operator makes them."""
        run("ip", "netns", "add", self.namespace)
        run("ip", "link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        run("ip", "link", "set", self._cable, "master", BRIDGE, "up")
        run("ip", "-n", self.namespace, "addr", "add", f"{self.address}/24", "dev", "eth0")
        run("ip", "-n", self.namespace, "link", "set", "eth0", "up")
        run("ip", "-n", self.namespace, "link", "set", "lo", "up")
        self.folder.mkdir()
        write_variables(self.folder, self.passwords)
        run(str(DEPLOY / "render.sh"), str(self.folder / "cluster.env"), str(self.folder / "files"), self.name)
        for name in ("sockets", "logs", "etcd"):
            (self.folder / name).mkdir()
        (self.folder / "etcd").chmod(0o700)
        run("chown", "-R", f"{USER}:{USER}", str(self.folder))

    def start(self) -> None:
        files = self.folder / "files"
        pairs = (line.partition("=") for line in (files / "etcd").read_text().splitlines() if line.startswith("ETCD_"))
        variables = {name: value.strip('"') for name, _, value in pairs}
        self._launch("etcd", ["etcd"], variables)
        self._launch("patroni", ["patroni", str(files / "patroni.yml")], {})
        self._launch("pgbouncer", ["pgbouncer", "--quiet", str(files / "pgbouncer.ini")], {})

    def _launch(self, name: str, command: list[str], variables: Mapping[str, str]) -> None:
        whole = [
            "ip",
            "netns",
            "exec",
            self.namespace,
            "setpriv",
            f"--reuid={USER}",
            f"--regid={USER}",
            "--init-groups",
        ]
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            **variables,
        }
        with (self.folder / f"{name}.out").open("ab") as output:
            subprocess.Popen(
                [*whole, *command], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def list_processes(self) -> dict[int, str]:
        """Maps the processes of the host to their command lines."""
        found = {}
        for pid in map(int, run("ip", "netns", "pids", self.namespace, check=False).split()):
            with suppress(OSError):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return found

    def list_postgres(self) -> list[int]:
        """Lists the first process of PostgreSQL and its children, without Patroni's own."""
        pidfile = self.folder / "data" / "postmaster.pid"
        first = int(pidfile.read_text().split()[0])
        children = run("ps", "-o", "pid=", "--ppid", str(first), check=False).split()
        return [first, *map(int, children)]

    def signal(self, number: signal.Signals, pids: list[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def set_cable(self, word: str) -> None:
        run("ip", "link", "set", self._cable, word)

    def remove(self) -> None:
        self.signal(signal.SIGKILL, list(self.list_processes()))
        wait_until(lambda: not self.list_processes(), f"the processes of {self.name} have ended", 30)
        run("ip", "netns", "del", self.namespace, check=False)
        run("ip", "link", "del", self._cable, check=False)


def write_variables(folder: Path, passwords: Mapping[str, str]) -> None:
    binaries = find_binaries()
    variables = {f"DB{number}": f"{NETWORK}.{number}" for number in (1, 2, 3)}
    variables |= {"NETWORK": f"{NETWORK}.0/24", **passwords, "BINARIES": str(binaries), "DATA": f"{folder}/data"}
    variables |= {"SOCKETS": f"{folder}/sockets", "LOGS": f"{folder}/logs"}
    variables |= {"ETCD_DATA": f"{folder}/etcd", "PGBOUNCER": f"{folder}/files"}
    (folder / "cluster.env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))


def read_members(host: DatabaseHost) -> list[dict[str, object]]:
    """Reads what Patroni knows of the members; nothing while it does not answer."""
    url = f"http://{host.address}:8008/cluster"
    with suppress(OSError, ValueError), urllib.request.urlopen(url, timeout=2) as answer:
        return list(json.load(answer)["members"])
    return []


@dataclass
class Cluster:
    folder: Path
    passwords: Mapping[str, str] = field(
        default_factory=lambda: {
            f"{name}_PASSWORD": secrets.token_hex(12) for name in ("SUPERUSER", "REPLICATION", "GATEWAY", "PATRONI")
        }
    )
    _haproxy: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.hosts = [DatabaseHost(number, self.folder / f"db{number}", self.passwords) for number in (1, 2, 3)]

    @property
    def url(self) -> str:
        return f"postgresql://tollgate:{self.passwords['GATEWAY_PASSWORD']}@127.0.0.1:{HAPROXY_PORT}/tollgate"

    def start(self) -> None:
        shutil.chown(self.folder, USER, USER)
        self.folder.chmod(0o755)
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for host in self.hosts:
            host.prepare()
        for host in self.hosts:
            host.start()
        self._start_haproxy()
        wait_until(self.is_whole, "a primary with a synchronous standby and a further standby")
        self._make_database()

    def _start_haproxy(self) -> None:
        folder = self.folder / "gateway"
        folder.mkdir()
        write_variables(folder, self.passwords)
        run(str(DEPLOY / "render.sh"), str(folder / "cluster.env"), str(folder / "files"), "gateway")
        path = str(folder / "files" / "haproxy.cfg")
        run("haproxy", "-c", "-f", path)
        with (folder / "haproxy.out").open("ab") as output:
            self._haproxy = subprocess.Popen(
                ["haproxy", "-db", "-f", path], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def _make_database(self) -> None:
        primary = self.get_primary()
        password = self.passwords["GATEWAY_PASSWORD"]
        for text in (
            f"CREATE ROLE tollgate LOGIN PASSWORD '{password}'",
            "GRANT pg_monitor TO tollgate",
            "CREATE DATABASE tollgate OWNER tollgate",
        ):
            self.run_sql(primary, text)

    def run_sql(self, host: DatabaseHost, text: str) -> str:
        place = f"host={host.folder}/sockets dbname=postgres"
        return run(
            "setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "psql", "-XqAt", "-d", place, "-c", text
        )

    def find_primary(self) -> DatabaseHost | None:
        """Finds the host whose Patroni answers that it is the primary."""
        for host in self.hosts:
            with suppress(OSError), urllib.request.urlopen(f"http://{host.address}:8008/primary", timeout=2):
                return host
        return None

    def get_primary(self) -> DatabaseHost:
        primary = self.find_primary()
        if primary is None:
            raise RuntimeError("there is no primary")
        return primary

    def is_whole(self) -> bool:
        """Tells whether all three run: a primary, its synchronous standby, and another with the same history.

        The primary is asked, because a host that was frozen or cut off still shows what was true before.
        """
        primary = self.find_primary()
        members = [] if primary is None else read_members(primary)
        roles = {str(member["role"]): member["name"] for member in members}
        states = {str(member["state"]) for member in members}
        timelines = {member.get("timeline") for member in members}
        return (
            primary is not None
            and roles.keys() == {"leader", "replica", "sync_standby"}
            and roles["leader"] == primary.name
            and states <= {"running", "streaming"}
            and len(timelines) == 1
        )

    def stop(self) -> None:
        if self._haproxy is not None:
            self._haproxy.kill()
            self._haproxy.wait()
        for host in self.hosts:
            host.remove()
        run("ip", "link", "del", BRIDGE, check=False)
