"""Reports: pages of payments, their chains and what was earned. Nothing is changed.

The first pages have numbers; a cursor leads on from any of them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract import reports as cursors
from tollgate.operations import archives, signing
from tollgate.operations.app import App
from tollgate.payments import reporting
from tollgate.payments.archiving import get_end
from tollgate.payments.completion import list_entries
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Listed, Page, Period, ReportEntry, Search, Tally, Window
from tollgate.store import archives as stored
from tollgate.store import reports
from tollgate.store.database import Database
from tollgate.values import Fault, Instant, InvalidParameters, Refusal, render_timestamp

Row = TypeVar("Row")
Filters = TypeVar("Filters", Search, Period)


async def search(app: App, channel: Channel, wanted: Search, window: Window) -> Page[Payment]:
    """Searches payments, oldest first, because clients take the last one as the newest attempt."""
    is_sound = partial(signing.is_trusted, app)
    return await _make_page(app, channel, wanted, window, reports.search_payments, reports.count_payments, is_sound)


async def show_chain(app: App, payment: Payment) -> list[Payment]:
    """Returns a payment and all that is linked with it, in the order they came."""
    first_id = payment.first_id
    chains = await reports.list_chains(app.database, payment.merchant_id, [first_id], LIMITS.chain_rows_max)
    chain = chains.get(first_id) or await archives.list_chain(app, payment.merchant_id, payment.id)
    return [member for member in chain if signing.is_trusted(app, member)]


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


async def refuse_archived(app: App, begins_at: Instant, name: str) -> None:
    """Refuses a time of which a part was archived: its sums would lack what is not in the database any more.

    name: the parameter that says where the time begins.
    """
    month = await stored.find_newest_month(app.database)
    if month is not None and begins_at < (end := get_end(month)):
        day = render_timestamp(end)[:10]
        message = f"must not be before {day}: payments of earlier months were archived, and no report has them"
        raise InvalidParameters(get_result(codes.INVALID_REQUEST), [Fault(name, message)])


async def sum_up(app: App, channel: Channel, period: Period) -> list[Tally]:
    return await reports.sum_report_entries(app.database, channel, period)


async def list_completed(app: App, channel: Channel, period: Period, window: Window) -> Page[ReportEntry]:
    list_rows, count_rows = reports.list_report_entries, reports.count_report_entries
    return await _make_page(app, channel, period, window, list_rows, count_rows, partial(_is_sound, app))


async def list_all_completed(app: App, channel: Channel, period: Period) -> Page[ReportEntry]:
    """Lists all entries at once, for clients that know no pages; too long a list is refused, never cut."""
    most = LIMITS.settlement_records_max
    rows = await reports.list_report_entries(app.database, channel, period, None, limit=most + 1, skipped=0)
    if len(rows) > most:
        detail = f"there are more than {most} records; read them by pages, under /reports/v2"
        raise Refusal(get_result(codes.INVALID_REQUEST), detail)
    sound = await asyncio.to_thread(_keep_sound, rows, partial(_is_sound, app))
    return Page(rows=sound, pages=None, page_no=None, cursor=None)


async def sum_up_sellers(
    app: App, channel: Channel, period: reporting.SellerPeriod, window: Window
) -> Page[reporting.SellerSums]:
    """Sums up what each seller of the marketplace got and gave back."""
    list_rows, count_rows = reports.list_seller_sums, reports.count_sellers
    return await _make_page(app, channel, period, window, list_rows, count_rows, lambda _: True)


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


async def _make_page(
    app: App,
    channel: Channel,
    filters: Filters,
    window: Window,
    list_rows: Callable[..., Awaitable[list[Listed[Row]]]],
    count_rows: Callable[[Database, Channel, Filters, int], Awaitable[int]],
    is_sound: Callable[[Row], bool],
) -> Page[Row]:
    """Reads one row more than the page has, which shows whether another page follows."""
    after = None if window.cursor is None else cursors.read_cursor(window.cursor, channel, filters, app.keyring)
    skipped = (window.page_no - 1) * window.rows_max
    found = await list_rows(app.database, channel, filters, after, limit=window.rows_max + 1, skipped=skipped)
    listed, has_more = found[: window.rows_max], len(found) > window.rows_max
    rows = _keep_sound(listed, is_sound)
    cursor = cursors.render_cursor(listed[-1].place, channel, filters, app.keyring) if has_more else None
    if window.cursor is not None:
        return Page(rows=rows, pages=None, page_no=None, cursor=cursor)
    # The last page shows how many there are; for other pages the store counts.
    total = skipped + len(listed)
    if has_more or not (listed or window.page_no == 1):
        total = await count_rows(app.database, channel, filters, LIMITS.query_pages_max * window.rows_max)
    return Page(rows=rows, pages=-(-total // window.rows_max), page_no=window.page_no, cursor=cursor)
