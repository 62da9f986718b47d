"""Builds and serves the payment form: the shop's script, the frames that hold card data, and their files.

The bytes must not depend on a host or a checkout: a shop holds the script against its hash.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from tollgate.catalog import brand_rows, brands, codes, results
from tollgate.flows.checkouts import find_promised_script
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.pages import packing, rendering, scripts
from tollgate.web.request import Access, Reply, Request, Routes
from tollgate.widget.languages import ALIASES, LANGUAGES
from tollgate.widget.marks import MARK_STYLE, MARKS

FRAMES_FOLDER = Path(__file__).parent / "frames"

ORIGINS_MAX = 5
_ORIGIN_LENGTH_MAX = 270
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
# Exactly as browsers spell an origin; what a policy has no word for (such as IPv6) cannot be fenced in and is refused.
_ORIGIN = re.compile(rf"https?://{_LABEL}(?:\.{_LABEL})*(?::[1-9][0-9]{{0,4}})?")
_PORT_MAX = 65535
_VERSION_LENGTH = 16
_ACCEPT_LENGTH_MAX = 2048

_pages = rendering.Pages(FRAMES_FOLDER)


ROUTES = Routes()


class Field(msgspec.Struct, frozen=True):
    label: str
    """The label until the shop's script has sent one in the shopper's language."""
    keyboard: str
    completion: str


FIELDS: Mapping[str, Field] = {
    "number": Field("Card number", "numeric", "cc-number"),
    "cvv": Field("CVV", "numeric", "cc-csc"),
    "holder": Field("Card holder", "text", "cc-name"),
    "expiry": Field("Expiry date", "numeric", "cc-exp"),
}


def _describe(brand: brand_rows.Brand) -> dict[str, object]:
    return {
        "prefixes": brand.prefixes,
        "lengths": brand.lengths,
        "cvvLength": brand.cvv_length,
        "luhn": brand.luhn,
        "grouping": brand.grouping,
        "shares": brand.shares,
    }


BRAND_ROWS = "const BRAND_ROWS = {};\n".format(
    json.dumps({brand.code: _describe(brand) for brand in brands.CARD_BRANDS}, separators=(",", ":"))
)
"""The facts by which a number is validated, as the script's first statement."""

FRAME_ASSETS: Mapping[str, bytes] = {
    "frame.css": (FRAMES_FOLDER / "frame.css").read_bytes(),
    "frame.js": scripts.wrap_modules(BRAND_ROWS + scripts.join_modules(FRAMES_FOLDER / "parts" / "start.js")),
}

FRAME_VERSION = hashlib.sha256(b"\0".join(FRAME_ASSETS.values())).hexdigest()[:_VERSION_LENGTH]


def is_origin(text: str) -> bool:
    if len(text) > _ORIGIN_LENGTH_MAX or not _ORIGIN.fullmatch(text):
        return False
    port = text.rpartition(":")[2]
    return not port.isdecimal() or int(port) <= _PORT_MAX


@ROUTES.add("GET", "/v1/paymentWidgets/frame/{field}", "payment_form_frame", Access.OPEN)
async def read_frame(request: Request, _app: App) -> Reply:
    """Shows a field of the payment form that the shop's page cannot read; `origin` names that page."""
    (key,) = request.names
    field = FIELDS.get(key)
    if field is None:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such field")
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


STYLES = Path(__file__).parent / "styles"


class Asset(packing.StaticBody, frozen=True):
    content_type: bytes


_FILES = {path.name: path.read_bytes() for path in sorted(STYLES.glob("*.css"))} | {"marks.css": MARK_STYLE}
ASSETS: Mapping[str, Asset] = {
    name: Asset(body, rendering.CONTENT_TYPES[Path(name).suffix])
    for name, body in sorted({**_FILES, **FRAME_ASSETS, **MARKS}.items())
}


PARTS_FOLDER = Path(__file__).parent / "parts"


class Script(packing.StaticBody, frozen=True):
    integrity: str
    """The hash, as the integrity attribute of a script tag spells it."""
    version: str


def make_script(body: bytes, version: str) -> Script:
    digest = base64.b64encode(hashlib.sha384(body).digest()).decode()
    return Script(body, f"sha384-{digest}", version)


def make_version(contents: Iterable[bytes]) -> str:
    """Returns one version for all files of a release, under which browsers cache them for good."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:_VERSION_LENGTH]


def _render_languages() -> str:
    """Renders all texts in the order of one list of keys, so that keys are not repeated for every language."""
    keys = sorted(LANGUAGES["en"])
    table = {code: [texts[key] for key in keys] for code, texts in sorted(LANGUAGES.items())}
    return f"const TEXT_KEYS = {_render(keys)};\nconst TEXTS = {_render(table)};\nconst ALIASES = {_render(ALIASES)};"


def _render(value: object) -> str:
    """Renders JSON that is JavaScript too, in a fixed order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=isinstance(value, Mapping))


def _join() -> Script:
    modules, languages = scripts.join_modules(PARTS_FOLDER / "start.js"), _render_languages()
    assets = (text for name in sorted(ASSETS) for text in (name.encode(), ASSETS[name].body))
    version = make_version((modules.encode(), languages.encode(), *assets))
    return make_script(scripts.wrap_modules(f'const VERSION = "{version}";\n{languages}\n{modules}'), version)


SCRIPT = _join()


_JAVASCRIPT = rendering.CONTENT_TYPES[".js"]

# The address names the checkout, and a checkout gets the same bytes for as long as it lives.
_CACHED_FOR_A_CHECKOUT = (b"cache-control", b"public, max-age=1800")
_ASKED_AGAIN = (b"cache-control", b"no-cache")

# A mark is a picture; opened as a page of its own it may do nothing.
_NO_PAGE = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")

_VERSIONS = frozenset({SCRIPT.version, FRAME_VERSION})


@ROUTES.add("GET", "/v1/paymentWidgets.js", "payment_form_script", Access.OPEN, is_for_any_origin=True)
async def read_script(request: Request, app: App) -> Reply:
    """Returns the script that shows the payment form in a shop's page; `checkoutId` names the checkout.

    A page from before a release compares the script with the hash that its checkout was promised then.
    """
    promised = await find_promised_script(app, request.find("checkoutId").partition("/")[0])
    return _serve(request, SCRIPT if promised is None else _make_earlier(promised.body, promised.version))


_make_earlier = lru_cache(maxsize=2)(make_script)
"""Few releases are younger than a checkout may be old, and hashing and packing a script takes its time."""


def _serve(request: Request, script: Script) -> Reply:
    tag = f'"{script.integrity}"'.encode()
    headers = ((b"etag", tag), _CACHED_FOR_A_CHECKOUT)
    known = request.headers.get(b"if-none-match", b"").split(b",")
    if tag in [each.strip().removeprefix(b"W/") for each in known]:
        return Reply(304, b"", _JAVASCRIPT, (*headers, packing.PACKED_OR_NOT))
    return packing.reply_packed(request, script, _JAVASCRIPT, headers)


@ROUTES.add("GET", "/v1/paymentWidgets/{version}/{name}", "payment_form_files", Access.OPEN, is_for_any_origin=True)
async def read_widget_asset(request: Request, _app: App) -> Reply:
    """Returns a style, a mark or a script of the payment form."""
    version_asked, name = request.names
    asset = ASSETS.get(name)
    if asset is None:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such file")
    # A form from before a release still gets its files, but must not cache them under the older version.
    caching = rendering.CACHED_FOR_GOOD if version_asked in _VERSIONS else _ASKED_AGAIN
    return packing.reply_packed(request, asset, asset.content_type, (caching, _NO_PAGE))
