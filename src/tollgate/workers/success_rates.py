"""Adds the counts of charges to the store, and reads the totals of all processes. Nothing is estimated here."""

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.store import routing_counts


async def share_counts(app: App) -> int:
    """Brings the success rates of this process in step with the store."""
    rates = app.success_rates
    new = rates.list_new()
    for start in range(0, len(new), LIMITS.routing_counts_batch):
        some = new[start : start + LIMITS.routing_counts_batch]
        await routing_counts.add_counts(app.database, some)
        rates.confirm(some)
    now = app.clock.now()
    since = rates.choose_since(now)
    rates.take_totals(await routing_counts.list_counts(app.database, since, LIMITS.routing_counts_max), since, now)
    return 0
