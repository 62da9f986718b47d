"""Renders pages from templates, with their security headers and the static files that they load.

What a page says is written in its template.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tollgate.catalog import codes, results, shape
from tollgate.operations.app import App
from tollgate.values import NotFound, RandomBytes
from tollgate.web.pages.packing import StaticBody, reply_packed
from tollgate.web.pages.scripts import read_browser_file
from tollgate.web.request import Access, Reply, Request, Routes

ANYWHERE = ("*",)
"""The value for pages that any shop may frame, and for frames that may lead to any address."""

_FIXED_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'"
_PERMISSIONS = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
_SPELLABLE_HOST = re.compile(r"[a-z0-9.-]+(?::[0-9]{1,5})?")
# A browser drops controls, and reads a backslash as a slash.
_MISREAD = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


class UnsafeAddress(ValueError):
    """An address that no page may lead to; a bug of the caller, because addresses are checked when they arrive."""


def check_address(url: str) -> str:
    """Returns the address if a page may lead there: a path of our own, the web, or the scheme of an app."""
    is_own = url.startswith("/") and not url.startswith("//")
    scheme, slashes, _rest = url.partition("://")
    if _MISREAD.search(url) or not (is_own or (slashes and not shape.is_unsafe_scheme(scheme))):
        raise UnsafeAddress("a page cannot lead to an address of this scheme")
    return url


def get_source_name(url: str) -> str:
    """Returns an address as a policy spells it: its origin, or its scheme if the policy cannot spell the host."""
    if url in ANYWHERE:
        return url
    parts = urlsplit(check_address(url))
    if not parts.scheme:
        return "'self'"
    if parts.scheme in ("http", "https") and _SPELLABLE_HOST.fullmatch(parts.netloc.lower()):
        return f"{parts.scheme}://{parts.netloc.lower()}"
    return f"{parts.scheme}:"


def make_headers(
    form_targets: Sequence[str] | None,
    framed_by: Sequence[str],
    frames: Sequence[str],
    connects: Sequence[str] = (),
    permits: Sequence[str] = (),
) -> tuple[tuple[bytes, bytes], ...]:
    """Makes the security headers. Without `form_targets` the page has no form; its frames may use `permits`."""
    own_forms = () if form_targets is None else ("'self'", *map(get_source_name, form_targets))
    directives = [
        _FIXED_POLICY,
        _directive("form-action", own_forms),
        _directive("frame-ancestors", tuple(map(get_source_name, framed_by))),
        _directive("frame-src", tuple(map(get_source_name, frames))),
    ]
    if connects:
        directives.append(_directive("connect-src", tuple(map(get_source_name, connects))))
    policy = "; ".join(directives)
    permissions = ", ".join(f"{name}=()" for name in _PERMISSIONS if name not in permits)
    return ((b"content-security-policy", policy.encode()), (b"permissions-policy", permissions.encode()))


def get_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def make_nonce(random_bytes: RandomBytes) -> str:
    """Makes the nonce by which a page's own inline scripts run, and no others."""
    return base64.b64encode(random_bytes(16)).decode()


def make_form_page_headers(
    base_url: str,
    nonce: str,
    *,
    style_sources: Sequence[str] = (),
    pictures: Sequence[str] = (),
    form_targets: Sequence[str] = (),
) -> tuple[tuple[bytes, bytes], ...]:
    """Returns the headers of a page with the payment form, as a merchant's page is advised to send them.

    The gateway is allowed wherever the form needs it, and no inline script runs without the nonce.
    """
    gateway = get_origin(base_url)
    directives = (
        "default-src 'none'",
        _directive("script-src", ("'self'", gateway, f"'nonce-{nonce}'")),
        _directive("style-src", ("'self'", gateway, *style_sources)),
        _directive("img-src", ("'self'", gateway, *pictures)),
        _directive("connect-src", ("'self'", gateway)),
        _directive("frame-src", (gateway,)),
        _directive("form-action", ("'self'", *form_targets)),
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
    # The page hands the permission for payments on to the frames of the form.
    permissions = ", ".join(f"{name}=()" for name in _PERMISSIONS if name != "payment")
    return ((b"content-security-policy", "; ".join(directives).encode()), (b"permissions-policy", permissions.encode()))


def _directive(name: str, sources: Sequence[str]) -> str:
    return " ".join((name, *(dict.fromkeys(sources) or ("'none'",))))


CONTENT_TYPES = {
    ".css": b"text/css;charset=UTF-8",
    ".ico": b"image/x-icon",
    ".js": b"text/javascript;charset=UTF-8",
    ".svg": b"image/svg+xml",
}
CACHED_FOR_GOOD = (b"cache-control", b"public, max-age=31536000, immutable")
_HASH_LENGTH = 16


class Asset(StaticBody, frozen=True, kw_only=True):
    path: str
    content_type: bytes
    hash: str


class StaticFiles:
    """The files of one folder, served at `prefix/{hash}/{name}`."""

    def __init__(self, folder: Path, prefix: str) -> None:
        assets = {}
        for path in sorted(folder.iterdir()):
            body = read_browser_file(path)
            digest = hashlib.sha256(body).hexdigest()[:_HASH_LENGTH]
            assets[path.name] = Asset(
                body=body,
                path=f"{prefix}/{digest}/{path.name}",
                content_type=CONTENT_TYPES[path.suffix],
                hash=digest,
            )
        self.assets: Mapping[str, Asset] = assets

    def get_path(self, name: str) -> str:
        """Returns the path from which a page loads a file."""
        return self.assets[name].path

    async def answer(self, request: Request, _app: App) -> Reply:
        """Returns a file of the folder."""
        hash_asked, name = request.names
        asset = self.assets.get(name)
        if asset is None:
            raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such file")
        # A page from before a release still gets the file, but must not cache it under the hash of the older one.
        headers = (CACHED_FOR_GOOD,) if hash_asked == asset.hash else ()
        return reply_packed(request, asset, asset.content_type, headers)


STATIC_FILES = StaticFiles(Path(__file__).parent / "assets", "/v1/static")
ROUTES = Routes()
ROUTES.add("GET", "/v1/static/{hash}/{name}", "static", Access.OPEN)(STATIC_FILES.answer)
CACHED_FOR_A_DAY = (b"cache-control", b"public, max-age=86400")


@ROUTES.add("GET", "/favicon.ico", "favicon", Access.OPEN)
async def show_favicon(request: Request, _app: App) -> Reply:
    """Returns the icon that browsers ask for at this path without being told."""
    icon = STATIC_FILES.assets["favicon.ico"]
    return reply_packed(request, icon, icon.content_type, (CACHED_FOR_A_DAY,))


TEMPLATES = Path(__file__).parent / "templates"

_HTML = b"text/html;charset=UTF-8"


class Pages:
    """Renders the templates of a folder, which may extend those beside this module; each is compiled once."""

    def __init__(self, folder: Path = TEMPLATES, filters: Mapping[str, Callable[..., object]] = {}) -> None:
        self._environment = Environment(
            loader=FileSystemLoader([folder, TEMPLATES]),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        # An address is checked where it is written into a page: escaping does not make `javascript:` harmless.
        self._environment.filters["address"] = check_address
        self._environment.filters.update(filters)
        self._environment.globals["asset"] = STATIC_FILES.get_path

    def render(
        self,
        name: str,
        /,
        *,
        form_targets: Sequence[str] | None = (),
        framed_by: Sequence[str] = (),
        frames: Sequence[str] = (),
        connects: Sequence[str] = (),
        permits: Sequence[str] = (),
        status: int = 200,
        **values: object,
    ) -> Reply:
        """Addresses in `form_targets`, `framed_by`, `frames` and `connects` are reduced to their origins.

        A page whose `form_targets` are None has no form; `connects` are the addresses its scripts may ask, `permits`
        what of a browser's powers its frames may be given.
        A browser holds `form_targets` against every redirect that follows a form as well. A form that ends at an
        address unknown to its page therefore must be answered by a page that goes on by itself (`leave.html`),
        not by a redirect.
        """
        text = self._environment.get_template(name).render(values)
        return Reply(status, text.encode(), _HTML, make_headers(form_targets, framed_by, frames, connects, permits))

    def end(self, title: str, text: str, *, status: int = 200) -> Reply:
        """Renders the last page that a shopper sees, in any frame or window."""
        return self.render("end.html", framed_by=ANYWHERE, status=status, title=title, text=text, link=None)

    def lose(self) -> Reply:
        """Tells a shopper that the link has ended."""
        return self.end("This link has ended", "Please go back to the shop and look at your order there.", status=404)
