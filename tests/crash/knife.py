"""A knife at one seam of the server: the first to come by there kills the process, as a power cut would.

Put there from outside before the server starts; the gateway itself knows nothing of it.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterable
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
    """What a module calls by this name; or, where it is a unit, the writes that its function of this name asks for."""

    module: str
    name: str
    moment: Moment
    is_unit: bool = False


_PAY, _CHARGING = "tollgate.flows.pay", "tollgate.operations.charging"
_FOLLOW_UP, _RECORD = "tollgate.flows.follow_up", "tollgate.flows.record"
_RECOVER, _RECONCILE, _CHAINING = "tollgate.flows.recover", "tollgate.workers.recover", "tollgate.operations.chaining"
_AUTHENTICATE, _RESUME, _HEAR = "tollgate.flows.authenticate", "tollgate.flows.resume", "tollgate.flows.hear"
_COLLECT, _DESK = "tollgate.flows.collect", "tollgate.operations.queue"
_RUNS, _TOKENIZE = "tollgate.flows.run_schedules", "tollgate.flows.tokenize"
_SCHEDULES = "tollgate.workers.schedules"
_CHECK_OUT, _REGISTER, _REMIND = "tollgate.flows.check_out", "tollgate.flows.register", "tollgate.flows.remind"
_DRIVERS = (("tollgate.store.sqlite", "SqliteDatabase"), ("tollgate.store.postgres", "PostgresDatabase"))

_ALL = tuple(Moment)
_UNDER_WAY_OR_DONE = (Moment.AMID, Moment.AFTER)


def _cut(seam: str, module: str, name: str, moments: Iterable[Moment], *, is_unit: bool = False) -> dict[str, Cut]:
    return {f"{moment} {seam}": Cut(module, name, moment, is_unit) for moment in moments}


CUTS: dict[str, Cut] = {
    **_cut("the first write", _PAY, "start_payment", _ALL),
    **_cut("the first write with a registration", _PAY, "write_start", _ALL, is_unit=True),
    **_cut("the first write of a run", _PAY, "write_start", _ALL, is_unit=True),
    **_cut("the sending", _CHARGING, "dispatch", [Moment.AMID]),
    **_cut("the acquirer's answer", _CHARGING, "dispatch", [Moment.AFTER]),
    **_cut("the second write", _CHARGING, "complete_payment", _UNDER_WAY_OR_DONE),
    **_cut("settling an overdue attempt", _RECOVER, "complete_payment", _ALL),
    **_cut("the errand's sending", _RECOVER, "dispatch", [Moment.BEFORE, Moment.AMID]),
    **_cut("the answer to the errand", _RECOVER, "dispatch", [Moment.AFTER]),
    **_cut("the errand", _RECONCILE, "run_recovery_task", _UNDER_WAY_OR_DONE),
    **_cut("the follow-up's first write", _FOLLOW_UP, "follow_up", _ALL, is_unit=True),
    **_cut("the follow-up's sending", _FOLLOW_UP, "dispatch", [Moment.AMID]),
    **_cut("the answer to the follow-up", _FOLLOW_UP, "dispatch", [Moment.AFTER]),
    **_cut("the follow-up's second write", _FOLLOW_UP, "complete_follow_up", _UNDER_WAY_OR_DONE),
    **_cut("settling an overdue follow-up", _RECOVER, "complete_follow_up", _ALL),
    **_cut("the write of what the errand learned", _RECOVER, "_resolve", _UNDER_WAY_OR_DONE, is_unit=True),
    **_cut("the reversal's first write", _RECOVER, "reverse_doubtful", _ALL, is_unit=True),
    **_cut("the record's first write", _RECORD, "record", _ALL, is_unit=True),
    # Of a fact and of a reversal alike: both are decided when they are written.
    **_cut("the second write of what is decided", _CHAINING, "complete_follow_up", _UNDER_WAY_OR_DONE),
    **_cut("the authentication request", _AUTHENTICATE, "converse", [Moment.BEFORE, Moment.AMID]),
    **_cut("the directory's answer", _AUTHENTICATE, "converse", [Moment.AFTER]),
    **_cut("the write that lets the shopper go", _AUTHENTICATE, "hand_over", _UNDER_WAY_OR_DONE, is_unit=True),
    **_cut("the note that the issuer is asked", _RESUME, "_note_asked", _UNDER_WAY_OR_DONE, is_unit=True),
    **_cut("the note that the issuer asks", _RESUME, "move_authentication", _UNDER_WAY_OR_DONE),
    **_cut("the note of the issuer's result", _HEAR, "move_authentication", _UNDER_WAY_OR_DONE),
    **_cut("the reopening", _RESUME, "finish", _ALL, is_unit=True),
    **_cut("the write of what the charge came to", _RESUME, "conclude", _UNDER_WAY_OR_DONE),
    **_cut("the end without a charge", _RESUME, "close", _ALL, is_unit=True),
    **_cut("the inquiry of a return", _RESUME, "dispatch", [Moment.BEFORE, Moment.AFTER]),
    **_cut("the write of what the return learned", _RESUME, "ask_provider", _UNDER_WAY_OR_DONE, is_unit=True),
    **_cut("the end of a wait", _RECOVER, "expire_waiting", _ALL, is_unit=True),
    **_cut("the desk's note", _DESK, "insert_instruction", _ALL),
    **_cut("the desk's cancellation", _DESK, "cancel_instruction", _UNDER_WAY_OR_DONE),
    **_cut("the file's write", _COLLECT, "write_file", _ALL, is_unit=True),
    **_cut("the order of a run", _RUNS, "fall_due", _ALL, is_unit=True),
    **_cut("the note on a run", _RUNS, "judge_try", _ALL, is_unit=True),
    **_cut("the postponement of a run", _SCHEDULES, "put_off_run", [Moment.AFTER]),
    **_cut("the drop of a run", _RUNS, "drop_run", _UNDER_WAY_OR_DONE, is_unit=True),
    **_cut("the question to the vault", _TOKENIZE, "converse", [Moment.BEFORE]),
    **_cut("the vault's answer", _TOKENIZE, "converse", [Moment.AFTER]),
    **_cut("the first write of a checkout", _PAY, "write_start", _ALL, is_unit=True),
    **_cut("the write of a checkout's registration", _REGISTER, "_write", [Moment.AMID], is_unit=True),
    **_cut("the spending of a checkout", _CHECK_OUT, "spend_checkout", [Moment.BEFORE, Moment.AFTER]),
    **_cut("the call to the shop", _REMIND, "_call", _ALL),
    **_cut("the note of the call", _REMIND, "remind", _UNDER_WAY_OR_DONE, is_unit=True),
    **_cut("the write of a token", _TOKENIZE, "_update", _UNDER_WAY_OR_DONE, is_unit=True),
}

_UNDER_WAY_S = (0.0, 0.012)
"""How long a write takes is not known, so that the knife falls anywhere from its beginning to its end, and never later:
by then others may have gone on with what was written."""


def hone(cut: Cut) -> None:
    if not cut.is_unit:
        module = import_module(cut.module)
        setattr(module, cut.name, _sharpen(getattr(module, cut.name), cut.moment))
        return
    for module_name, class_name in _DRIVERS:
        driver = getattr(import_module(module_name), class_name)
        driver.write = _sharpen_for_one(driver.write, cut)


def _sharpen_for_one(write: Work, cut: Cut) -> Work:
    """Others may write before the one it is meant for."""
    deadly = _sharpen(write, cut.moment)

    def write_unless_it_is_the_one(*arguments: Any) -> Coroutine[Any, Any, Any]:
        caller = sys._getframe(1)
        is_the_one = (caller.f_globals["__name__"], caller.f_code.co_name) == (cut.module, cut.name)
        return (deadly if is_the_one else write)(*arguments)

    return write_unless_it_is_the_one


def _sharpen(work: Work, moment: Moment) -> Work:
    async def die_at_the_moment(*arguments: Any, **named: Any) -> None:
        if moment is Moment.BEFORE:
            die()
        task = asyncio.ensure_future(work(*arguments, **named))
        if moment is Moment.AMID:
            await asyncio.wait({task}, timeout=random.uniform(*_UNDER_WAY_S))
        else:
            await task
        die()

    return die_at_the_moment


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    # The signal may take a moment to stop this thread, and not one more line may run.
    time.sleep(60)
