"""The front page of a test host, its forms, and what its script and the documentation ask for.

Who may is decided in `developers`, and what each part shows in the other modules.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec
import orjson

from tollgate.catalog import permissions
from tollgate.flows import sign_in
from tollgate.office import form_keys, visits
from tollgate.operations.app import App
from tollgate.sandbox import controls
from tollgate.sandbox.front import clock, developers, inbox, payments, sending, trying
from tollgate.store.inboxes import InboxMessage
from tollgate.values import SECOND, InvalidParameters, Refusal, make_id
from tollgate.web.pages import rendering, showing
from tollgate.web.request import Access, Reply, Request, Routes, see_other

FRONT = "/"
_PATH = "/sandbox/front"
_NOTICE = "front-notice"
_NOTICE_LENGTH_MAX = 500
_UNCHANGED = 304

_PAGES = rendering.Pages(Path(__file__).parent / "pages", showing.FILTERS)
_FILES = rendering.StaticFiles(Path(__file__).parent / "files", f"{_PATH}/files")

ROUTES = Routes()
ROUTES.add("GET", f"{_PATH}/files/{{hash}}/{{name}}", "front_files", Access.OPEN)(_FILES.answer)


class News(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that change by themselves while the page is open; messages are not opened yet."""

    payments: list[payments.ShownPayment]
    messages: list[InboxMessage]
    has_webhook: bool
    next: list[clock.Next]
    moved_by_s: int
    """The seconds by which the clock is ahead of the wall's."""

    @property
    def tag(self) -> str:
        """Returns a hash by which the script learns whether anything has changed."""
        seen = (
            [(each.payment.id, each.payment.result_code, each.offers, each.key) for each in self.payments],
            [message.id for message in self.messages],
            (self.has_webhook, self.next, self.moved_by_s),
        )
        return sha256(msgspec.json.encode(seen)).hexdigest()


async def _gather(app: App, developer: developers.Developer) -> News:
    return News(
        payments=await payments.list_newest(app, developer.merchant_id),
        messages=await inbox.list_newest(app),
        has_webhook=await inbox.has_webhook(app, developer),
        next=await clock.list_next(app, developer.merchant_id),
        moved_by_s=(app.clock.now() - app.clock.wall()) // SECOND,
    )


async def _render_news(template: str, app: App, developer: developers.Developer, news: News, **values: Any) -> Reply:
    reply = _PAGES.render(
        template,
        connects=("/",),
        developer=developer,
        office=f"{visits.OFFICE}/merchants/{developer.merchant_id}",
        payments=news.payments,
        messages=await inbox.show(app, news.messages),
        has_webhook=news.has_webhook,
        inbox=inbox.get_address(app, developer),
        next=news.next,
        now=app.clock.now(),
        tag=news.tag,
        path=FRONT,
        front=_PATH,
        **values,
    )
    return developers.remember(reply, developer, app)


async def _render_front(
    request: Request,
    app: App,
    developer: developers.Developer,
    fields: dict[str, str],
    answer: trying.Answer | None = None,
) -> Reply:
    cookie = visits.get_cookie_name(app, _NOTICE)
    tone, _, notice = unquote(visits.find_cookie(request, cookie) or "")[:_NOTICE_LENGTH_MAX].partition(" ")
    reply = await _render_news(
        "front.html",
        app,
        developer,
        await _gather(app, developer),
        title="Start",
        is_live=False,
        file=_FILES.get_path,
        notice=notice,
        tone=tone,
        fields=fields,
        answer=answer,
        curl=trying.render_curl(developer.credentials, fields),
        raw=trying.render_raw(developer.credentials, fields),
        key=make_id(app.random_bytes),
        forced=trying.FORCED,
        forced_codes=trying.FORCED_CODES,
        currencies=trying.CURRENCIES,
        types=trying.TYPES,
        cards=[(*card, trying.get_cvv(card[1])) for card in trying.CARDS],
        units=list(controls.UNITS),
    )
    if not notice:
        return reply
    gone = visits.make_cookie(app, cookie, "", lasts_s=0)
    return msgspec.structs.replace(reply, headers=(*reply.headers, gone))


@ROUTES.add("GET", FRONT, "front_page", Access.OPEN)
async def show_front(request: Request, app: App) -> Reply:
    """Shows the front page to the developer; anybody else signs in first."""
    developer = await developers.find_developer(request, app)
    if developer is not None:
        fields = trying.make_fields(developer.credentials, app.clock.now())
        return await _render_front(request, app, developer, fields)
    known = visits.find_token(request, app)
    if known is None or await sign_in.find_visitor(app, known) is None:
        return see_other(f"{visits.SIGN_IN}?next={quote(FRONT)}")
    missing = f"Your role does not allow you to {permissions.Permission.MANAGE_TOKENS} of the sandbox merchant."
    return _refuse(403, "Not allowed", [missing])


def _refuse(status: int, title: str, texts: list[str]) -> Reply:
    return _PAGES.render("refused.html", status=status, title=title, texts=texts, is_live=False, path="")


@ROUTES.add("GET", f"{_PATH}/news", "front_news", Access.OPEN)
async def show_news(request: Request, app: App) -> Reply:
    """Returns the parts of the page that change by themselves, or 304 if they have not."""
    developer = await developers.get_developer(request, app)
    news = await _gather(app, developer)
    if request.header(b"if-none-match") == news.tag:
        return Reply(_UNCHANGED, b"")
    return await _render_news("news.html", app, developer, news)


# ---- forms ----

FormHandler = Callable[[Request, App, developers.Developer], Awaitable[Reply]]


async def _answer_form(handler: FormHandler, request: Request, app: App) -> Reply:
    """Checks who sent a form, and answers refusals with a page."""
    try:
        return await handler(request, app, await developers.get_developer(request, app))
    except InvalidParameters as refusal:
        return _refuse(refusal.status, "Not done", [f"{fault.name} {fault.message}" for fault in refusal.faults])
    except Refusal as refusal:
        return _refuse(refusal.status, "Not done", [refusal.detail or refusal.result.description])


def _add_form(path: str, operation: str) -> Callable[[FormHandler], FormHandler]:
    def declare(handler: FormHandler) -> FormHandler:
        ROUTES.add("POST", f"{_PATH}{path}", operation, Access.OPEN)(partial(_answer_form, handler))
        return handler

    return declare


def _go(app: App, notice: str, *, is_good: bool) -> Reply:
    """Leads back to the page, which shows the notice until the developer leaves it."""
    text = quote(f"{'notice' if is_good else 'fault'} {notice}"[:_NOTICE_LENGTH_MAX])
    return see_other(FRONT, visits.make_cookie(app, visits.get_cookie_name(app, _NOTICE), text, lasts_s=60))


@_add_form("/payments", "front_payment")
async def make_payment(request: Request, app: App, developer: developers.Developer) -> Reply:
    """Makes a test payment, and shows the page with the answer beside the request."""
    fields = trying.read_fields(request, developer.credentials, app.clock.now())
    reply = await sending.send(
        app,
        "POST",
        trying.PATH,
        trying.render_body(fields).encode(),
        developer.credentials.access_token,
        f"front-{form_keys.check_form_key(request.find('key'))}",
    )
    return await _render_front(request, app, developer, fields, trying.read_answer(reply))


@_add_form("/payments/{id}/{word}", "front_follow_up")
async def follow_up(request: Request, app: App, developer: developers.Developer) -> Reply:
    """Captures, reverses or refunds a payment, or charges it back."""
    done, answer = await payments.act(app, request, developer)
    return _go(app, f"{done}: {answer.code} {answer.description}", is_good=answer.status < 400)


@_add_form("/webhook", "front_webhook")
async def add_webhook(_request: Request, app: App, developer: developers.Developer) -> Reply:
    """Adds a webhook that sends to an inbox of this host, and tests it."""
    text, is_good = await inbox.add_webhook(app, developer)
    return _go(app, text, is_good=is_good)


@_add_form("/clock", "front_clock")
async def move_clock(request: Request, app: App, _developer: developers.Developer) -> Reply:
    """Moves the test clock forward."""
    return _go(app, await clock.move(app, request), is_good=True)


# ---- for scripts of the documentation ----


@ROUTES.add("GET", "/sandbox/credentials", "read_credentials", Access.OPEN)
async def read_credentials(request: Request, app: App) -> Reply:
    """Returns the credentials of the sandbox merchant and a form token, for the examples of the documentation."""
    developer = await developers.get_developer(request, app)
    shown = msgspec.to_builtins(developer.credentials) | {"formToken": developer.form_token}
    return developers.remember(Reply(200, orjson.dumps(shown)), developer, app)


@ROUTES.add("POST", "/sandbox/send", "send_request", Access.OPEN)
async def send_request(request: Request, app: App) -> Reply:
    """Sends a request of the documentation with the developer's token, and returns the whole answer as JSON."""
    developer = await developers.get_developer(request, app)
    method, target, body = (request.find(name) for name in ("method", "target", "body"))
    reply = await sending.send(app, method, target, body.encode(), developer.credentials.access_token)
    headers = {name.decode(): value.decode("latin-1") for name, value in reply.headers}
    answer = {"status": reply.status, "headers": headers, "body": reply.body.decode("utf-8", "replace")}
    return Reply(200, orjson.dumps(answer))
