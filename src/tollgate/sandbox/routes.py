"""The routes of a test host, joined. Each file keeps its own rows."""

from tollgate.sandbox import clock, disputes

ROUTES = (*clock.ROUTES, *disputes.ROUTES)
