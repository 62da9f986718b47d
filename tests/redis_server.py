"""A throw-away Redis for tests, on a port and a socket of its own. Nothing of Tollgate is known here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType

from redis import Redis
from redis.exceptions import ConnectionError as Unreachable

from cleaning import Cleanup
from ports import find_free_port

WAIT_S = 300.0


class RedisServer:
    """Starts on entering, leaves nothing behind on leaving, nor when the process that entered it ends."""

    def __init__(self, password: str = "") -> None:
        if shutil.which("redis-server") is None:
            raise RuntimeError("Redis is not installed: `apt-get install redis-server`")
        self.folder = Path(tempfile.mkdtemp(prefix="tollgate-redis-"))
        self.port = find_free_port()
        self.socket = self.folder / "redis.sock"
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None
        self._cleanup = Cleanup(self.folder, ["sh", "-c", 'kill -9 $(cat "$0")', str(self.folder / "pid")])

    def __enter__(self) -> RedisServer:
        self._cleanup.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._cleanup.finish()

    @property
    def url(self) -> str:
        return f"redis://{f':{self._password}@' if self._password else ''}127.0.0.1:{self.port}/0"

    def connect(self) -> Redis:
        return Redis(port=self.port, password=self._password or None, socket_timeout=WAIT_S, decode_responses=True)

    def start(self) -> None:
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "unixsocket": self.socket,
            "pidfile": self.folder / "pid",
            "dir": self.folder,
            "logfile": self.folder / "log",
            "save": "",
            "requirepass": self._password,
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen(["redis-server", *arguments], cwd="/")
        deadline = monotonic() + WAIT_S
        while not self._answers():
            if self._process.poll() is not None or monotonic() > deadline:
                raise RuntimeError("Redis did not start")
            sleep(0.02)

    def _answers(self) -> bool:
        try:
            with self.connect() as client:
                return bool(client.ping())
        except Unreachable:
            return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def suspend(self) -> None:
        """Lets it hang: connections stay, and nothing is answered."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)
