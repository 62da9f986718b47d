"""Renders the pages of the documentation and keeps them. What it shows is decided by its own module.

Pages contain nothing of the reader: a script fills in the credentials that a test host gives to its developer.
"""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from tollgate.catalog import codes, results
from tollgate.docs import texts
from tollgate.values import NotFound
from tollgate.web.pages import packing, rendering, showing
from tollgate.web.request import Reply, Request

PAGES = rendering.Pages(Path(__file__).parent / "pages", showing.FILTERS)
FILES = rendering.StaticFiles(Path(__file__).parent / "files", f"{texts.DOCS}/files")
ASKED_AGAIN = (b"cache-control", b"no-cache")


class Page(packing.PackedBody, frozen=True):
    headers: packing.Headers
    content_type: bytes


def render_page(template: str, /, *, title: str, path: str, is_live: bool, **values: Any) -> Page:
    """Renders a page with the menu around it; every template extends `docs.html`. Callers keep the page."""
    reply = PAGES.render(
        template,
        form_targets=None,
        connects=("/",),
        title=title,
        path=path,
        is_live=is_live,
        groups=list_groups(),
        file=FILES.get_path,
        **values,
    )
    return Page(reply.body, packing.pack(reply.body), (*reply.headers, ASKED_AGAIN), reply.content_type)


@cache
def list_groups() -> list[tuple[str, list[texts.Text]]]:
    return [(group, [texts.read_text(name) for name in names]) for group, names in texts.GROUPS.items()]


def answer(request: Request, page: Page) -> Reply:
    return packing.reply_packed(request, page, page.content_type, page.headers)


def make_not_found(what: str) -> NotFound:
    return NotFound(results.get_result(codes.INVALID_REQUEST), f"there is no such {what}")


class Link(msgspec.Struct, frozen=True):
    """A place to which a page leads."""

    path: str
    title: str
    note: str = ""
