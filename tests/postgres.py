"""A throw-away PostgreSQL cluster for tests and benchmarks. Nothing of Tollgate is known here."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from cleaning import Cleanup
from ports import find_free_port

USER = "postgres"
WAIT_S = "300"
"""A server may take so long to start or stop; a machine that does other work is slow."""


def find_binaries() -> Path | None:
    """Returns the newest server installed by the system, else the one on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _list_children(parent: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


class PostgresCluster:
    """Starts on entering, leaves nothing behind on leaving, nor when the process that entered it ends.

    It waits for the disk where that is measured or tested (`fsync=True`), and not otherwise.
    """

    def __init__(self, *, fsync: bool = False, parent: Path | None = None) -> None:
        binaries = find_binaries()
        if binaries is None:
            raise RuntimeError("PostgreSQL is not installed: `apt-get install postgresql`")
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="tollgate-pg-", dir=parent))
        self.port = find_free_port()
        self._fsync = fsync
        self._cleanup = Cleanup(self.folder, self._command("pg_ctl", *self._stop("immediate")))

    def __enter__(self) -> Self:
        self._cleanup.start()
        if os.geteuid() == 0:
            # The server refuses to run as root.
            shutil.chown(self.folder, USER, USER)
        self._make_files()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cleanup.finish()

    def _make_files(self) -> None:
        self._run("initdb", "--pgdata", str(self.folder / "db"), "--username", USER, "--auth", "trust", "--no-sync",
                  "--data-checksums", "--encoding", "UTF8", "--locale", "C")  # fmt: skip

    def start(self) -> None:
        settings = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self.folder,
            "max_connections": 120,
            "shared_buffers": "128MB",
        }
        if not self._fsync:
            settings |= {"fsync": "off", "full_page_writes": "off", "min_wal_size": "32MB", "max_wal_size": "128MB"}
        flags = " ".join(f"-c {name}={value}" for name, value in settings.items())
        log = str(self.folder / "log")
        self._run("pg_ctl", "--pgdata", str(self.folder / "db"), "--log", log, "-w", "-t", WAIT_S, "-o", flags, "start")

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash, `fast` a clean end."""
        self._run("pg_ctl", *self._stop(mode))

    def kill(self) -> None:
        """Ends every process of the server at once, as the end of its machine does."""
        for pid in self._signal(signal.SIGKILL):
            # Whoever adopted the process waits for it; the next server takes a dead one for running until then.
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
            while Path(f"/proc/{pid}").exists():
                time.sleep(0.01)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> list[int]:
        first = int((self.folder / "db" / "postmaster.pid").read_text().split()[0])
        # The first process would start others meanwhile.
        os.kill(first, signal.SIGSTOP)
        pids = [*_list_children(first), first]
        for pid in pids:
            # A session may end meanwhile.
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def dsn(self, name: str = USER) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def create_database(self, template: str = "template0") -> str:
        """Returns the address of a new database; a template with tables in it saves migrating."""
        name = f"t{secrets.token_hex(6)}"
        self.run_sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return self.dsn(name)

    def drop_database(self, dsn: str) -> None:
        """A database takes some 10 MB, and the folder may be in memory."""
        self.run_sql(f"DROP DATABASE {dsn.rpartition('/')[2]} WITH (FORCE)")

    def run_sql(self, text: str, name: str = USER) -> str:
        arguments = (
            "--no-psqlrc",
            "-qAt",
            "-v",
            "ON_ERROR_STOP=1",
            "--host",
            str(self.folder),
            "--port",
            str(self.port),
        )
        return self._run("psql", *arguments, "--username", USER, "--dbname", name, "-c", text)

    def _stop(self, mode: str) -> tuple[str, ...]:
        return ("--pgdata", str(self.folder / "db"), "-m", mode, "-w", "-t", WAIT_S, "stop")

    def _command(self, tool: str, *arguments: str) -> list[str]:
        command = [str(self.binaries / tool), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", *command]
        return command

    def _run(self, tool: str, *arguments: str) -> str:
        # Output goes to a file: a server that inherits a pipe would keep it open.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                self._command(tool, *arguments), stdout=output, stderr=subprocess.STDOUT, cwd="/", check=False
            )
            output.seek(0)
            text = output.read().decode(errors="replace").strip()
        if done.returncode:
            raise RuntimeError(f"{tool} failed: {text}")
        return text


class PostgresStandby(PostgresCluster):
    """A standby streams from a primary, which waits for it if `synchronous_standby_names` has its name."""

    NAME = "standby"

    def __init__(self, primary: PostgresCluster, *, fsync: bool = False) -> None:
        super().__init__(fsync=fsync)
        self._primary = primary

    def promote(self) -> None:
        self._run("pg_ctl", "--pgdata", str(self.folder / "db"), "-w", "-t", WAIT_S, "promote")

    def pause(self) -> None:
        """Takes what the primary sends and shows none of it."""
        self.run_sql("SELECT pg_wal_replay_pause()")

    def resume(self) -> None:
        self.run_sql("SELECT pg_wal_replay_resume()")

    def _make_files(self) -> None:
        origin = f"host={self._primary.folder} port={self._primary.port} user={USER} application_name={self.NAME}"
        self._run("pg_basebackup", "--dbname", origin, "--pgdata", str(self.folder / "db"), "--write-recovery-conf",
                  "--checkpoint", "fast", "--no-sync")  # fmt: skip
