"""Endpoints of reports: payments by id, reference or date, and completed transactions by day.

Clients of reports expect status 400 where nothing is found.
"""

from collections.abc import Sequence
from functools import wraps
from typing import TypeVar

from msgspec.structs import replace

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.contract import answers, reports
from tollgate.flows import pay, report
from tollgate.operations import reading
from tollgate.operations.app import App
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Page, Period, ReportEntry, Search, SellerPeriod, Window
from tollgate.store.replicas import Source
from tollgate.values import Refusal
from tollgate.web.request import Caller, Handler, Reply, Request, Routes, get_channel, reply_with

ROUTES = Routes()

SOURCE = b"tollgate-read-from"
"""The header that says what a report was read from, if a replica is configured."""


def _may_be_behind(handler: Handler) -> Handler:
    """Lets a report be read from the replica. Payments never are: a shop decides by them whether to pay again."""

    @wraps(handler)
    async def answer(request: Request, caller: Caller, app: App) -> Reply:
        async def run(reader: App, source: Source | None) -> Reply:
            reply = await handler(request, caller, reader)
            if source is None:
                return reply
            told = f"primary; why={source.why}" if source.lag_s is None else f"replica; lag={source.lag_s:.1f}"
            return replace(reply, headers=(*reply.headers, (SOURCE, told.encode())))

        return await reading.read(app, run)

    return answer


@ROUTES.add("GET", "/v1/query/{id}", "query")
async def query_payment(request: Request, caller: Caller, app: App) -> Reply:
    """Reports on one payment; its whole chain beside it on request."""
    question = _read_question(request, caller, app, "query", LIMITS.query_page)
    payment = await _find(request, caller, app)
    if not question.with_linked:
        return reply_with(answers.answer_payment(payment, app.envelope))
    return reply_with(reports.answer_chain(payment, await report.show_chain(app, payment), app.envelope))


@ROUTES.add("GET", "/v3/query/{id}", "query")
async def query_record(request: Request, caller: Caller, app: App) -> Reply:
    """Reports on one payment as a list; its whole chain on request."""
    question = _read_question(request, caller, app, "query", LIMITS.query_page)
    payment = await _find(request, caller, app)
    chain = await report.show_chain(app, payment) if question.with_linked else [payment]
    rows = [member for member in chain if question.search.fits(member)]
    page = Page(rows=rows, pages=1, page_no=1, cursor=None)
    return _answer_payments(page, None, reports.BOTH_NAMES, caller, app)


@ROUTES.add("GET", "/v1/query", "query_list")
async def query_payments(request: Request, caller: Caller, app: App) -> Reply:
    """Reports on all payments with one of the merchant's references, oldest first."""
    question = _read_question(request, caller, app, "query_list", LIMITS.query_page_max)
    return await _search(question, reports.ONE_NAME, caller, app)


@ROUTES.add("GET", "/v3/query", "query_list")
async def query_records(request: Request, caller: Caller, app: App) -> Reply:
    """Reports on payments by reference or by dates, oldest first, in pages."""
    question = _read_question(request, caller, app, "search", LIMITS.query_page)
    return await _search(question, reports.BOTH_NAMES, caller, app)


def _read_question(request: Request, caller: Caller, app: App, operation: str, rows_max: int) -> reports.Question:
    situation = app.make_situation(operation, get_channel(caller))
    question = reports.read_question(request.pairs, situation, rows_max)
    return replace(question, search=_widen(question.search, caller, app))


_Filters = TypeVar("_Filters", Search, Period, SellerPeriod)


def _widen(filters: _Filters, caller: Caller, app: App) -> _Filters:
    """Extends the filters to all channels that the token reaches, where the merchant was named and not a channel."""
    if not caller.is_dispatched:
        return filters
    channels = app.merchants.list_channels(caller.merchant_id)
    taking = [each.id for each in channels if each.is_lenient or not caller.is_by_login]
    reached = tuple(each for each in taking if not caller.channel_ids or each in caller.channel_ids)
    return replace(filters, channel_ids=reached)


async def _find(request: Request, caller: Caller, app: App) -> Payment:
    payment = await pay.look_up(app, caller.merchant_id, request.names[0])
    if payment is None or payment.channel_id != get_channel(caller).id:
        raise Refusal(results.get_result(codes.PAYMENT_UNKNOWN))
    return payment


async def _search(question: reports.Question, names: Sequence[str], caller: Caller, app: App) -> Reply:
    channel = get_channel(caller)
    if question.search.begins_at:
        await report.refuse_archived(app, question.search.begins_at, reports.BEGIN)
    page = await report.search(app, channel, question.search, question.window)
    chains = await report.show_chains(app, channel, page.rows) if question.with_linked else None
    return _answer_payments(page, chains, names, caller, app)


def _answer_payments(
    page: Page[Payment], chains: dict[str, list[Payment]] | None, names: Sequence[str], caller: Caller, app: App
) -> Reply:
    if not page.rows and page.cursor is None:
        raise Refusal(results.get_result(codes.PAYMENT_UNKNOWN))
    return reply_with(reports.answer_payment_page(page, chains, names, app.envelope, caller.ndc, app.clock.now()))


@ROUTES.add("GET", "/reports/v1/reconciliations/aggregations", "reconciliations")
@_may_be_behind
async def read_aggregations(request: Request, caller: Caller, app: App) -> Reply:
    """Sums up what was earned, for every day and currency."""
    channel = get_channel(caller)
    period = reports.read_days(request.pairs, app.make_situation("reconciliations", channel))
    await report.refuse_archived(app, period.begins_at, reports.BEGIN)
    tallies = await report.sum_up(app, channel, _widen(period, caller, app))
    return reply_with(reports.answer_aggregations(tallies, app.envelope, caller.ndc, app.clock.now()))


@ROUTES.add("GET", "/reports/v1/reconciliations/aggregations/{id}", "reconciliations")
@_may_be_behind
async def read_reconciliations(request: Request, caller: Caller, app: App) -> Reply:
    """Lists all transactions of one of those sums at once."""
    period, _ = await _read_period(request, caller, app)
    return _answer_entries(await report.list_all_completed(app, get_channel(caller), period), caller, app)


@ROUTES.add("GET", "/reports/v2/reconciliations/aggregations/{id}", "reconciliations")
@_may_be_behind
async def read_reconciliation_page(request: Request, caller: Caller, app: App) -> Reply:
    """Lists the transactions of one of those sums, in pages."""
    period, window = await _read_period(request, caller, app)
    return _answer_entries(await report.list_completed(app, get_channel(caller), period, window), caller, app)


@ROUTES.add("GET", "/reports/v1/sellers", "sellers")
@_may_be_behind
async def read_sellers(request: Request, caller: Caller, app: App) -> Reply:
    """Sums up what each seller of the marketplace got and gave back, in pages."""
    channel = get_channel(caller)
    situation = app.make_situation("sellers", channel)
    period, window = reports.read_seller_days(request.pairs, situation, LIMITS.settlement_page)
    await report.refuse_archived(app, period.begins_at, reports.BEGIN)
    page = await report.sum_up_sellers(app, channel, _widen(period, caller, app), window)
    return reply_with(reports.answer_seller_sums(page, app.envelope, caller.ndc, app.clock.now()))


async def _read_period(request: Request, caller: Caller, app: App) -> tuple[Period, Window]:
    situation = app.make_situation("query", get_channel(caller))
    wanted = reports.read_aggregation(request.names[0], request.pairs, situation, LIMITS.settlement_page)
    if wanted is None:
        raise Refusal(results.get_result(codes.PAYMENT_UNKNOWN))
    period, window = wanted
    await report.refuse_archived(app, period.begins_at, "id")
    return _widen(period, caller, app), window


def _answer_entries(page: Page[ReportEntry], caller: Caller, app: App) -> Reply:
    return reply_with(reports.answer_report_entries(page, app.envelope, caller.ndc, app.clock.now()))
