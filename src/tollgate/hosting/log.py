"""Logs as JSON lines, or as text on a terminal.

What is logged is decided elsewhere.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import orjson

from tollgate.catalog.card_numbers import hide_card_numbers
from tollgate.config import LogFormat
from tollgate.values import hide_checkout_ids
from tollgate.web.telemetry import write_access_lines

_RESET = "\x1b[0m"
_DIM = "\x1b[2m"
_LEVELS = {"debug": _DIM, "info": "\x1b[36m", "warning": "\x1b[33m", "error": "\x1b[31m", "critical": "\x1b[1;31m"}
_STATUSES = ((500, "\x1b[31m"), (400, "\x1b[33m"), (0, "\x1b[32m"))
"""Colours by the least status that has them."""

_LEVEL_WIDTH = max(map(len, _LEVELS))
_SHOWN_ELSEWHERE = frozenset({"level", "log", "event", "traceback"})
_FAILED = 400


class TerminalLines:
    """Renders the members of a log line. `hide` takes card numbers and credentials out of the finished text."""

    def __init__(self, hide: Callable[[str], str], *, is_coloured: bool) -> None:
        self._hide = hide
        self._is_coloured = is_coloured

    def render(self, line: Mapping[str, object]) -> str:
        level = str(line["level"])
        time = self._paint(_DIM, f"{datetime.now(UTC):%H:%M:%S}")
        text = self._render_request(line) if line["event"] == "request" else self._render_event(line)
        text += "".join(f"\n    {self._clean(each)}" for each in str(line.get("traceback", "")).split("\n") if each)
        return f"{time} {self._paint(_LEVELS.get(level, ''), level.ljust(_LEVEL_WIDTH))} {text}"

    def _render_event(self, line: Mapping[str, object]) -> str:
        facts = (f"{name}={_quote(value)}" for name, value in line.items() if name not in _SHOWN_ELSEWHERE)
        return self._clean(" ".join((str(line["event"]), *facts)))

    def _render_request(self, line: Mapping[str, object]) -> str:
        """Leaves the trace out where all went well: it is long, and is asked for when something did not."""
        status = int(str(line["status"]))
        colour = next(colour for least, colour in _STATUSES if status >= least)
        text = f"{line['method']} {line['path']} {line['ms']} ms" + (f" ndc={line['ndc']}" if status >= _FAILED else "")
        return f"{self._paint(colour, str(status))} {self._clean(text)}"

    def _clean(self, text: str) -> str:
        return escape_controls(self._hide(text))

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


_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

_SHOPPER_PATH = re.compile(
    r"(/v1/(?:shopper|threeDSecure/(?:method|results))/|/paymentlink/|/paybylink/v1/)[A-Za-z0-9_=-]+"
)
"""Addresses of the shopper's pages and of payment links, whose last part is a key."""


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # The time has as many digits as a card number, and is no text of a caller.
        time = datetime.fromtimestamp(record.created, UTC).isoformat()
        line = orjson.dumps(_read_record(self, record), default=str).decode()
        return f'{{"time":"{time}",' + hide_secrets(line)[1:]


class TerminalFormatter(logging.Formatter):
    def __init__(self, lines: TerminalLines) -> None:
        super().__init__()
        self._lines = lines

    def format(self, record: logging.LogRecord) -> str:
        return self._lines.render(_read_record(self, record))


def _read_record(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, object]:
    line: dict[str, object] = {
        "level": record.levelname.lower(),
        "log": record.name,
        "event": record.getMessage(),
    }
    line |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
    if record.exc_info:
        line["traceback"] = formatter.formatException(record.exc_info)
    return line


def hide_secrets(text: str) -> str:
    # Checkout ids and shopper addresses are enough to pay or to change something.
    return hide_card_numbers(hide_checkout_ids(_SHOPPER_PATH.sub(r"\1***", text)))


def set_up_logs(level: str, log_format: LogFormat = LogFormat.AUTO) -> None:
    out = logging.StreamHandler(sys.stderr)
    is_terminal = sys.stderr.isatty()
    if log_format is LogFormat.TERMINAL or (log_format is LogFormat.AUTO and is_terminal):
        lines = TerminalLines(hide_secrets, is_coloured=is_terminal and wants_colours(os.environ))
        out.setFormatter(TerminalFormatter(lines))
        write_access_lines(lines.render)
    else:
        out.setFormatter(JsonLines())
        write_access_lines(None)
    logging.basicConfig(level=level.upper(), handlers=[out], force=True)


def wants_colours(variables: Mapping[str, str]) -> bool:
    """Follows the custom that NO_COLOR, set to anything, and a terminal without abilities ask for plain text."""
    return not variables.get("NO_COLOR") and variables.get("TERM") != "dumb"
