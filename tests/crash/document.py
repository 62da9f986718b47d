"""The document of crash points: every kill, what the store held then, and how it ended.

Where chance decides, every possible outcome is listed, so that the same code always gives the same document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from crash.crashes import CrashCase, Ending, Kill

DOCUMENT = Path(__file__).parents[2] / "docs" / "crash-points.md"
WRITE = "CRASH_POINTS"
"""The document is rewritten where this variable is `write`, and compared elsewhere."""

SECTIONS = (
    "Payments",
    "Payments that register their card",
    "Payments that move to another account",
    "Follow-ups",
    "Chargebacks",
    "Repeats and overdue attempts",
    "Technical reversals",
    "3-D Secure",
    "Providers' pages",
    "SEPA direct debits",
    "Payments of schedules",
    "Network tokens",
    "Checkouts",
    "Deliveries of events",
    "Endpoints and replays",
    "Back office",
    "Further moments",
    "Further moments of schedules and network tokens",
)
PREFACE = """\
# Crash points

This page lists where a gateway was killed with SIGKILL, what the store held at that moment, and how everything ended
after a restart. The crash tests write it (`make crashes`). In `make test` they fail when a run contradicts this page;
the last two sections are checked by `make prove`. Each row was seen on SQLite and on PostgreSQL: `make test` kills
*during* a step on both, and before or after a step on one of them in turn; `make prove` adds the other.

A *step* is the label of a write to the database or of a request to another system. The acquirer runs in its own
process, and its records are the evidence. For direct debits the evidence is the files for the bank, for network tokens
the token vault, for reminders the shop, for events the merchant's receiver. In the end nothing is open, due or
reserved. Balances, numbers and ledger follow from the payments. The acquirer did with every payment exactly what the
gateway recorded. Every run of a schedule happened once, and was paid once or, if it failed, not at all. Every event was
delivered; a receiver that hears one twice knows it by its id. An endpoint is active only if it answered its test, and a
replay is recorded together with all its deliveries or not at all. What a second person granted is carried out once,
however often it is repeated.

*During* means that the step was started and not confirmed; the moment is random. *Or* separates all permitted results.
A test sees one of these on each database, and fails on any other, such as half a write. A row that *dies again*
continues in the next row, where the recovering gateway is killed too. *Repeated* is the answer to the same request
after the restart, with the same idempotency key if there is one; *replayed* means that it is the answer stored for the
key. Issuers send their result again, and shoppers return or reload their page, in the same way.
"""
COLUMNS = (
    "request",
    "moment",
    "step",
    "what the caller sees",
    "what the store held",
    "ended on SQLite",
    "ended on PostgreSQL",
)
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}

DURING = "during "
"""The moment with which the crash points within a step begin."""
_NO_ANSWER, _NOBODY, _GOES_ON = "no answer", "no caller", "dies again"


def render_section(crashes: Iterable[Mapping[str, CrashCase]]) -> str:
    """Each crash with its cases by database: on one that was spared, it ends as on the other."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for cases in crashes:
        lines += _render_rows(cases)
    return "\n".join(lines) + "\n"


def _render_rows(cases: Mapping[str, CrashCase]) -> Iterator[str]:
    first = next(iter(cases.values()))
    crash = first.crash
    kills = (crash.kill, *crash.recoveries)
    for place, kill in enumerate(kills):
        is_last = place == len(kills) - 1
        heard = _tell_endings(cases, lambda ending: ending.heard)
        caller = f"{_NO_ANSWER}; {crash.again}: {heard}" if crash.again and not place else _NOBODY
        held = _agree({name: _tell_held(kill, case.held[place]) for name, case in cases.items()})
        ended = [_tell(cases.get(name, first), lambda ending: ending.rows) if is_last else _GOES_ON for name in NAMES]
        moment, _, step = kill.point.partition(" ")
        yield f"| {' | '.join([crash.request.name, moment, step, caller, held, *ended])} |"


def _tell_endings(cases: Mapping[str, CrashCase], pick: Callable[[Ending], str]) -> str:
    return _agree({name: _tell(case, pick) for name, case in cases.items()})


def _tell(case: CrashCase, pick: Callable[[Ending], str]) -> str:
    foreseen = case.crash.endings
    return _join_or(pick(ending) for ending in (foreseen if case.ending in foreseen else (case.ending,)))


def _tell_held(kill: Kill, held: str) -> str:
    return _join_or(kill.leaves if held in kill.leaves else (held,))


def _join_or(texts: Iterable[str]) -> str:
    return " *or* ".join(dict.fromkeys(texts))


def _agree(received: Mapping[str, str]) -> str:
    if len(set(received.values())) == 1:
        return next(iter(received.values()))
    return "; ".join(f"{NAMES[name]}: {text}" for name, text in received.items())


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


def list_unwritten_rows(fresh: Mapping[str, str]) -> list[str]:
    """Lists the rows that the document lacks."""
    written = read_sections(DOCUMENT.read_text("utf-8"))
    return [row for title, body in fresh.items() for row in body.splitlines() if row not in written[title].splitlines()]
