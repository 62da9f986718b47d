"""The routes of a test host, joined. Each file keeps its own rows."""

from tollgate.sandbox import clock, disputes, provider_pages

ROUTES = (*clock.ROUTES, *disputes.ROUTES, *provider_pages.ROUTES)
