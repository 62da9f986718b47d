"""The document of crash points: every kill, what it left and how it ended, as this run saw it. No gateway dies here.

What is chance is told as all that it may be, so that the same code always gives the same document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from crash.wreckage import Ending, Kill, Wreck

DOCUMENT = Path(__file__).parents[2] / "docs" / "crash-points.md"
WRITE = "CRASH_POINTS"
"""With this variable set to `write` the document is made true instead of being held against the truth."""

SECTIONS = (
    "Payments",
    "Payments that store their card",
    "What follows a payment",
    "Facts that a bank brings",
    "Repeats and overdue attempts",
    "Technical reversals",
    "Shoppers who are authenticated",
    "Providers' pages",
    "Bank accounts",
    "Payments of schedules",
    "Network tokens",
    "Checkouts",
    "Further moments",
    "Further moments of schedules and network tokens",
)
PREFACE = """\
# Crash points

Where a gateway was killed with SIGKILL, what the store held at that moment, and how everything ended after a restart.
Written by the crash tests (`make crashes`); in `make test` they fail when a run contradicts this page, of which the
last two sections are left to `make prove`. Each row was seen on SQLite and on PostgreSQL, with an acquirer in a process
of its own, whose ledger is the witness; of bank accounts the witness is what stands in the files for the bank, of
network tokens the vault, of reminders the shop. Afterwards nothing is open, owed or reserved; balances, numbers and
book are what the transactions say; the acquirer did with every transaction exactly what the gateway recorded; every due
time of a schedule was there once, and was paid once or, where it failed, not at all.

*Amid* a write means: asked for, and not answered yet; the moment is drawn anew in every run. Whether the write was done
is chance there: *or* stands between all that may be, of which a run sees one on each database, and anything else, such
as a half, fails it. A row that *dies again* goes on in the next row, where the gateway that was
started to recover is killed in turn. *Repeated* tells what the same request is answered when it is sent once more after
the restart, with the same idempotency key where there is one; *replayed*, that this is the answer kept for the key.
Issuers tell their result again, and shoppers come back or reload their page, in the same way.
"""
COLUMNS = (
    "request",
    "moment",
    "seam",
    "what the caller sees",
    "what the store held",
    "ended on SQLite",
    "ended on PostgreSQL",
)
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}

_NO_ANSWER, _NOBODY, _GOES_ON = "no answer", "nobody waits", "dies again"


def render_section(wrecks: Mapping[str, Sequence[Wreck]]) -> str:
    """The same crashes on each database."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for pair in zip(*(wrecks[name] for name in NAMES), strict=True):
        lines += _render_rows(dict(zip(NAMES, pair, strict=True)))
    return "\n".join(lines) + "\n"


def _render_rows(wrecks: Mapping[str, Wreck]) -> Iterator[str]:
    crash = next(iter(wrecks.values())).crash
    kills = (crash.kill, *crash.recoveries)
    for place, kill in enumerate(kills):
        is_last = place == len(kills) - 1
        heard = _tell_endings(wrecks, lambda ending: ending.heard)
        caller = f"{_NO_ANSWER}; {crash.again}: {heard}" if crash.again and not place else _NOBODY
        held = _agree({name: _tell_held(kill, wreck.held[place]) for name, wreck in wrecks.items()})
        ended = [_tell(wreck, lambda ending: ending.rows) if is_last else _GOES_ON for wreck in wrecks.values()]
        moment, _, seam = kill.seam.partition(" ")
        yield f"| {' | '.join([crash.deed.name, moment, seam, caller, held, *ended])} |"


def _tell_endings(wrecks: Mapping[str, Wreck], pick: Callable[[Ending], str]) -> str:
    return _agree({name: _tell(wreck, pick) for name, wreck in wrecks.items()})


def _tell(wreck: Wreck, pick: Callable[[Ending], str]) -> str:
    foreseen = wreck.crash.endings
    return _join_or(pick(ending) for ending in (foreseen if wreck.ending in foreseen else (wreck.ending,)))


def _tell_held(kill: Kill, held: str) -> str:
    return _join_or(kill.leaves if held in kill.leaves else (held,))


def _join_or(texts: Iterable[str]) -> str:
    return " *or* ".join(dict.fromkeys(texts))


def _agree(told: Mapping[str, str]) -> str:
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{NAMES[name]}: {text}" for name, text in told.items())


# ---- the file ----


def render_document(sections: Mapping[str, str]) -> str:
    return "\n".join([PREFACE, *(f"## {title}\n\n{sections.get(title, '')}" for title in SECTIONS)])


def read_sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n\n", text, flags=re.M)
    return {title: body.rstrip("\n") + "\n" for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def compare_with_document(fresh: Mapping[str, str]) -> tuple[str, str]:
    """(the document, what this run says it should be); the same where it was asked to be written."""
    text = DOCUMENT.read_text("utf-8") if DOCUMENT.exists() else ""
    true = render_document({**read_sections(text), **fresh})
    if os.environ.get(WRITE) == "write":
        DOCUMENT.write_text(true, "utf-8")
        text = true
    return text, true
