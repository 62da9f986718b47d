"""Tells a service manager, such as systemd, that this host serves, is alive, or stops.

Nothing is told where no manager asked for it.
"""

import os
import socket
from collections.abc import MutableMapping
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from typing import Protocol

import msgspec


class Pulse(Protocol):
    """Reports once a second that a process serves, and once that it stops."""

    def beat(self) -> None: ...

    def end(self) -> None: ...


class Supervisor:
    """The manager that started this host, by the protocol of `sd_notify`."""

    def __init__(self, variables: MutableMapping[str, str]) -> None:
        """Takes the variables away, so that no process that this one starts speaks for the host."""
        path = variables.pop("NOTIFY_SOCKET", "")
        watchdog_us, pid = variables.pop("WATCHDOG_USEC", ""), variables.pop("WATCHDOG_PID", "")
        # A name that begins with @ is in no folder: systemd writes so what the system begins with a zero byte.
        self._address = "\0" + path[1:] if path.startswith("@") else path
        is_watched = bool(path) and watchdog_us.isdigit() and pid in ("", str(os.getpid()))
        self.watchdog_s = int(watchdog_us) / 1_000_000 if is_watched else 0.0
        """The seconds without a sign of life after which the manager ends this host; 0 if it does not."""
        self._is_ready = False

    def beat(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._send(b"READY=1\nSTATUS=serving")
        if self.watchdog_s:
            self._send(b"WATCHDOG=1")

    def end(self) -> None:
        self._send(b"STOPPING=1\nSTATUS=completing requests in flight")

    def _send(self, message: bytes) -> None:
        if not self._address:
            return
        # A manager that does not listen must not disturb payments: it does what it does with a silent host.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)
            sending.sendto(message, self._address)


class MemberPulse:
    """The pulse of one of several processes, which the process that started it reads from a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def beat(self) -> None:
        # A pipe that nobody reads becomes full, and one whose reader has died is closed.
        with suppress(OSError):
            os.set_blocking(self._pipe.fileno(), False)
            os.write(self._pipe.fileno(), b".")

    def end(self) -> None:
        """Does nothing: the process that started this one knows."""


class _Watched(msgspec.Struct):
    pipe: Connection
    beaten_at: float | None = None


class MemberWatch:
    """Watches the processes of a host: the host serves when all do, and one that hangs is killed, to be replaced.

    A process that has not served yet is not judged, because a migration may take long.
    """

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._members: dict[BaseProcess, _Watched] = {}

    @staticmethod
    def open() -> tuple[Connection, MemberPulse]:
        """Returns the end of the pipe to give to `add`, and the pulse to give to the new process."""
        reading, writing = Pipe(duplex=False)
        os.set_blocking(reading.fileno(), False)
        return reading, MemberPulse(writing)

    def add(self, member: BaseProcess, pipe: Connection) -> None:
        self._members[member] = _Watched(pipe)

    def remove(self, member: BaseProcess) -> None:
        self._members.pop(member).pipe.close()

    def look(self, now: float) -> list[BaseProcess]:
        """Reads all pulses, reports the host's own, and returns the members that hang."""
        for watched in self._members.values():
            with suppress(BlockingIOError):
                if os.read(watched.pipe.fileno(), 4096):
                    watched.beaten_at = now
        beats = [watched.beaten_at for watched in self._members.values()]
        if beats and None not in beats:
            self._supervisor.beat()
        limit_s = self._supervisor.watchdog_s
        return [
            member
            for member, watched in self._members.items()
            if limit_s and watched.beaten_at is not None and now - watched.beaten_at > limit_s
        ]
