"""Completion reports: what was earned on each day, and by which transactions.

A day without any is an empty list; only an id that names no day is a miss.
"""

from __future__ import annotations

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract.reports import answer_aggregations, answer_report_entries, read_aggregation, read_days
from tollgate.flows.report import list_all_completed, list_completed, sum_up
from tollgate.operations.app import App
from tollgate.payments.reporting import Page, Period, ReportEntry, Window
from tollgate.values import Refusal
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with


async def read_aggregations(request: Request, caller: Caller, app: App) -> Reply:
    channel = get_channel(caller)
    period = read_days(request.pairs, app.make_situation("settlement", channel))
    tallies = await sum_up(app, channel, period)
    return reply_with(answer_aggregations(tallies, app.envelope, caller.ndc, app.clock.now()))


async def read_reconciliations(request: Request, caller: Caller, app: App) -> Reply:
    period, _ = _read(request, caller, app)
    return _answer(await list_all_completed(app, get_channel(caller), period), caller, app)


async def read_reconciliation_page(request: Request, caller: Caller, app: App) -> Reply:
    period, window = _read(request, caller, app)
    return _answer(await list_completed(app, get_channel(caller), period, window), caller, app)


def _read(request: Request, caller: Caller, app: App) -> tuple[Period, Window]:
    situation = app.make_situation("query", get_channel(caller))
    wanted = read_aggregation(request.names[0], request.pairs, situation, LIMITS.settlement_page)
    if wanted is None:
        raise Refusal(get_result(codes.PAYMENT_UNKNOWN))
    return wanted


def _answer(page: Page[ReportEntry], caller: Caller, app: App) -> Reply:
    return reply_with(answer_report_entries(page, app.envelope, caller.ndc, app.clock.now()))


ROUTES = (
    RouteRow(
        method="GET",
        path="/reports/v1/reconciliations/aggregations",
        operation="reconciliations",
        summary="What was earned, summed up for every day and currency.",
        access=Access.ENTITY,
        handler=read_aggregations,
    ),
    RouteRow(
        method="GET",
        path="/reports/v1/reconciliations/aggregations/{id}",
        operation="reconciliations",
        summary="All transactions of one of those sums at once.",
        access=Access.ENTITY,
        handler=read_reconciliations,
    ),
    RouteRow(
        method="GET",
        path="/reports/v2/reconciliations/aggregations/{id}",
        operation="reconciliations",
        summary="The transactions of one of those sums, in pages.",
        access=Access.ENTITY,
        handler=read_reconciliation_page,
    ),
)
