"""Reports: look payments up by id, by the merchant's reference, or by dates.

A miss is a 400 here, as clients of reports expect.
"""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract.answers import answer_payment
from tollgate.contract.reports import BOTH_NAMES, ONE_NAME, Question, answer_chain, answer_payment_page, read_question
from tollgate.flows.pay import look_up
from tollgate.flows.report import search, show_chain, show_chains
from tollgate.operations.app import App
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Page
from tollgate.values import Refusal
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with


async def query_payment(request: Request, caller: Caller, app: App) -> Reply:
    question = _read(request, caller, app, "query", LIMITS.query_page)
    payment = await _find(request, caller, app)
    if not question.with_linked:
        return reply_with(answer_payment(payment, app.envelope))
    return reply_with(answer_chain(payment, await show_chain(app, payment), app.envelope))


async def query_record(request: Request, caller: Caller, app: App) -> Reply:
    question = _read(request, caller, app, "query", LIMITS.query_page)
    payment = await _find(request, caller, app)
    chain = await show_chain(app, payment) if question.with_linked else [payment]
    rows = [member for member in chain if question.search.fits(member)]
    page = Page(rows=rows, pages=1, page_no=1, cursor=None)
    return _answer(page, None, BOTH_NAMES, caller, app)


async def query_payments(request: Request, caller: Caller, app: App) -> Reply:
    question = _read(request, caller, app, "query_list", LIMITS.query_page_max)
    return await _search(question, ONE_NAME, caller, app)


async def query_records(request: Request, caller: Caller, app: App) -> Reply:
    question = _read(request, caller, app, "search", LIMITS.query_page)
    return await _search(question, BOTH_NAMES, caller, app)


def _read(request: Request, caller: Caller, app: App, operation: str, rows_max: int) -> Question:
    situation = app.make_situation(operation, get_channel(caller))
    return read_question(request.pairs, situation, rows_max)


async def _find(request: Request, caller: Caller, app: App) -> Payment:
    payment = await look_up(app, caller.merchant_id, request.names[0])
    if payment is None or payment.channel_id != get_channel(caller).id:
        raise Refusal(get_result(codes.PAYMENT_UNKNOWN))
    return payment


async def _search(question: Question, names: Sequence[str], caller: Caller, app: App) -> Reply:
    channel = get_channel(caller)
    page = await search(app, channel, question.search, question.window)
    chains = await show_chains(app, channel, page.rows) if question.with_linked else None
    return _answer(page, chains, names, caller, app)


def _answer(
    page: Page[Payment], chains: dict[str, list[Payment]] | None, names: Sequence[str], caller: Caller, app: App
) -> Reply:
    if not page.rows and page.cursor is None:
        raise Refusal(get_result(codes.PAYMENT_UNKNOWN))
    return reply_with(answer_payment_page(page, chains, names, app.envelope, caller.ndc, app.clock.now()))


ROUTES = (
    RouteRow(
        method="GET",
        path="/v1/query/{id}",
        operation="query",
        summary="Report on one payment; its whole chain beside it on request.",
        access=Access.ENTITY,
        handler=query_payment,
    ),
    RouteRow(
        method="GET",
        path="/v1/query",
        operation="query_list",
        summary="Report on all payments with one of the merchant's references, oldest first.",
        access=Access.ENTITY,
        handler=query_payments,
    ),
    RouteRow(
        method="GET",
        path="/v3/query/{id}",
        operation="query",
        summary="Report on one payment as a list; its whole chain on request.",
        access=Access.ENTITY,
        handler=query_record,
    ),
    RouteRow(
        method="GET",
        path="/v3/query",
        operation="query_list",
        summary="Report on payments by reference or by dates, oldest first, in pages.",
        access=Access.ENTITY,
        handler=query_records,
    ),
)
