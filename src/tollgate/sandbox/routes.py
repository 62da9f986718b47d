"""The routes of a test host, joined. Each module declares its own rows."""

from tollgate.sandbox import controls, issuer, provider_pages, wallet_sheets
from tollgate.sandbox.shop import pages

ROUTES = tuple(row for module in (controls, issuer, provider_pages, pages, wallet_sheets) for row in module.ROUTES)
