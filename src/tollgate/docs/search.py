"""The index of the search, which a browser loads once and then searches by itself. Ranking is done in `search.js`."""

import asyncio
from collections.abc import Iterator
from functools import cache

import msgspec

from tollgate.catalog.results import GROUPS, RESULTS
from tollgate.docs import search_name, site, texts
from tollgate.operations.app import App
from tollgate.web.pages import packing, rendering
from tollgate.web.request import JSON, Access, Reply, Request, Routes

ROUTES = Routes()
NOTE_LENGTH_MAX = 88
_KINDS = {
    "docs/glossary.md": "Word",
    "docs/reference/parameters.md": "Parameter",
    "docs/reference/rules.md": "Rule",
    "docs/reference/events.md": "Event",
    "docs/reference/brands.md": "Brand",
    "docs/reference/test-data.md": "Test data",
    "docs/reference/settings.md": "Setting",
}
"""The texts whose rows are found one by one, with what a row is."""

_RESULT_CODES = "docs/reference/result-codes.md"
"""Its sections are the groups, which are found as such."""

Entry = tuple[str, str, str]
"""The title, a note, and what follows the path of the page."""


class Page(msgspec.Struct, frozen=True):
    """A page, and what can be found on it."""

    kind: str
    path: str
    title: str
    entries: list[Entry]


class Index(msgspec.Struct, frozen=True):
    pages: list[Page]


def make_index(*, is_live: bool) -> Index:
    return Index([*_list_text_pages(), *_list_endpoint_pages(is_live), *_list_code_pages()])


def _list_text_pages() -> Iterator[Page]:
    for text in texts.list_texts():
        sections = [
            (heading.text, shorten(heading.words), "" if heading.level == 1 else f"#{heading.anchor}")
            for heading in text.rendered.headings
            if heading.level == 1 or text.name != _RESULT_CODES
        ]
        yield Page("Text", text.path, text.title, sections)
        if text.name in _KINDS:
            rows = [(row.key, shorten(row.note), f"#{row.anchor}") for row in text.rendered.rows]
            yield Page(_KINDS[text.name], text.path, text.title, rows)


def _list_endpoint_pages(is_live: bool) -> Iterator[Page]:
    for section, links in site.list_sections(is_live=is_live):
        # An endpoint is found by what it does as well as by its address: "refund".
        rows = [(f"{link.title}: {link.note}", "", link.path.removeprefix(site.API)) for link in links]
        yield Page("Endpoint", site.API, section, rows)


def _list_code_pages() -> Iterator[Page]:
    groups = [(group.id, shorten(group.meaning), f"#{group.id}") for group in GROUPS]
    yield Page("Group of results", texts.CODES, "Result codes", groups)
    # A code is found by the name of its group too: "soft decline".
    for group in GROUPS:
        found = (row for row in RESULTS.values() if row.group == group.id)
        rows = [(row.code, shorten(row.description), f"/{row.code}") for row in found]
        yield Page("Result code", texts.CODES, group.id, rows)


def shorten(text: str) -> str:
    """Cuts a text between two words, so that the index stays small."""
    if len(text) <= NOTE_LENGTH_MAX:
        return text
    return text[:NOTE_LENGTH_MAX].rpartition(" ")[0].rstrip(",;:.") + " …"


@cache
def render_index(*, is_live: bool) -> packing.PackedBody:
    body = msgspec.json.encode(make_index(is_live=is_live))
    return packing.PackedBody(body, packing.pack(body))


@ROUTES.add("GET", f"{search_name.SEARCH}/{{name}}", "docs_files", Access.OPEN)
async def load_index(request: Request, app: App) -> Reply:
    """Returns the index; the one of an older release is not cached under its old name."""
    packed = await asyncio.to_thread(render_index, is_live=app.is_live)
    is_current = request.path == search_name.get_path()
    return packing.reply_packed(request, packed, JSON, (rendering.CACHED_FOR_GOOD,) if is_current else ())
