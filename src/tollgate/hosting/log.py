"""Logs as JSON lines on standard error.

The formatter is the last gate: whatever looks like a card number leaves as stars.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

import orjson

from tollgate.vault import hide_card_numbers

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "log": record.name,
            "event": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return hide_card_numbers(orjson.dumps(line, default=str).decode())


def set_up_logs(level: str) -> None:
    out = logging.StreamHandler(sys.stderr)
    out.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[out], force=True)
    for chatty in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(chatty)
        logger.handlers.clear()
        logger.propagate = True
    # Our own access line carries the ndc; uvicorn's would say the same without it, and with the query.
    logging.getLogger("uvicorn.access").disabled = True
