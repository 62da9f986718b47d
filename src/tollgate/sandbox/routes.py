"""The routes of a test host, joined. Each file keeps its own rows."""

from tollgate.sandbox import clock, disputes, issuer, provider_pages, shop, token_events, wallet_sheets

ROUTES = (
    *clock.ROUTES,
    *disputes.ROUTES,
    *issuer.ROUTES,
    *provider_pages.ROUTES,
    *shop.ROUTES,
    *token_events.ROUTES,
    *wallet_sheets.ROUTES,
)
