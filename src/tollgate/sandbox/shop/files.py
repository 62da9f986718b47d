"""The pictures, the style and the script of the demo shop, kept in memory and named by their content.

What the payment form loads is not among them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.operations.app import App
from tollgate.sandbox.tenant import SHOP
from tollgate.values import NotFound
from tollgate.web import Reply, Request, read_browser_file

FOLDER = Path(__file__).parent / "files"

_CONTENT_TYPES = {
    ".css": b"text/css;charset=UTF-8",
    ".js": b"text/javascript;charset=UTF-8",
    ".svg": b"image/svg+xml",
}
_KEPT_FOR_GOOD = ((b"cache-control", b"public, max-age=31536000, immutable"),)
_VERSION_LENGTH = 16

_BODIES = {path.name: read_browser_file(path) for path in sorted(FOLDER.iterdir())}
_VERSION = hashlib.sha256(b"\0".join(_BODIES.values())).hexdigest()[:_VERSION_LENGTH]


def name_file(name: str) -> str:
    """Where a page loads the file of this name from."""
    if name not in _BODIES:
        raise LookupError(f"the shop has no file {name}")
    return f"{SHOP}/files/{_VERSION}/{name}"


async def read_shop_file(request: Request, _app: App) -> Reply:
    version_asked, name = request.names
    body = _BODIES.get(name)
    if body is None:
        raise NotFound(get_result(codes.INVALID_PARAMETERS), "no such file")
    # Nobody keeps a new file under the name of an older one.
    headers = _KEPT_FOR_GOOD if version_asked == _VERSION else ()
    return Reply(200, body, _CONTENT_TYPES[Path(name).suffix], headers)
