"""Visits to the back office: the session of a request, the permission that its page needs, and how pages are rendered.

What a page shows is decided by its own module.
"""

from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, date, datetime, time
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import msgspec
from msgspec.structs import replace

from tollgate.catalog import audit_actions, codes, permissions, results
from tollgate.flows import sign_in
from tollgate.flows.sign_in import Origin, Visitor
from tollgate.office import navigation
from tollgate.operations import audit_log, reading
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments import merchants, users
from tollgate.store.replicas import Source
from tollgate.values import Fault, Forbidden, Instant, InvalidParameters, NotFound, Refusal, Secret, to_instant
from tollgate.vault import passwords
from tollgate.web.pages import showing
from tollgate.web.pages.rendering import Pages, StaticFiles
from tollgate.web.request import Access, LargeBody, Reply, Request, RouteRow, see_other

OFFICE = "/office"
OF_MERCHANT = f"{OFFICE}/merchants/{{merchant}}"
"""The beginning of the paths of pages that belong to a merchant."""
SIGN_IN = f"{OFFICE}/sign-in"
SET_UP = f"{OFFICE}/set-up"
SECOND_FACTOR = f"{OFFICE}/second-factor"
CONFIRM = f"{OFFICE}/confirm"
_FORM_TOKEN = "form_token"
_FORM_TOKEN_HEADER = b"x-form-token"
_NOTICE, _WROTE = "notice", "wrote"
_NOTICE_LENGTH_MAX = 500

PAGES = Pages(Path(__file__).parent / "pages", showing.FILTERS)
FILES = StaticFiles(Path(__file__).parent / "files", f"{OFFICE}/files")


def get_origin(request: Request) -> Origin:
    return Origin(request.address, request.header(b"user-agent") or "")


def is_secure(app: App) -> bool:
    return app.base_url.startswith("https:")


def get_cookie_name(app: App, use: str = "") -> str:
    """A `__Host-` cookie cannot be set by another host or over plain HTTP; a plain test host needs another name.

    use: the session's cookie without it; others must not be set by another host either.
    """
    name = f"tollgate-office-{use}".removesuffix("-")
    return f"__Host-{name}" if is_secure(app) else name.replace("-", "_")


def make_cookie(app: App, name: str, value: str, *, lasts_s: int | None = None) -> tuple[bytes, bytes]:
    parts = [f"{name}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    parts += ["Secure"] if is_secure(app) else []
    parts += [] if lasts_s is None else [f"Max-Age={lasts_s}"]
    return b"set-cookie", "; ".join(parts).encode()


def find_cookie(request: Request, name: str) -> str | None:
    """Finds a cookie; a name that is sent twice is not trusted."""
    return read_cookie(request.header(b"cookie") or "", name)


def read_cookie(header: str, name: str) -> str | None:
    sent = [part.strip().partition("=") for part in header.split(";")]
    values = [value for key, _, value in sent if key == name]
    return values[0] if len(values) == 1 else None


def find_token(request: Request, app: App) -> Secret | None:
    """Finds the token of the session that the browser sent; it may be worth nothing."""
    value = find_cookie(request, get_cookie_name(app))
    return Secret(value) if value else None


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A request of a user who is signed in, with the merchant whose page it is."""

    request: Request
    app: App
    visitor: Visitor
    form_token: str
    merchant: merchants.Merchant | None = None
    source: Source | None = None
    """Says what the page is read from, if that may be a replica."""

    @property
    def user(self) -> users.User:
        return self.visitor.user

    @property
    def session(self) -> users.Session:
        return self.visitor.session

    @property
    def grants(self) -> tuple[users.Grant, ...]:
        return self.visitor.grants

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names in the path, without the merchant's."""
        return self.request.names[1:] if self.merchant else self.request.names

    @property
    def base(self) -> str:
        """Returns the beginning of the paths of this merchant's pages."""
        return f"{OFFICE}/merchants/{self.get_merchant().id}"

    def get_merchant(self) -> merchants.Merchant:
        if self.merchant is None:
            raise LookupError("the page belongs to no merchant")
        return self.merchant

    def may(self, permission: permissions.Permission, channel_id: str | None = None) -> bool:
        """Tells whether the user has a permission for this merchant, or for one of its channels."""
        return users.may(self.grants, permission, self.merchant.id if self.merchant else None, channel_id)

    def check(self, permission: permissions.Permission, channel_id: str | None = None) -> None:
        """Refuses a user without this permission; handlers call it with the channel of what they found."""
        if not self.may(permission, channel_id):
            raise Forbidden(results.get_result(codes.UNAUTHENTICATED), f"your role does not allow you to {permission}")

    def list_channels(
        self, permission: permissions.Permission = permissions.Permission.VIEW_PAYMENTS
    ) -> list[merchants.Channel]:
        """Lists the channels of the merchant for which the user has a permission."""
        channels = self.app.merchants.list_channels(self.get_merchant().id)
        return [channel for channel in channels if self.may(permission, channel.id)]

    def find(self, name: str) -> str:
        """Finds a field of the form or of the query; empty if it was not sent."""
        return self.request.find(name).strip()

    async def record(self, action: audit_actions.AuditAction, subject: str = "", /, **details: str) -> None:
        """Writes a line of the audit log; call it before the action that it records."""
        # The log is a chain, so its newest entry is read from the primary, whatever the page is read from.
        await audit_log.record(
            self.app.database if self.app.replica is None else self.app.replica.primary,
            self.app.keyring,
            self.app.clock,
            Actor(self.user.id, self.user.name, self.request.address),
            action,
            subject=subject,
            merchant_id=self.merchant.id if self.merchant else "",
            details=details,
        )

    def render(self, template: str, /, *, title: str, status: int = 200, **values: Any) -> Reply:
        """Renders a page with the navigation around it. Every template of a signed-in user extends `office.html`."""
        notice = unquote(find_cookie(self.request, get_cookie_name(self.app, _NOTICE)) or "")[:_NOTICE_LENGTH_MAX]
        reply = PAGES.render(
            template,
            status=status,
            connects=("/",),
            title=title,
            visit=self,
            app=self.app,
            is_live=self.app.is_live,
            notice=notice,
            path=self.request.path,
            now=self.app.clock.now(),
            sections=navigation.list_sections(self.merchant, self.grants, is_live=self.app.is_live),
            merchants=list_merchants(self.app, self.grants),
            host_sections=navigation.HOST_SECTIONS
            if users.may(self.grants, permissions.Permission.MANAGE_HOST)
            else (),
            file=FILES.get_path,
            **values,
        )
        if not notice:
            return reply
        gone = make_cookie(self.app, get_cookie_name(self.app, _NOTICE), "", lasts_s=0)
        return replace(reply, headers=(*reply.headers, gone))

    def go(self, path: str, notice: str = "") -> Reply:
        """Leads to another page of the back office, which shows the notice until the user leaves it."""
        if not notice:
            return see_other(path)
        text = quote(notice[:_NOTICE_LENGTH_MAX])
        return see_other(path, make_cookie(self.app, get_cookie_name(self.app, _NOTICE), text, lasts_s=60))


def list_merchants(app: App, grants: tuple[users.Grant, ...]) -> list[merchants.Merchant]:
    """Lists the merchants whose pages the user may see."""
    view = permissions.Permission.VIEW_PAYMENTS
    return [each for each in app.merchants.list_merchants() if users.may(grants, view, each.id)]


def refuse_field(name: str, message: str) -> InvalidParameters:
    """Makes the refusal of one field of a form; raise it."""
    return InvalidParameters(results.get_result(codes.INVALID_REQUEST), [Fault(name, message)])


def read_day(name: str, text: str) -> Instant | None:
    """Reads a day such as 2026-05-01 as its first instant in UTC; None for an empty text."""
    if not text:
        return None
    try:
        return to_instant(datetime.combine(date.fromisoformat(text), time(), UTC))
    except ValueError:
        raise refuse_field(name, "must be a day such as 2026-05-01") from None


def make_not_found(what: str) -> NotFound:
    return NotFound(results.get_result(codes.INVALID_REQUEST), f"there is no such {what}")


PageHandler = Callable[[Visit], Coroutine[Any, Any, Reply]]
OpenPageHandler = Callable[[Request, App], Awaitable[Reply]]
_H = TypeVar("_H", bound=PageHandler)
_O = TypeVar("_O", bound=OpenPageHandler)


class OfficeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A page or a form of the back office, and who may use it."""

    method: str
    path: str
    permission: permissions.Permission | None
    """It is None for what every signed-in user may do."""
    stages: frozenset[users.Stage] = frozenset({users.Stage.SIGNED_IN})
    needs_confirmation: bool = False
    """The user must have given the second factor within the last minutes."""
    may_be_behind: bool = False
    """It is a list or a sum, which a replica may show, and it changes nothing."""


class OfficeRoutes(list[RouteRow]):
    """The rows of a module's pages, each declared as a decorator of its handler."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[OfficeRow] = []

    def add(
        self,
        method: str,
        path: str,
        permission: permissions.Permission | None,
        *,
        stages: frozenset[users.Stage] = frozenset({users.Stage.SIGNED_IN}),
        needs_confirmation: bool = False,
        takes_bytes: bool = False,
        operation: str = "",
        large_body: LargeBody | None = None,
        may_be_behind: bool = False,
    ) -> Callable[[_H], _H]:
        """permission: for the merchant of the path; of the platform role where the path names none."""

        def declare(handler: _H) -> _H:
            row = OfficeRow(
                method=method,
                path=path,
                permission=permission,
                stages=stages,
                needs_confirmation=needs_confirmation,
                may_be_behind=may_be_behind,
            )
            self.pages.append(row)
            self.append(_make_route(row, partial(answer_visit, row, handler), takes_bytes, operation, large_body))
            return handler

        return declare

    def add_open(self, method: str, path: str, operation: str) -> Callable[[_O], _O]:
        """Declares a page for visitors who are not signed in."""

        def declare(handler: _O) -> _O:
            row = OfficeRow(method=method, path=path, permission=None, stages=frozenset())
            self.append(_make_route(row, partial(_answer_open, handler), False, operation))
            return handler

        return declare


def _make_route(
    row: OfficeRow, handler: OpenPageHandler, takes_bytes: bool, operation: str, large_body: LargeBody | None = None
) -> RouteRow:
    return RouteRow(
        method=row.method,
        path=row.path,
        operation=operation or "office",
        access=Access.OPEN,
        handler=handler,
        takes_bytes=takes_bytes,
        large_body=large_body,
    )


async def _answer_open(handler: OpenPageHandler, request: Request, app: App) -> Reply:
    try:
        check_fetch_site(request)
        return await handler(request, app)
    except Refusal as refusal:
        return _render_refusal(refusal, app)


async def answer_visit(row: OfficeRow, handler: PageHandler, request: Request, app: App) -> Reply:
    """Recognizes the user, checks the form token and the permission, and runs the page's handler."""
    token = find_token(request, app)
    visitor = None if token is None else await sign_in.find_visitor(app, token)
    if token is None or visitor is None:
        return see_other(SIGN_IN + (f"?next={quote(request.path)}" if row.method == "GET" else ""))
    if visitor.session.stage not in row.stages:
        return see_other(_STAGE_PAGES[visitor.session.stage])
    visit = Visit(request=request, app=app, visitor=visitor, form_token=passwords.make_form_token(token))
    try:
        if not all(map(str.isprintable, request.names)):
            # No id has such characters, and not every database takes them.
            raise make_not_found("page")
        if row.method != "GET":
            check_fetch_site(request)
            check_form(request, token)
        if row.path.startswith(OF_MERCHANT):
            visit = replace(visit, merchant=_get_merchant(visit, request.names[0]))
        if row.permission is not None:
            visit.check(row.permission)
        if row.needs_confirmation and not sign_in.is_confirmed(app, visitor.session):
            return ask_to_confirm(_choose_return(visit, row))
        if row.may_be_behind and find_cookie(request, get_cookie_name(app, _WROTE)) is None:
            return await reading.read(app, lambda reader, source: handler(replace(visit, app=reader, source=source)))
        return _note_writing(row, visit, await handler(visit))
    except Refusal as refusal:
        return _note_writing(row, visit, _render_refusal(refusal, app, visit))


def _note_writing(row: OfficeRow, visit: Visit, reply: Reply) -> Reply:
    """Lets a browser that has changed something read from the primary, until every replica in use has the change."""
    replica = visit.app.replica
    if row.method == "GET" or replica is None:
        return reply
    name = get_cookie_name(visit.app, _WROTE)
    wrote = make_cookie(visit.app, name, "1", lasts_s=replica.writes_seen_after_s)
    return replace(reply, headers=(*reply.headers, wrote))


_STAGE_PAGES = {users.Stage.SECOND_FACTOR: SECOND_FACTOR, users.Stage.SETTING_UP: SET_UP, users.Stage.SIGNED_IN: OFFICE}


def ask_to_confirm(back: str) -> Reply:
    """Leads to the page where a user gives a factor once more, and from there back."""
    return see_other(f"{CONFIRM}?next={quote(back)}")


def _choose_return(visit: Visit, row: OfficeRow) -> str:
    """Returns where a user goes after the confirmation: to the page, or to the section of a form that is lost."""
    if row.method == "GET":
        return visit.request.path
    words = 5 if visit.merchant else 3
    return "/".join(visit.request.path.split("/")[:words])


def _get_merchant(visit: Visit, merchant_id: str) -> merchants.Merchant:
    """A merchant that the user has no role for is as unknown as one that does not exist."""
    merchant = visit.app.merchants.find_merchant(merchant_id)
    if merchant is None or not any(grant.reaches(merchant.id) for grant in visit.grants):
        raise make_not_found("merchant")
    return merchant


def check_form(request: Request, token: Secret | None) -> None:
    """Refuses a form that was not sent from a page of this session; without a token, every form."""
    given = request.find(_FORM_TOKEN) or request.header(_FORM_TOKEN_HEADER) or ""
    if token is None or not passwords.is_form_token(given, token):
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "the form has expired: go back and try again")


def check_fetch_site(request: Request) -> None:
    """Refuses a change that a page of another site asked the browser for."""
    if request.method not in ("GET", "HEAD") and request.header(b"sec-fetch-site") not in (None, "same-origin", "none"):
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "the request came from another site")


def _render_refusal(refusal: Refusal, app: App, visit: Visit | None = None) -> Reply:
    faults = refusal.faults if isinstance(refusal, InvalidParameters) else ()
    text = "" if faults else refusal.detail or refusal.result.description
    values, title = {"text": text, "faults": faults}, _TITLES.get(refusal.status, "Not done")
    if visit is not None and visit.session.stage is users.Stage.SIGNED_IN:
        return visit.render("refused.html", title=title, status=refusal.status, **values)
    return render_open(app, "refused_open.html", title=title, status=refusal.status, **values)


_TITLES = {403: "Not allowed", 404: "Not found", 400: "Not done: please check what you entered"}


def render_open(app: App, template: str, /, *, title: str, status: int = 200, **values: Any) -> Reply:
    """Renders a page without navigation, as sign-in has it. Its template extends `open.html`."""
    return PAGES.render(template, status=status, connects=("/",), title=title, app=app, file=FILES.get_path, **values)
