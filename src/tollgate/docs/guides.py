"""Pages of the texts: the first page, guides and references, and their pictures. What they say is in their files."""

from functools import cache
from itertools import chain

from tollgate.docs import site, texts
from tollgate.operations.app import App
from tollgate.web.pages import rendering
from tollgate.web.request import Access, Reply, Request, Routes

ROUTES = Routes()
_DEPTH_MAX = 8
"""A reader whose address has more words than that is not one who mistyped it."""
_PLAIN = b"text/plain;charset=UTF-8"


@ROUTES.add("GET", texts.DOCS, "docs", Access.OPEN)
async def show_home(request: Request, app: App) -> Reply:
    """Shows the first page of the documentation."""
    return await site.serve(request, _render_home, is_live=app.is_live)


@ROUTES.add("GET", f"{texts.DOCS}/{{name}}", "docs", Access.OPEN)
@ROUTES.add("GET", f"{texts.DOCS}/reference/{{name}}", "docs", Access.OPEN)
async def show_text(request: Request, app: App) -> Reply:
    """Shows a text of the documentation."""
    name = texts.BY_PATH.get(request.path)
    if name is None:
        raise site.make_not_found("page")
    return await site.serve(request, _render_text, name, is_live=app.is_live)


async def show_missing(_request: Request, _app: App) -> Reply:
    """Refuses addresses below the documentation at which nothing is."""
    raise site.make_not_found("page")


for _depth in range(2, _DEPTH_MAX + 1):
    ROUTES.add("GET", texts.DOCS + "/{word}" * _depth, "docs", Access.OPEN)(show_missing)


@cache
def _render_home(*, is_live: bool) -> site.Page:
    shown = [
        (group, [site.Link(text.path, text.title, text.summary) for text in map(texts.read_text, names)])
        for group, names in texts.GROUPS.items()
    ]
    return site.render_page("home.html", title="Documentation", path=texts.DOCS, is_live=is_live, shown=shown)


@cache
def _render_text(name: str, *, is_live: bool) -> site.Page:
    text = texts.read_text(name)
    links = list(chain.from_iterable(links for _, links in site.list_groups()))
    place = next(place for place, link in enumerate(links) if link.path == text.path)
    return site.render_page(
        "text.html",
        title=text.title,
        path=text.path,
        is_live=is_live,
        headings=text.rendered.listed,
        before=links[place - 1] if place else None,
        after=links[place + 1] if place + 1 < len(links) else None,
        text=text,
    )


@ROUTES.add("GET", f"{texts.DOCS}/license", "docs", Access.OPEN)
async def show_license(_request: Request, _app: App) -> Reply:
    """Shows the licence as it is."""
    return Reply(200, (texts.ROOT / texts.LICENSE).read_bytes(), _PLAIN)


@ROUTES.add("GET", f"{texts.DOCS}/images/{{name}}", "docs_files", Access.OPEN)
async def show_picture(request: Request, _app: App) -> Reply:
    """Returns a picture of a text."""
    pictures = {path.name: path for path in (texts.ROOT / "docs" / "images").glob("*.png")}
    if request.names[0] not in pictures:
        raise site.make_not_found("picture")
    return Reply(200, pictures[request.names[0]].read_bytes(), b"image/png", (rendering.CACHED_FOR_A_DAY,))
