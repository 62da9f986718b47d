"""The service's frames in a shop's page, each with one field that the shop must not read: page, script and style.

What a frame does is written in its script; the shop's side of it, in the shop's script.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import Brand
from tollgate.catalog.brands import CARD_BRANDS
from tollgate.catalog.results import get_result
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web import Access, Pages, Reply, Request, RouteRow, join_modules, wrap_modules

FOLDER = Path(__file__).parent / "frames"

ORIGINS_MAX = 5
_ORIGIN_LENGTH_MAX = 270
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
# Exactly as browsers spell an origin; what a policy has no word for (such as IPv6) cannot be fenced in and is refused.
_ORIGIN = re.compile(rf"https?://{_LABEL}(?:\.{_LABEL})*(?::[1-9][0-9]{{0,4}})?")
_PORT_MAX = 65535
_VERSION_LENGTH = 16
_ACCEPT_LENGTH_MAX = 2048

_pages = Pages(FOLDER)


class Field(msgspec.Struct, frozen=True):
    label: str
    """Until the shop's script has told a text in the shopper's language."""
    keyboard: str
    completion: str


FIELDS: Mapping[str, Field] = {
    "number": Field("Card number", "numeric", "cc-number"),
    "cvv": Field("CVV", "numeric", "cc-csc"),
    "holder": Field("Card holder", "text", "cc-name"),
    "expiry": Field("Expiry date", "numeric", "cc-exp"),
}


def _describe(brand: Brand) -> dict[str, object]:
    return {
        "prefixes": brand.prefixes,
        "lengths": brand.lengths,
        "cvvLength": brand.cvv_length,
        "luhn": brand.luhn,
        "grouping": brand.grouping,
        "shares": brand.shares,
    }


BRAND_ROWS = "const BRAND_ROWS = {};\n".format(
    json.dumps({brand.code: _describe(brand) for brand in CARD_BRANDS}, separators=(",", ":"))
)
"""The facts by which a number is validated, as the script's first statement."""

FRAME_ASSETS: Mapping[str, bytes] = {
    "frame.css": (FOLDER / "frame.css").read_bytes(),
    "frame.js": wrap_modules(BRAND_ROWS + join_modules(FOLDER / "parts" / "start.js")),
}

FRAME_VERSION = hashlib.sha256(b"\0".join(FRAME_ASSETS.values())).hexdigest()[:_VERSION_LENGTH]


def is_origin(text: str) -> bool:
    if len(text) > _ORIGIN_LENGTH_MAX or not _ORIGIN.fullmatch(text):
        return False
    port = text.rpartition(":")[2]
    return not port.isdecimal() or int(port) <= _PORT_MAX


async def read_frame(request: Request, _app: App) -> Reply:
    (key,) = request.names
    field = FIELDS.get(key)
    if field is None:
        raise NotFound(get_result(codes.INVALID_PARAMETERS), "no such field")
    origins = [value for name, value in request.pairs if name == "origin"]
    if not 1 <= len(origins) <= ORIGINS_MAX or not all(map(is_origin, origins)):
        title, text = "No page to show this in", "The address does not name the shop's page as its origin."
        return _pages.render("end.html", status=400, title=title, text=text, link=None)
    return _pages.render(
        "frame.html",
        form_targets=None,
        framed_by=origins,
        connects=("/",),
        key=key,
        field=field,
        folder=f"/v1/paymentWidgets/{FRAME_VERSION}",
        accept="".join(filter(str.isprintable, request.header(b"accept") or ""))[:_ACCEPT_LENGTH_MAX],
    )


ROUTES = (
    RouteRow(
        method="GET",
        path="/v1/paymentWidgets/frame/{field}",
        operation="payment_form_frame",
        summary="A field of the payment form that the shop's page cannot read; `origin` names that page.",
        access=Access.OPEN,
        handler=read_frame,
    ),
)
