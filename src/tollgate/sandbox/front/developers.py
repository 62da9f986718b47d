"""Decides who sees the credentials of the sandbox merchant and may use its buttons: the developer at this machine.

Anybody else signs in at the back office first.
"""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from tollgate.catalog import codes, results
from tollgate.catalog.permissions import Permission
from tollgate.flows import sign_in
from tollgate.office import visits
from tollgate.operations.app import App
from tollgate.payments import users
from tollgate.sandbox import tenant
from tollgate.values import Forbidden, MerchantId, Secret
from tollgate.vault import passwords
from tollgate.web.request import Reply, Request

_LOCAL_HOST = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_PROXY_HEADERS = re.compile(
    rb"forwarded.*|via|cdn-loop|client-ip|(?:cf|do|fastly|fly|ngrok|tailscale|true)-.*|x[-_](?!form-token$).*"
)
"""The names of headers that proxies add. A browser that opens a page by itself sends none with `x-`."""
_USE = "developer"
"""The use of the cookie with which forms of a developer who is not signed in are compared."""
_COOKIE = re.compile("[A-Za-z0-9_-]{43}")
"""A value that this host may have made; any other is replaced."""
_OWN_SITES = (None, "same-origin", "none")


class Developer(msgspec.Struct, frozen=True, kw_only=True):
    """A developer may see the credentials of the sandbox merchant and use its buttons."""

    credentials: tenant.Welcome
    merchant_id: MerchantId
    token: Secret
    """The value of the cookie to which the form token belongs."""
    is_new: bool = False
    """The browser has no such cookie yet."""
    is_signed_in: bool = False
    """The developer is a user of the back office, and must not learn the password of another one."""

    @property
    def form_token(self) -> str:
        return passwords.make_form_token(self.token)


def is_local(request: Request, app: App) -> bool:
    """Tells whether a browser on this machine asks, by a name that means this machine everywhere.

    The page of another site whose name was rebound to this address sends its own name in `Host`. A proxy on this
    machine passes on what strangers ask: it adds its headers, or the host has a public address. The defaults of nginx
    before 1.29.7 are to write the address of this host into `Host` and to add nothing, but to close the connection,
    which no browser asks for. A later one looks like a browser, so a host behind a proxy needs its public address.
    """
    connection = (request.header(b"connection") or "").lower()
    return (
        bool(request.address)
        and ip_address(request.address).is_loopback
        and _LOCAL_HOST.fullmatch(request.header(b"host") or "") is not None
        and _LOCAL_HOST.fullmatch(urlsplit(app.base_url).netloc) is not None
        and not any(map(_PROXY_HEADERS.fullmatch, request.headers))
        and "close" not in map(str.strip, connection.split(","))
    )


async def find_developer(request: Request, app: App) -> Developer | None:
    """Finds the developer behind a request: local, or signed in with the right to manage the merchant's tokens."""
    known = visits.find_token(request, app)
    visitor = None if known is None else await sign_in.find_visitor(app, known)
    is_at_host = is_local(request, app)
    if visitor is None and not is_at_host:
        # Strangers are told so before anything is read or opened for them.
        return None
    owner = await tenant.ensure_tenant(app.database, app.keyring, app.clock.now())
    channel = app.merchants.find_channel(owner.entity_id)
    if channel is None:
        return None
    credentials = await tenant.welcome(app.database, app.keyring, owner, app.base_url)
    if known is not None and visitor is not None and _may_use(visitor, channel.merchant_id):
        office = msgspec.structs.replace(credentials.office, password=None)
        credentials = msgspec.structs.replace(credentials, office=office)
        return Developer(credentials=credentials, merchant_id=channel.merchant_id, token=known, is_signed_in=True)
    if not is_at_host:
        return None
    cookie = visits.find_cookie(request, visits.get_cookie_name(app, _USE)) or ""
    is_new = _COOKIE.fullmatch(cookie) is None
    token = passwords.make_session_token(app.random_bytes) if is_new else Secret(cookie)
    return Developer(credentials=credentials, merchant_id=channel.merchant_id, token=token, is_new=is_new)


def _may_use(visitor: sign_in.Visitor, merchant_id: MerchantId) -> bool:
    is_signed_in = visitor.session.stage is users.Stage.SIGNED_IN
    return is_signed_in and users.may(visitor.grants, Permission.MANAGE_TOKENS, merchant_id)


def check_origin(request: Request, app: App) -> None:
    """Refuses what a page of another origin asked the browser for, reading as well as changing.

    Another port of this machine is another origin of the same site, and may belong to anybody.
    """
    origin, host = request.header(b"origin"), (request.header(b"host") or "").lower()
    site = request.header(b"sec-fetch-site")
    # A page that sends no referrer sends a form with the origin `null`; where it came from, the other header says.
    is_own = origin is None or (origin == "null" and site == "same-origin")
    is_own = is_own or urlsplit((origin or "").lower()).netloc in (host, urlsplit(app.base_url).netloc)
    if not is_own or site not in _OWN_SITES:
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "the request came from another site")


async def get_developer(request: Request, app: App) -> Developer:
    """Returns the developer, or refuses the request; a change needs the form token too."""
    check_origin(request, app)
    developer = await find_developer(request, app)
    if developer is None:
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), f"sign in at {app.base_url}{visits.OFFICE} first")
    if request.method not in ("GET", "HEAD"):
        visits.check_form(request, developer.token)
    return developer


def remember(reply: Reply, developer: Developer, app: App) -> Reply:
    """Gives a new browser the cookie to which its form token belongs."""
    if not developer.is_new:
        return reply
    name, value = visits.get_cookie_name(app, _USE), passwords.show_session_token(developer.token)
    cookie = visits.make_cookie(app, name, value)
    return msgspec.structs.replace(reply, headers=(*reply.headers, cookie))
