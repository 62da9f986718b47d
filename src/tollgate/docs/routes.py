"""The pages of the documentation, joined. Each module declares its own rows."""

from collections.abc import Awaitable, Callable
from functools import wraps

import msgspec

from tollgate.docs import code_pages, endpoint_pages, guides, openapi, search, site, texts
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.request import Access, OpenHandler, Reply, Request, Routes

_MODULES = (guides, code_pages, endpoint_pages, search, openapi)

_files = Routes()
_files.add("GET", f"{texts.DOCS}/files/{{hash}}/{{name}}", "docs_files", Access.OPEN)(site.FILES.answer)


def show_what_is_missing(handler: OpenHandler) -> Callable[[Request, App], Awaitable[Reply]]:
    """Shows a page with the search to readers whose address does not exist."""

    @wraps(handler)
    async def handle(request: Request, app: App) -> Reply:
        try:
            return await handler(request, app)
        except NotFound:
            return await site.serve(request, site.render_missing, is_live=app.is_live)

    return handle


_pages = [row for module in _MODULES for row in module.ROUTES]
ROUTES = (*_files, *[msgspec.structs.replace(row, handler=show_what_is_missing(row.handler)) for row in _pages])
