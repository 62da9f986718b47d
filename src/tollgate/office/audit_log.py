"""The audit log of a merchant, or of the whole host: newest first, filtered, and as a file.

Its chain of hashes is checked by `tollgate verify`.
"""

from collections.abc import AsyncGenerator

import msgspec

from tollgate.catalog import audit_actions, limits, permissions
from tollgate.office import csv_files, visits
from tollgate.operations.app import App
from tollgate.payments.users import AuditEntry
from tollgate.store.audit_log import EntryFilter, list_entries
from tollgate.values import DAY, render_timestamp
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/audit-log"
_HOST_PATH = f"{visits.OFFICE}/audit-log"
_FILTERS = ("user", "action", "since", "until")
_EXPORT_PAGE = 1000
_HEAD = ("number", "time", "merchant", "user", "action", "subject", "details", "address", "hash")


def _read_filter(visit: visits.Visit) -> EntryFilter:
    if visit.merchant is not None:
        # The log has entries about all channels.
        visit.check(permissions.Permission.VIEW_AUDIT_LOG, "")
    action = visit.find("action")
    if action and action not in set(audit_actions.AuditAction):
        raise visits.refuse_field("action", "must be one of the list")
    until = visits.read_day("until", visit.find("until"))
    return EntryFilter(
        merchant_id=visit.merchant.id if visit.merchant else None,
        user_name=visit.find("user") or None,
        action=action or None,
        since=visits.read_day("since", visit.find("since")),
        until=None if until is None else until + DAY,
    )


@ROUTES.add("GET", _HOST_PATH, permissions.Permission.MANAGE_HOST)
@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_AUDIT_LOG)
async def show_audit_log(visit: visits.Visit) -> Reply:
    """Lists entries, newest first."""
    before = visit.find("before")
    if before and not (before.isascii() and before.isdigit() and len(before) < 16):
        raise visits.refuse_field("before", "must be the number of an entry")
    rows = await list_entries(
        visit.app.database, _read_filter(visit), int(before) if before else None, limits.LIMITS.office_page + 1
    )
    has_more = len(rows) > limits.LIMITS.office_page
    return visit.render(
        "audit_log.html",
        title="Audit log" if visit.merchant else "Audit log of the host",
        own_path=f"{visit.base}/audit-log" if visit.merchant else _HOST_PATH,
        rows=rows[: limits.LIMITS.office_page],
        after=rows[limits.LIMITS.office_page - 1].number if has_more else "",
        filters={name: visit.find(name) for name in _FILTERS},
        actions=sorted(audit_actions.AuditAction),
    )


async def export_entries(app: App, wanted: EntryFilter) -> AsyncGenerator[bytes, None]:
    """Yields the lines of a file with all entries that are wanted, newest first, some at a time."""
    yield csv_files.render_rows([_HEAD])
    before: int | None = None
    for _ in range(limits.LIMITS.audit_export_rows_max // _EXPORT_PAGE):
        page = await list_entries(app.database, wanted, before, _EXPORT_PAGE)
        if not page:
            return
        yield csv_files.render_rows(map(_list_cells, page))
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


@ROUTES.add("POST", f"{_HOST_PATH}/export", permissions.Permission.MANAGE_HOST)
@ROUTES.add("POST", f"{_PATH}/export", permissions.Permission.VIEW_AUDIT_LOG)
async def submit_export(visit: visits.Visit) -> Reply:
    """Sends what the filters find as a file of comma-separated values."""
    wanted = _read_filter(visit)
    shown = {name: visit.find(name) for name in _FILTERS if visit.find(name)}
    await visit.record(audit_actions.AuditAction.AUDIT_LOG_EXPORTED, **shown)
    disposition = (b"content-disposition", b'attachment; filename="audit-log.csv"')
    return Reply(200, b"", csv_files.CSV, (disposition,), chunks=export_entries(visit.app, wanted))
