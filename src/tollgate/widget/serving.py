"""Serves the shop's script and the files it loads, to pages of any shop.

Which script a checkout was promised is decided in `flows`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.flows.checkouts import find_promised_script
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web import Access, Reply, Request, RouteRow
from tollgate.widget.assets import ASSETS
from tollgate.widget.frames import FRAME_VERSION
from tollgate.widget.script import SCRIPT, Script, make_script

_JAVASCRIPT = b"text/javascript;charset=UTF-8"

# The address names the checkout, and a checkout gets the same bytes for as long as it lives.
_KEPT_FOR_A_CHECKOUT = (b"cache-control", b"public, max-age=1800")
_KEPT_FOR_GOOD = (b"cache-control", b"public, max-age=31536000, immutable")
_ASKED_AGAIN = (b"cache-control", b"no-cache")

_PACKED_OR_NOT = (b"vary", b"accept-encoding")
_REFUSED = re.compile(rb"q=0(\.0*)?")
# A mark is a picture; opened as a page of its own it may do nothing.
_NO_PAGE = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")

Headers = tuple[tuple[bytes, bytes], ...]

_VERSIONS = frozenset({SCRIPT.version, FRAME_VERSION})


async def read_script(request: Request, app: App) -> Reply:
    """A page from before a release holds the script against the hash that its checkout was promised then."""
    named = next((text for name, text in request.pairs if name == "checkoutId"), "")
    promised = await find_promised_script(app, named.partition("/")[0])
    return _serve(request, SCRIPT if promised is None else _make_earlier(promised.body, promised.version))


_make_earlier = lru_cache(maxsize=2)(make_script)
"""Few releases are younger than a checkout may be old, and packing a script takes its time."""


def _serve(request: Request, script: Script) -> Reply:
    tag = f'"{script.integrity}"'.encode()
    headers = ((b"etag", tag), _KEPT_FOR_A_CHECKOUT)
    if tag in _split(request.headers.get(b"if-none-match", b"")):
        return Reply(304, b"", _JAVASCRIPT, (*headers, _PACKED_OR_NOT))
    return _pack(request, script.body, script.gzipped, _JAVASCRIPT, headers)


async def read_widget_asset(request: Request, _app: App) -> Reply:
    version_asked, name = request.names
    asset = ASSETS.get(name)
    if asset is None:
        raise NotFound(get_result(codes.INVALID_PARAMETERS), "no such file")
    # A form from before a release still gets its files, but nobody keeps them under the name of the older ones.
    kept = _KEPT_FOR_GOOD if version_asked in _VERSIONS else _ASKED_AGAIN
    return _pack(request, asset.body, asset.gzipped, asset.content_type, (kept, _NO_PAGE))


def _pack(request: Request, body: bytes, gzipped: bytes, content_type: bytes, headers: Headers) -> Reply:
    headers = (*headers, _PACKED_OR_NOT)
    if _takes_gzip(request.headers.get(b"accept-encoding", b"")):
        return Reply(200, gzipped, content_type, (*headers, (b"content-encoding", b"gzip")))
    return Reply(200, body, content_type, headers)


def _takes_gzip(accepted: bytes) -> bool:
    wishes = (coding.replace(b" ", b"").partition(b";") for coding in accepted.lower().split(b","))
    return any(name == b"gzip" and not _REFUSED.fullmatch(weight) for name, _, weight in wishes)


def _split(header: bytes) -> list[bytes]:
    return [part.strip().removeprefix(b"W/") for part in header.split(b",")]


ROUTES = (
    RouteRow(
        method="GET",
        path="/v1/paymentWidgets.js",
        operation="payment_form_script",
        summary="The script that shows the payment form in a shop's page; `checkoutId` names the checkout.",
        access=Access.OPEN,
        handler=read_script,
        is_for_any_origin=True,
    ),
    RouteRow(
        method="GET",
        path="/v1/paymentWidgets/{version}/{name}",
        operation="payment_form_files",
        summary="A style, a mark or a script of the payment form.",
        access=Access.OPEN,
        handler=read_widget_asset,
        is_for_any_origin=True,
    ),
)
