"""The merchant's endpoints. Each file exports its rows of the route table; the rows are joined here."""

from tollgate.web.api import host, payments, queries, reconciliations
from tollgate.web.api.host import METRICS

ROUTES = (*payments.ROUTES, *queries.ROUTES, *reconciliations.ROUTES, *host.ROUTES)

__all__ = ["METRICS", "ROUTES"]
