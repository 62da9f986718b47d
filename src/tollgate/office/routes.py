"""The pages of the back office, joined. Each module declares its own rows."""

from tollgate.office import (
    account,
    approvals,
    audit_log,
    disputes,
    erasure,
    home,
    lists,
    overview,
    passkeys,
    payment_actions,
    payment_page,
    profile,
    recording,
    routing_pages,
    setting_up,
    signing_in,
    tokens,
    transactions,
    users,
    visits,
    webhook_events,
    webhooks,
)
from tollgate.web.request import Access, Routes

_MODULES = (
    signing_in,
    passkeys,
    profile,
    setting_up,
    users,
    home,
    approvals,
    erasure,
    lists,
    account,
    *routing_pages.MODULES,
    tokens,
    webhooks,
    webhook_events,
    audit_log,
    overview,
    transactions,
    payment_page,
    payment_actions,
    recording,
    disputes,
)

_files = Routes()
_files.add("GET", f"{visits.OFFICE}/files/{{hash}}/{{name}}", "office_files", Access.OPEN)(visits.FILES.answer)

PAGE_ROWS = tuple(row for module in _MODULES for row in module.ROUTES.pages)
ROUTES = (*_files, *[row for module in _MODULES for row in module.ROUTES])
