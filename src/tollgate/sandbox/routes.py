"""The routes of a test host, joined. Each module declares its own rows."""

from tollgate.sandbox import controls, issuer, office_pages, provider_pages, wallet_sheets
from tollgate.sandbox.front import pages as front_pages
from tollgate.sandbox.inbox import pages as inbox_pages
from tollgate.sandbox.shop import pages

_MODULES = (controls, issuer, provider_pages, pages, wallet_sheets, inbox_pages, office_pages, front_pages)

ROUTES = tuple(row for module in _MODULES for row in module.ROUTES)
