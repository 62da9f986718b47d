"""The access log: one line for every answered request, in the form all other logs have.

Written past `logging`, whose record, caller and handlers cost more than half a card's validation on every payment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import orjson

from tollgate.catalog.card_numbers import hide_card_numbers
from tollgate.values import find_checkout_id, hide_checkout_ids
from tollgate.web.visit import Visit

# Its level says whether lines are wanted, as for every other log.
_log = logging.getLogger("tollgate.access")

_lines: list[bytes] = []
"""Of this turn of the loop. They are written together, because every write is a visit to the kernel, and payments that
share a commit are answered in one turn."""


_render: Callable[[Mapping[str, object]], str] | None = None
"""Renders a line for a terminal; without it lines are JSON."""


def write_access_lines(render: Callable[[Mapping[str, object]], str] | None) -> None:
    """Chooses how lines are written from now on: by this function, or as JSON."""
    global _render
    _render = render


def tell_access(visit: Visit, status: int, seconds: float) -> None:
    if not _log.isEnabledFor(logging.INFO):
        return
    told = {
        "level": "info",
        "log": _log.name,
        "event": "request",
        "ndc": visit.ndc if find_checkout_id(visit.ndc) is None else hide_checkout_ids(visit.ndc),
        "method": visit.method,
        # Without its query, which may carry what a log must not; the path itself is the caller's text too.
        "path": hide_card_numbers(visit.path),
        "operation": visit.operation,
        "status": status,
        "ms": round(seconds * 1000, 2),
    }
    if _render is None:
        line = orjson.dumps({"time": datetime.now(UTC), **told}, option=orjson.OPT_APPEND_NEWLINE)
    else:
        line = _render(told).encode("utf-8", "backslashreplace") + b"\n"
    if not _lines:
        asyncio.get_running_loop().call_soon(_write)
    _lines.append(line)


def _write() -> None:
    # A log that cannot be written must not fail a payment that was made.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.buffer.write(b"".join(_lines))
        sys.stderr.buffer.flush()
    _lines.clear()
