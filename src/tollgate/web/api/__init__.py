"""The endpoints of the API. Each module declares its rows beside its handlers; they are joined here."""

from tollgate.web.api import acquirers, authentications, checkouts, host, payments, registrations, reports, webhooks
from tollgate.web.pages import rendering

ROUTES = tuple(
    row
    for module in (payments, checkouts, registrations, authentications, reports, webhooks, acquirers, host, rendering)
    for row in module.ROUTES
)
