"""What is counted and timed, for Prometheus. Labels come from tables only, so that no caller can invent a series."""

from __future__ import annotations

import os

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)

_REQUESTS = Counter("tollgate_requests", "Requests answered.", ("operation", "status"))
_SECONDS = Histogram("tollgate_request_seconds", "Time from request to answer.", ("operation",), buckets=_BUCKETS)
_LIMITS = Counter("tollgate_connection_limits", "Connections refused or cut off at a limit.", ("limit",))
_RESULTS = Counter("tollgate_payments", "Payments answered, by type and result group.", ("kind", "group"))


_children: dict[tuple[str, ...], Counter] = {}
_timers: dict[str, Histogram] = {}


def count_request(operation: str, status: int, seconds: float) -> None:
    """Children are kept, because looking one up by label costs more than counting."""
    key = ("request", operation, str(status))
    counter = _children.get(key)
    if counter is None:
        counter = _children[key] = _REQUESTS.labels(operation, str(status))
    counter.inc()
    timer = _timers.get(operation)
    if timer is None:
        timer = _timers[operation] = _SECONDS.labels(operation)
    timer.observe(seconds)


def count_payment(kind: str, group: str) -> None:
    key = ("payment", kind, group)
    counter = _children.get(key)
    if counter is None:
        counter = _children[key] = _RESULTS.labels(kind, group)
    counter.inc()


def count_limit(limit: str) -> None:
    """`peer` and `host` are the caps on connections; `unread` is a client that did not read its answer."""
    _LIMITS.labels(limit).inc()


def render_metrics() -> bytes:
    """Of this process, or of all workers of a host where they share a folder for it."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
