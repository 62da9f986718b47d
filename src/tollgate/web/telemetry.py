"""Shows requests to operators: metrics for Prometheus, the access log, warnings about unknown parameters.

Labels come from tables only, so that no caller can invent a series.
"""

import asyncio
import contextlib
import logging
import os
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache

import orjson
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from tollgate.catalog import card_numbers, suggestions
from tollgate.contract.fields import Pairs, list_unknown
from tollgate.values import hide_checkout_ids
from tollgate.web.request import Access, RequestContext, RouteRow

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)


class _Timer(Histogram):
    def observe_all(self, amounts: Sequence[float]) -> None:
        """Does what `observe` does for each amount, and changes every bucket once."""
        self._sum.inc(sum(amounts))
        counts: dict[int, int] = {}
        for amount in amounts:
            place = bisect_left(self._upper_bounds, amount)
            counts[place] = counts.get(place, 0) + 1
        for place, count in counts.items():
            self._buckets[place].inc(count)


_REQUESTS = Counter("tollgate_requests", "Requests answered.", ("operation", "status"))
_SECONDS = _Timer("tollgate_request_seconds", "Time from request to answer.", ("operation",), buckets=_BUCKETS)
_LIMITS = Counter("tollgate_connection_limits", "Connections refused or cut off at a limit.", ("limit",))
_RESULTS = Counter("tollgate_payments", "Payments answered, by type and result group.", ("kind", "group"))


# Looking a counter up by its labels costs more than counting.
_get_request_counter = cache(_REQUESTS.labels)
_get_timer = cache(_SECONDS.labels)
_get_payment_counter = cache(_RESULTS.labels)

# What one turn of the loop answers is counted and logged together: counting each request alone took 2 % of the
# instructions of a payment, and a system call for each line would cost too much.
_requests: dict[tuple[str, int], int] = {}
_seconds: dict[str, list[float]] = {}
_payments: dict[tuple[str, str], int] = {}
_lines: list[bytes] = []


def count_request(operation: str, status: int, seconds: float) -> None:
    if not _requests and not _lines:
        asyncio.get_running_loop().call_soon(_conclude_turn)
    request = operation, status
    _requests[request] = _requests.get(request, 0) + 1
    _seconds.setdefault(operation, []).append(seconds)


def count_payment(kind: str, group: str) -> None:
    """Counts a payment of a request, which is counted itself when it ends."""
    payment = kind, group
    _payments[payment] = _payments.get(payment, 0) + 1


def _conclude_turn() -> None:
    try:
        for request, count in _requests.items():
            _get_request_counter(*request).inc(count)
        for operation, amounts in _seconds.items():
            _get_timer(operation).observe_all(amounts)
        for payment, count in _payments.items():
            _get_payment_counter(*payment).inc(count)
        # A log that cannot be written must not fail a payment that was made.
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.buffer.write(b"".join(_lines))
            sys.stderr.buffer.flush()
    finally:
        for answered in (_requests, _seconds, _payments, _lines):
            answered.clear()


def count_limit(limit: str) -> None:
    """`peer` and `host` are the caps on connections; `unread` is a client that did not read its answer."""
    _LIMITS.labels(limit).inc()


def render_metrics() -> bytes:
    """Returns the metrics of this process, or of all workers of a host if they share a folder for them."""
    _conclude_turn()
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


# Its level says whether lines are wanted, as for every other log.
_access_log = logging.getLogger("tollgate.access")

_render: Callable[[Mapping[str, object]], str] | None = None
"""Renders a line for a terminal; without it lines are JSON."""


def write_access_lines(render: Callable[[Mapping[str, object]], str] | None) -> None:
    """Chooses how lines are written from now on: by this function, or as JSON."""
    global _render
    _render = render


def log_access(context: RequestContext, status: int, seconds: float) -> None:
    if not _access_log.isEnabledFor(logging.INFO):
        return
    facts = {
        "time": datetime.now(UTC),
        "level": "info",
        "log": _access_log.name,
        "event": "request",
        "ndc": hide_checkout_ids(context.ndc),
        "method": context.method,
        # Without its query, which may carry what a log must not; the path itself is the caller's text too.
        "path": card_numbers.hide_card_numbers(context.path),
        "operation": context.operation,
        "status": status,
        "ms": round(seconds * 1000, 2),
    }
    if _render is None:
        line = orjson.dumps(facts, option=orjson.OPT_APPEND_NEWLINE)
    else:
        line = _render(facts).encode("utf-8", "backslashreplace") + b"\n"
    if not _requests and not _lines:
        asyncio.get_running_loop().call_soon(_conclude_turn)
    _lines.append(line)


HEADER = b"tollgate-warning"
_parameter_log = logging.getLogger("tollgate.parameters")

_NAMES_MAX = 5
_NAME_LENGTH_MAX = 64
_DIGITS_MAX = 4
"""A name with more digits may hold the number of an account, so it is shown without them."""
_UNSAFE_REST = re.compile(r"[^A-Za-z0-9._\[\]-].*", re.DOTALL)
_DIGIT = re.compile(r"\d")


def warn_of_unknown(pairs: Pairs, row: RouteRow, context: RequestContext) -> bytes:
    """Returns the value of the header, empty if every name is known, and writes the log line."""
    if row.access is not Access.ENTITY and not row.takes_parameters:
        return b""
    unknown = [name for name in list_unknown(pairs) if name not in row.also_takes]
    if not unknown:
        return b""
    names = list(dict.fromkeys(unknown))
    described = [_describe(name) for name in names[:_NAMES_MAX]]
    if len(names) > _NAMES_MAX:
        described.append(f"and {len(names) - _NAMES_MAX} more")
    warning = f"unknown parameters ignored: {', '.join(described)}"
    _parameter_log.warning(
        "unknown parameters ignored",
        extra={"ndc": context.ndc, "operation": context.operation, "parameters": described},
    )
    return warning.encode("ascii")


def _describe(name: str) -> str:
    nearest = suggestions.suggest_name(name)
    return f"{_clean(name)} (did you mean {nearest}?)" if nearest else _clean(name)


def _clean(name: str) -> str:
    """Shows the name up to the first character that no parameter has.

    A body of another format, JSON for one, arrives as one long name, and what follows such a character may be a value.
    """
    start = _UNSAFE_REST.sub("", name)[:_NAME_LENGTH_MAX]
    if len(_DIGIT.findall(name)) > _DIGITS_MAX:
        start = _DIGIT.sub("#", start)
    return start if start == name else f"{start}..."
