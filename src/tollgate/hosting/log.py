"""Logs on standard error: JSON lines, or short lines for a person at a terminal.

The formatter is the last gate: whatever looks like a card number or a credential leaves as stars.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import orjson

from tollgate.catalog.card_numbers import hide_card_numbers
from tollgate.config import LogFormat
from tollgate.hosting.terminal_log import TerminalLines
from tollgate.values import hide_checkout_ids
from tollgate.web import write_access_lines

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

_TICKET = re.compile(r"(/v1/(?:shopper|threeDSecure/(?:method|results))/|/paymentlink/|/paybylink/v1/)[A-Za-z0-9_=-]+")
"""Addresses of the shopper's pages and of payment links, whose last part is a key."""


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # The time has as many digits as a card number, and is not somebody's text.
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
    return hide_card_numbers(hide_credentials(text))


def hide_credentials(text: str) -> str:
    """Cuts checkout ids and shopper addresses short, because whoever has one can pay or change something with it."""
    return hide_checkout_ids(_TICKET.sub(r"\1***", text))


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
