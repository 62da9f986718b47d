"""A throw-away PostgreSQL cluster for tests and benchmarks. Nothing of Tollgate is known here."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

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

    def __enter__(self) -> PostgresCluster:
        self._cleanup.start()
        if os.geteuid() == 0:
            # The server refuses to run as root.
            shutil.chown(self.folder, USER, USER)
        self._run("initdb", "--pgdata", str(self.folder / "db"), "--username", USER, "--auth", "trust", "--no-sync",
                  "--data-checksums", "--encoding", "UTF8", "--locale", "C")  # fmt: skip
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cleanup.finish()

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

    def dsn(self, name: str = USER) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def socket_dsn(self, name: str = USER) -> str:
        return f"postgresql://{USER}@/{name}?host={self.folder}&port={self.port}"

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
