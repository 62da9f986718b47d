"""Logs as JSON lines on standard error.

The formatter is the last gate: whatever looks like a card number leaves as stars.
"""

from __future__ import annotations

import logging
import re
import sys
from datetime import UTC, datetime

import orjson

from tollgate.catalog import passes_luhn

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
# An id is 32 hex digits: a run of decimals in one is chance, and a starred ndc could not be searched for.
_LONG_NUMBER = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|(?P<number>(?<![0-9])[0-9](?:[ -]?[0-9]){11,18}(?![0-9]))"
)


# What has no such run has no card number, and a look for it costs a tenth of the look for the number itself.
_DIGIT_RUN = re.compile("[0-9][0-9 -]{11}")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": moment,
            "level": record.levelname.lower(),
            "log": record.name,
            "event": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return hide_card_numbers(orjson.dumps(line, default=str).decode())


def hide_card_numbers(text: str) -> str:
    """Nothing should come here with one; a mistake elsewhere must still not end in a log file."""
    if _DIGIT_RUN.search(text) is None:
        return text
    return _LONG_NUMBER.sub(_hide_if_card, text)


def _hide_if_card(match: re.Match[str]) -> str:
    if match["number"] is None:
        return match[0]
    digits = re.sub("[ -]", "", match[0])
    return "*" * len(match[0]) if passes_luhn(digits) else match[0]


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
