"""Shows deliveries of events to operators, as metrics for Prometheus. Requests are counted where they are answered."""

from collections.abc import Mapping

from prometheus_client import Counter, Gauge

from tollgate.operations.app import App
from tollgate.store.deliveries import find_oldest
from tollgate.store.jobs import count_reversals
from tollgate.values import SECOND
from tollgate.workers.jobs import RECOVERY_PAUSES_S

_DELIVERIES = Counter("tollgate_webhook_deliveries", "Attempts to deliver an event, by result.", ("result",))
_OLDEST = Gauge(
    "tollgate_webhook_oldest_undelivered_seconds",
    "Age of the oldest event that was not delivered yet; 0 where there is none.",
    # All processes measure the same, so the last of them is right, also where another one has died.
    multiprocess_mode="mostrecent",
)

_REVERSALS = Gauge(
    "tollgate_reversals_waiting",
    "Reversals that were tried five times or more, and that the acquirer has not confirmed.",
    multiprocess_mode="mostrecent",
)
_MANY_TRIES = 5

_DROPPED = Counter("tollgate_journal_dropped", "Messages and log lines that were dropped before they were written.")


_CARD_TESTING = Counter(
    "tollgate_card_testing", "Payments that were slowed down, refused or sent away.", ("counter", "action")
)


def count_card_testing(actions: Mapping[tuple[str, str], int], reported: Mapping[tuple[str, str], int]) -> None:
    """Adds what happened since it was reported last."""
    for labels, count in actions.items():
        if count > reported.get(labels, 0):
            _CARD_TESTING.labels(*labels).inc(count - reported.get(labels, 0))


def count_dropped(count: int) -> None:
    _DROPPED.inc(count)


def count_delivery(*, is_success: bool) -> None:
    _DELIVERIES.labels("delivered" if is_success else "failed").inc()


async def measure_oldest(app: App) -> int:
    oldest = await find_oldest(app.database)
    _OLDEST.set(0 if oldest is None else max(0, app.clock.now() - oldest) / SECOND)
    return 0


async def measure_reversals(app: App) -> int:
    # Jobs of other kinds may be due in years, and none that is tried again is due later than this.
    until = app.clock.now() + max(RECOVERY_PAUSES_S) * SECOND
    _REVERSALS.set(await count_reversals(app.database, _MANY_TRIES, until))
    return 0


_LAG = Gauge(
    "tollgate_replica_lag_seconds",
    "Seconds that the replica is behind at most; +Inf while it cannot be used.",
    # Each process measures for itself; the last one is as right as any.
    multiprocess_mode="mostrecent",
)


async def measure_replica(app: App) -> int:
    if app.replica is not None:
        await app.replica.measure()
        _LAG.set(app.replica.lag_s)
    return 0
