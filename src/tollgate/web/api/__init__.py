"""The merchant's endpoints. Each file exports its rows of the route table; the rows are joined here.

So are the rows of the files that the shopper's pages load.
"""

from tollgate.web.api import (
    authentications,
    checkouts,
    host,
    links,
    network_tokens,
    payments,
    queries,
    reconciliations,
    registrations,
    schedules,
    shopper,
)
from tollgate.web.api.host import METRICS
from tollgate.web.pages import ROUTES as PAGE_ROUTES

ROUTES = (
    *payments.ROUTES,
    *checkouts.ROUTES,
    *links.ROUTES,
    *registrations.ROUTES,
    *schedules.ROUTES,
    *authentications.ROUTES,
    *network_tokens.ROUTES,
    *shopper.ROUTES,
    *queries.ROUTES,
    *reconciliations.ROUTES,
    *host.ROUTES,
    *PAGE_ROUTES,
)

__all__ = ["METRICS", "ROUTES"]
