"""Renders and keeps pages of the documentation. What a page shows is decided by its own module.

Pages contain nothing of the reader: a script fills in the credentials that a test host gives to its developer.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, ParamSpec

import msgspec
from markupsafe import Markup

from tollgate.catalog import codes, results
from tollgate.catalog.endpoints import list_endpoints
from tollgate.docs import search_name, texts
from tollgate.docs.headings import Heading
from tollgate.values import NotFound
from tollgate.web.pages import packing, rendering, showing
from tollgate.web.request import Reply, Request


def _show_inline(text: str) -> Markup:
    # Markdown escapes what is not its own.
    from tollgate.docs import markdown

    return Markup(markdown.render_inline(text, partial(texts.find_page, "")))


PAGES = rendering.Pages(Path(__file__).parent / "pages", {**showing.FILTERS, "inline": _show_inline})
FILES = rendering.StaticFiles(Path(__file__).parent / "files", f"{texts.DOCS}/files")
API = f"{texts.DOCS}/api"
_NOT_MODIFIED = 304
_P = ParamSpec("_P")


class Page(packing.PackedBody, frozen=True):
    headers: packing.Headers
    content_type: bytes
    status: int


class Link(msgspec.Struct, frozen=True):
    """A place to which a page leads."""

    path: str
    title: str
    note: str = ""


def render_page(
    template: str,
    /,
    *,
    title: str,
    path: str,
    is_live: bool,
    headings: Sequence[Heading] = (),
    before: Link | None = None,
    after: Link | None = None,
    status: int = 200,
    **values: Any,
) -> Page:
    """Renders a page with the menu around it; every template extends `docs.html`. Callers keep the page.

    headings: the sections that the page lists; before, after: the neighbours to which it leads at its end.
    """
    reply = PAGES.render(
        template,
        form_targets=None,
        connects=("/",),
        title=title,
        path=path,
        is_live=is_live,
        headings=headings,
        before=before,
        after=after,
        groups=list_groups(),
        sections=list_sections(is_live=is_live) if path.startswith(API) else (),
        api=API,
        codes=texts.CODES,
        index=search_name.get_path(),
        file=FILES.get_path,
        status=status,
        **values,
    )
    return make_page(reply)


def make_page(reply: Reply) -> Page:
    """Packs an answer that is kept, and gives it the tag by which a browser asks whether it is still the same."""
    # The tag is weak, because a packed page has the same one.
    tag = b'W/"%s"' % hashlib.sha256(reply.body).hexdigest()[:16].encode()
    headers = (*reply.headers, (b"cache-control", b"no-cache"), (b"etag", tag))
    return Page(reply.body, packing.pack(reply.body), headers, reply.content_type, reply.status)


@cache
def list_groups() -> list[tuple[str, list[Link]]]:
    return [
        (group, [Link(texts.get_path(name), texts.read_title(name)) for name in names])
        for group, names in texts.GROUPS.items()
    ]


@cache
def list_sections(*, is_live: bool) -> list[tuple[str, list[Link]]]:
    """Returns the endpoints by section."""
    return [
        (section, [Link(f"{API}/{row.slug}", row.title, row.key) for row in rows])
        for section, rows in groupby(list_endpoints(is_live=is_live), key=lambda row: row.section)
    ]


def answer(request: Request, page: Page) -> Reply:
    """Returns a page, or tells the browser that the one it has is still the same."""
    tag = dict(page.headers)[b"etag"]
    known = request.headers.get(b"if-none-match", b"")
    if page.status == 200 and tag in (each.strip() for each in known.split(b",")):
        return Reply(_NOT_MODIFIED, b"", page.content_type, (*page.headers, packing.PACKED_OR_NOT))
    return packing.reply_packed(request, page, page.content_type, page.headers, status=page.status)


async def serve(request: Request, make: Callable[_P, Page], *args: _P.args, **kwargs: _P.kwargs) -> Reply:
    """Returns a page that is made in a thread, because a long text takes as long as many payments."""
    return answer(request, await asyncio.to_thread(make, *args, **kwargs))


@cache
def render_missing(*, is_live: bool) -> Page:
    """Renders the page for addresses that do not exist."""
    return render_page("missing.html", title="Page not found", path="", is_live=is_live, status=404)


def make_not_found(what: str) -> NotFound:
    """Makes the refusal of an address; a browser is shown a page with the search instead (`routes`)."""
    return NotFound(results.get_result(codes.INVALID_REQUEST), f"there is no such {what}")
