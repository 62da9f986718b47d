"""The merchant's endpoints. Each file exports its rows of the route table; the rows are joined here."""

from tollgate.web.api import payments, queries, service
from tollgate.web.api.service import METRICS

ROUTES = (*payments.ROUTES, *queries.ROUTES, *service.ROUTES)

__all__ = ["METRICS", "ROUTES"]
