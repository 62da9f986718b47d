"""Logs as JSON lines on standard error.

The formatter is the last gate: whatever looks like a card number or a credential leaves as stars.
"""

from __future__ import annotations

import logging
import re
import sys
from datetime import UTC, datetime

import orjson

from tollgate.catalog import hide_card_numbers
from tollgate.values import hide_checkout_ids

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

_TICKET = re.compile(r"(/v1/(?:shopper|threeDSecure/(?:method|results))/)[A-Za-z0-9_=-]+")
"""Addresses of the shopper's pages, whose last part contains a key."""


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "level": record.levelname.lower(),
            "log": record.name,
            "event": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        # The time has as many digits as a card number, and is not somebody's text.
        time = datetime.fromtimestamp(record.created, UTC).isoformat()
        return f'{{"time":"{time}",' + hide_card_numbers(hide_credentials(orjson.dumps(line, default=str).decode()))[1:]


def hide_credentials(text: str) -> str:
    """Cuts checkout ids and shopper addresses short, because whoever has one can pay or change something with it."""
    return hide_checkout_ids(_TICKET.sub(r"\1***", text))


def set_up_logs(level: str) -> None:
    out = logging.StreamHandler(sys.stderr)
    out.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[out], force=True)
