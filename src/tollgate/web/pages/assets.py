"""The scripts and styles that pages load, kept in memory and named by their content, so that browsers may keep them.

What a script does is written in the script.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.pages.scripts import read_browser_file
from tollgate.web.request import Access, Reply, Request, RouteRow

FOLDER = Path(__file__).parent / "assets"

_CONTENT_TYPES = {
    ".css": b"text/css;charset=UTF-8",
    ".js": b"text/javascript;charset=UTF-8",
    ".svg": b"image/svg+xml",
}
_KEPT_FOR_GOOD = ((b"cache-control", b"public, max-age=31536000, immutable"),)
_HASH_LENGTH = 16


class Asset(msgspec.Struct, frozen=True):
    name: str
    body: bytes
    content_type: bytes
    hash: str

    @property
    def path(self) -> str:
        return f"/v1/static/{self.hash}/{self.name}"


def _read_asset(path: Path) -> Asset:
    body = read_browser_file(path)
    return Asset(path.name, body, _CONTENT_TYPES[path.suffix], hashlib.sha256(body).hexdigest()[:_HASH_LENGTH])


ASSETS: Mapping[str, Asset] = {path.name: _read_asset(path) for path in sorted(FOLDER.iterdir())}


def find_asset_path(name: str) -> str:
    """Where a page loads the file of this name from."""
    return ASSETS[name].path


async def read_asset(request: Request, _app: App) -> Reply:
    hash_asked, name = request.names
    asset = ASSETS.get(name)
    if asset is None:
        raise NotFound(get_result(codes.INVALID_PARAMETERS), "no such file")
    # A page from before a release still gets a script, but nobody keeps it under the name of the older one.
    headers = _KEPT_FOR_GOOD if hash_asked == asset.hash else ()
    return Reply(200, asset.body, asset.content_type, headers)


ROUTES = (
    RouteRow(
        method="GET",
        path="/v1/static/{hash}/{name}",
        operation="static",
        summary="A script or a style of the shopper's pages.",
        access=Access.OPEN,
        handler=read_asset,
    ),
)
