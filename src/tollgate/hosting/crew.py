"""Several server processes on one socket: started together, replaced when one dies, stopped together.

What they serve is not known here.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import FrameType

from tollgate.config import Settings
from tollgate.hosting.sockets import Sockets

_log = logging.getLogger("tollgate.crew")

Work = Callable[[Settings, Sockets], None]

_LOOK_EVERY_S = 0.5
_QUICK_DEATH_S = 5.0
_QUICK_DEATHS_MAX = 5
"""A process that dies young again and again has a reason that another start will not mend."""


class Crew:
    def __init__(self, work: Work, settings: Settings, sockets: Sockets) -> None:
        # Spawned, not forked: a child must not inherit the parent's threads, loops or database files.
        self._context = multiprocessing.get_context("spawn")
        self._work = work
        self._settings = settings
        self._sockets = sockets
        self._members: dict[BaseProcess, float] = {}
        self._stopping = threading.Event()
        self._quick_deaths = 0

    def run(self) -> bool:
        """True after an orderly stop, False when the members would not stay alive."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        while not self._stopping.wait(_LOOK_EVERY_S if self._members else 0):
            self._replace_dead()
            if self._quick_deaths > _QUICK_DEATHS_MAX:
                self._stopping.set()
        for member in self._members:
            member.terminate()
        for member in self._members:
            member.join()
        return self._quick_deaths <= _QUICK_DEATHS_MAX

    def _replace_dead(self) -> None:
        for member in [each for each in self._members if not each.is_alive()]:
            lived_s = time.monotonic() - self._members.pop(member)
            self._quick_deaths = self._quick_deaths + 1 if lived_s < _QUICK_DEATH_S else 0
            _log.warning("a worker died", extra={"pid": member.pid, "exit_code": member.exitcode})
        while len(self._members) < self._settings.workers:
            member = self._context.Process(target=self._work, args=(self._settings, self._sockets))
            member.start()
            self._members[member] = time.monotonic()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping.set()
