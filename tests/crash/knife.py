"""A knife at one seam of the server: the first to come by there kills the process, as a power cut would.

Put there from outside before the server starts; the gateway itself knows nothing of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import StrEnum, auto
from importlib import import_module
from typing import Any

Work = Callable[..., Coroutine[Any, Any, Any]]


class Moment(StrEnum):
    BEFORE = auto()
    AMID = auto()
    """Under way: whether it was finished, nobody can say."""
    AFTER = auto()


@dataclass(frozen=True)
class Cut:
    module: str
    name: str
    moment: Moment


_PAY, _RECOVER, _RECONCILE = "tollgate.flows.pay", "tollgate.flows.recover", "tollgate.workers.reconcile"

CUTS = {
    "before the first write": Cut(_PAY, "start_payment", Moment.BEFORE),
    "amid the first write": Cut(_PAY, "start_payment", Moment.AMID),
    "after the first write": Cut(_PAY, "start_payment", Moment.AFTER),
    "amid the sending": Cut(_PAY, "dispatch", Moment.AMID),
    "after the acquirer's answer": Cut(_PAY, "dispatch", Moment.AFTER),
    "amid the second write": Cut(_PAY, "settle_payment", Moment.AMID),
    "after the second write": Cut(_PAY, "settle_payment", Moment.AFTER),
    "amid settling an overdue attempt": Cut(_RECOVER, "settle_payment", Moment.AMID),
    "after settling an overdue attempt": Cut(_RECOVER, "settle_payment", Moment.AFTER),
    "before the errand is sent": Cut(_RECOVER, "dispatch", Moment.BEFORE),
    "after the errand's answer": Cut(_RECOVER, "dispatch", Moment.AFTER),
    "amid the errand": Cut(_RECONCILE, "run_errand", Moment.AMID),
    "after the errand": Cut(_RECONCILE, "run_errand", Moment.AFTER),
}

_UNDER_WAY_S = 0.001


def hone(cut: Cut) -> None:
    module = import_module(cut.module)
    setattr(module, cut.name, _sharpen(getattr(module, cut.name), cut.moment))


def _sharpen(work: Work, moment: Moment) -> Work:
    async def die_at_the_moment(*arguments: Any, **named: Any) -> None:
        if moment is Moment.BEFORE:
            die()
        task = asyncio.ensure_future(work(*arguments, **named))
        await (asyncio.sleep(_UNDER_WAY_S) if moment is Moment.AMID else task)
        die()

    return die_at_the_moment


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    # The signal may take a moment to stop this thread, and not one more line may run.
    time.sleep(60)
