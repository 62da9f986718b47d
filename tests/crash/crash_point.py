"""Crash points: labelled writes and wire requests at which a gateway kills itself, as a power cut would.

The probe is installed in the child process before the command begins; production code has none.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from dataclasses import dataclass
from enum import StrEnum, auto

from tollgate.store.database import Probed, When


class Moment(StrEnum):
    BEFORE = auto()
    DURING = auto()
    """The step has begun, and it is unknown whether it was finished."""
    AFTER = auto()


_DURING_S = (0.0, 0.012)
"""The length of a step is unknown, so the kill falls anywhere within it, and never later, when others may go on."""


@dataclass(frozen=True)
class CrashPoint:
    moment: Moment
    label: str

    def __call__(self, label: str, when: When) -> None:
        if label != self.label:
            return
        if when == "after" or self.moment is Moment.BEFORE:
            kill_process()
        elif self.moment is Moment.DURING:
            threading.Timer(random.uniform(*_DURING_S), kill_process).start()


def read_point(text: str) -> CrashPoint:
    """A point is written as its moment and its label, such as `after payment started`."""
    moment, _, label = text.partition(" ")
    return CrashPoint(Moment(moment), label)


def arm(point: CrashPoint) -> None:
    Probed.probe = point


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    # The signal may take a moment to stop this thread, and not one more line may run.
    time.sleep(60)
