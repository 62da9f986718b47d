"""The merchant's endpoints. Each file exports its rows of the route table; the rows are joined here."""

from tollgate.web.api import authentications, host, payments, queries, reconciliations, shopper
from tollgate.web.api.host import METRICS

ROUTES = (
    *payments.ROUTES,
    *authentications.ROUTES,
    *shopper.ROUTES,
    *queries.ROUTES,
    *reconciliations.ROUTES,
    *host.ROUTES,
)

__all__ = ["METRICS", "ROUTES"]
