"""Log lines for a person at a terminal: short, coloured by level, without control characters of others' text.

Which of the two formats a host writes is decided in log.py, and what must not be logged is hidden there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

_RESET = "\x1b[0m"
_DIM = "\x1b[2m"
_LEVELS = {"debug": _DIM, "info": "\x1b[36m", "warning": "\x1b[33m", "error": "\x1b[31m", "critical": "\x1b[1;31m"}
_STATUSES = ((500, "\x1b[31m"), (400, "\x1b[33m"), (0, "\x1b[32m"))
"""Colours by the least status that has them."""

_LEVEL_WIDTH = max(map(len, _LEVELS))
_TOLD_ELSEWHERE = frozenset({"level", "log", "event", "traceback"})
_FAILED = 400


class TerminalLines:
    """Renders the members of a log line. `hide` takes card numbers and credentials out of the finished text."""

    def __init__(self, hide: Callable[[str], str], *, is_coloured: bool) -> None:
        self._hide = hide
        self._is_coloured = is_coloured

    def render(self, line: Mapping[str, object]) -> str:
        level = str(line["level"])
        head = f"{self._paint(_DIM, _read_clock())} {self._paint(_LEVELS.get(level, ''), level.ljust(_LEVEL_WIDTH))} "
        told = self._tell_request(line) if line["event"] == "request" else self._tell_event(line)
        return head + told + self._render_traceback(line)

    def _tell_event(self, line: Mapping[str, object]) -> str:
        facts = (f"{name}={_quote(value)}" for name, value in line.items() if name not in _TOLD_ELSEWHERE)
        return self._clean(" ".join((str(line["event"]), *facts)))

    def _tell_request(self, line: Mapping[str, object]) -> str:
        """Leaves the trace out where all went well: it is long, and is asked for when something did not."""
        status = int(str(line["status"]))
        colour = next(colour for least, colour in _STATUSES if status >= least)
        told = f"{line['method']} {line['path']} {line['ms']} ms" + (f" ndc={line['ndc']}" if status >= _FAILED else "")
        return f"{self._paint(colour, str(status))} {self._clean(told)}"

    def _clean(self, text: str) -> str:
        return escape_controls(self._hide(text))

    def _render_traceback(self, line: Mapping[str, object]) -> str:
        return "".join(f"\n    {self._clean(each)}" for each in str(line.get("traceback", "")).split("\n") if each)

    def _paint(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_RESET}" if self._is_coloured and colour else text


def escape_controls(text: str) -> str:
    """Writes whatever could move a cursor, change a colour or turn the direction of text as an escape like `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _quote(value: object) -> str:
    text = str(value)
    return f'"{text}"' if " " in text or not text else text


def _read_clock() -> str:
    return datetime.now(UTC).strftime("%H:%M:%S")
