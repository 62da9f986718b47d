"""The audit log of a merchant, or of the whole host: newest first, filtered, and as a file.

Its chain of hashes is checked by `tollgate verify`.
"""

from collections.abc import AsyncIterator

import msgspec

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.permissions import Permission
from tollgate.office.csv_files import CSV, render_rows
from tollgate.office.visits import OF_MERCHANT, OFFICE, OfficeRoutes, Visit, read_day, refuse_field
from tollgate.operations.app import App
from tollgate.payments.users import AuditEntry
from tollgate.store.audit_log import EntryFilter, list_entries
from tollgate.values import DAY, render_timestamp
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_PATH = f"{OF_MERCHANT}/audit-log"
_HOST_PATH = f"{OFFICE}/audit-log"
_FILTERS = ("user", "action", "since", "until")
_EXPORT_PAGE = 1000
_HEAD = ("number", "time", "merchant", "user", "action", "subject", "details", "address", "hash")


def _read_filter(visit: Visit) -> EntryFilter:
    if visit.merchant is not None:
        # The log has entries about all channels.
        visit.check(Permission.VIEW_AUDIT_LOG, "")
    action = visit.find("action")
    if action and action not in set(AuditAction):
        raise refuse_field("action", "must be one of the list")
    until = read_day("until", visit.find("until"))
    return EntryFilter(
        merchant_id=visit.merchant.id if visit.merchant else None,
        user_name=visit.find("user") or None,
        action=action or None,
        since=read_day("since", visit.find("since")),
        until=None if until is None else until + DAY,
    )


@ROUTES.add("GET", _HOST_PATH, Permission.MANAGE_HOST)
@ROUTES.add("GET", _PATH, Permission.VIEW_AUDIT_LOG)
async def show_audit_log(visit: Visit) -> Reply:
    """Lists entries, newest first."""
    before = visit.find("before")
    if before and not (before.isascii() and before.isdigit() and len(before) < 16):
        raise refuse_field("before", "must be the number of an entry")
    rows = await list_entries(
        visit.app.database, _read_filter(visit), int(before) if before else None, LIMITS.office_page + 1
    )
    has_more = len(rows) > LIMITS.office_page
    return visit.render(
        "audit_log.html",
        title="Audit log" if visit.merchant else "Audit log of the host",
        own_path=f"{visit.base}/audit-log" if visit.merchant else _HOST_PATH,
        rows=rows[: LIMITS.office_page],
        after=rows[LIMITS.office_page - 1].number if has_more else "",
        filters={name: visit.find(name) for name in _FILTERS},
        actions=sorted(AuditAction),
    )


async def export_entries(app: App, wanted: EntryFilter) -> AsyncIterator[bytes]:
    """Yields the lines of a file with all entries that are wanted, newest first, some at a time."""
    yield render_rows([_HEAD])
    before: int | None = None
    for _ in range(LIMITS.audit_export_rows_max // _EXPORT_PAGE):
        page = await list_entries(app.database, wanted, before, _EXPORT_PAGE)
        if not page:
            return
        yield render_rows(map(_list_cells, page))
        before = page[-1].number


def _list_cells(entry: AuditEntry) -> tuple[object, ...]:
    details = msgspec.json.encode(entry.details, order="sorted").decode() if entry.details else ""
    return (
        entry.number,
        render_timestamp(entry.at),
        entry.merchant_id,
        entry.user_name,
        entry.action,
        entry.subject,
        details,
        entry.address,
        entry.hash.hex(),
    )


@ROUTES.add("POST", f"{_HOST_PATH}/export", Permission.MANAGE_HOST)
@ROUTES.add("POST", f"{_PATH}/export", Permission.VIEW_AUDIT_LOG)
async def submit_export(visit: Visit) -> Reply:
    """Sends what the filters find as a file of comma-separated values."""
    wanted = _read_filter(visit)
    shown = {name: visit.find(name) for name in _FILTERS if visit.find(name)}
    await visit.record(AuditAction.AUDIT_LOG_EXPORTED, **shown)
    body = b"".join([chunk async for chunk in export_entries(visit.app, wanted)])
    return Reply(200, body, CSV, ((b"content-disposition", b'attachment; filename="audit-log.csv"'),))
