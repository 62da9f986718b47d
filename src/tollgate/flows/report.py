"""Reports: pages of payments, their chains and what was earned. Nothing is changed.

The first pages have numbers; a cursor leads on from any of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract import reports as cursors
from tollgate.operations import signing
from tollgate.operations.app import App
from tollgate.payments.completion import list_entries
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Listed, Page, Period, Place, ReportEntry, Search, Tally, Window
from tollgate.store import reports
from tollgate.values import Fault, InvalidParameters, Refusal

Row = TypeVar("Row")


async def search(app: App, channel: Channel, wanted: Search, window: Window) -> Page[Payment]:
    """Searches payments, oldest first, because clients take the last one as the newest attempt."""
    after = _find_place(app, channel, wanted, window)
    limit, skipped = window.rows_max + 1, (window.page_no - 1) * window.rows_max
    rows = await reports.search_payments(app.database, channel, wanted, after, limit=limit, skipped=skipped)
    return await _make_page(
        rows,
        window,
        lambda payment: signing.is_trusted(app, payment),
        lambda most: reports.count_payments(app.database, channel, wanted, most),
        lambda place: cursors.render_cursor(place, channel, wanted, app.keyring),
    )


async def show_chain(app: App, payment: Payment) -> list[Payment]:
    """Returns a payment and all that is linked with it, in the order they came."""
    first_id = payment.first_id
    chains = await reports.list_chains(app.database, payment.merchant_id, [first_id], LIMITS.chain_rows_max)
    return [member for member in chains[first_id] if signing.is_trusted(app, member)]


async def show_chains(app: App, channel: Channel, payments: Iterable[Payment]) -> dict[str, list[Payment]]:
    """Returns the chains of a whole page with one statement; payments without follow-ups are left out."""
    first_ids = {payment.first_id for payment in payments if payment.chain_id or payment.balance.chain_length > 1}
    if not first_ids:
        return {}
    chains = await reports.list_chains(app.database, channel.merchant_id, sorted(first_ids), LIMITS.linked_max + 1)
    if sum(map(len, chains.values())) > LIMITS.linked_max:
        message = f"more than {LIMITS.linked_max} transactions are linked with this page; ask for a shorter one"
        raise InvalidParameters(get_result(codes.INVALID_REQUEST), [Fault("limit", message)])
    return {
        first_id: [member for member in chain if signing.is_trusted(app, member)] for first_id, chain in chains.items()
    }


async def sum_up(app: App, channel: Channel, period: Period) -> list[Tally]:
    return await reports.sum_report_entries(app.database, channel, period)


async def list_completed(app: App, channel: Channel, period: Period, window: Window) -> Page[ReportEntry]:
    after = _find_place(app, channel, period, window)
    limit, skipped = window.rows_max + 1, (window.page_no - 1) * window.rows_max
    rows = await reports.list_report_entries(app.database, channel, period, after, limit=limit, skipped=skipped)
    return await _make_page(
        rows,
        window,
        lambda report_entry: _is_sound(app, report_entry),
        lambda most: reports.count_report_entries(app.database, channel, period, most),
        lambda place: cursors.render_cursor(place, channel, period, app.keyring),
    )


async def list_all_completed(app: App, channel: Channel, period: Period) -> Page[ReportEntry]:
    """Lists all entries at once, for clients that know no pages; too long a list is refused, never cut."""
    most = LIMITS.settlement_records_max
    rows = await reports.list_report_entries(app.database, channel, period, None, limit=most + 1, skipped=0)
    if len(rows) > most:
        detail = f"there are more than {most} records; read them by pages, under /reports/v2"
        raise Refusal(get_result(codes.INVALID_REQUEST), detail)
    sound = await asyncio.to_thread(_keep_sound, rows, lambda report_entry: _is_sound(app, report_entry))
    return Page(rows=sound, pages=None, page_no=None, cursor=None)


def _is_sound(app: App, report_entry: ReportEntry) -> bool:
    """Tells whether an entry is what its payment says; the payment has a signature, the entry has none."""
    if not signing.is_trusted(app, report_entry.payment):
        return False
    is_sound = report_entry.entry in list_entries(report_entry.payment)
    if not is_sound:
        signing.report_tampering("line", report_entry.entry.id)
    return is_sound


def _keep_sound(listed: Iterable[Listed[Row]], is_sound: Callable[[Row], bool]) -> list[Row]:
    """Leaves out tampered rows, which were logged when they were found."""
    return [each.row for each in listed if each.row is not None and is_sound(each.row)]


def _find_place(app: App, channel: Channel, filters: Search | Period, window: Window) -> Place | None:
    return None if window.cursor is None else cursors.read_cursor(window.cursor, channel, filters, app.keyring)


async def _make_page(
    found: list[Listed[Row]],
    window: Window,
    is_sound: Callable[[Row], bool],
    count: Callable[[int], Awaitable[int]],
    render_place: Callable[[Place], str],
) -> Page[Row]:
    """Makes a page; `found` has one row more than the page where another page follows."""
    listed, has_more = found[: window.rows_max], len(found) > window.rows_max
    rows = _keep_sound(listed, is_sound)
    cursor = render_place(listed[-1].place) if has_more else None
    if window.cursor is not None:
        return Page(rows=rows, pages=None, page_no=None, cursor=cursor)
    # The last page shows how many there are; for other pages the store counts.
    is_last = not has_more and (listed or window.page_no == 1)
    counted = len(listed) + (window.page_no - 1) * window.rows_max if is_last else None
    total = await count(LIMITS.query_pages_max * window.rows_max) if counted is None else counted
    return Page(rows=rows, pages=-(-total // window.rows_max), page_no=window.page_no, cursor=cursor)
