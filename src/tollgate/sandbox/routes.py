"""The routes of a test host, joined. Each file keeps its own rows."""

from tollgate.sandbox import clock, disputes, issuer, provider_pages

ROUTES = (*clock.ROUTES, *disputes.ROUTES, *issuer.ROUTES, *provider_pages.ROUTES)
