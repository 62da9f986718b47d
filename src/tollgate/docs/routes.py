"""The pages of the documentation, joined. Each module declares its own rows."""

from tollgate.docs import guides, openapi, site, texts
from tollgate.web.request import Access, Routes

_MODULES = (guides, openapi)

_files = Routes()
_files.add("GET", f"{texts.DOCS}/files/{{hash}}/{{name}}", "docs_files", Access.OPEN)(site.FILES.answer)

ROUTES = (*_files, *[row for module in _MODULES for row in module.ROUTES])
