"""`tests/browser/npm` builds these: scripts of frameworks and style sheets of other people's pages."""

from __future__ import annotations

from pathlib import Path

from browser.shops import Site
from tollgate.web.request import Reply

FOLDER = Path(__file__).parents[2] / ".venv" / "npm" / "built"
CONTENT_TYPES = {".js": b"text/javascript", ".css": b"text/css"}


def serve_built(shop: Site, name: str) -> str:
    """Puts a built file on the shop's own host, and returns its path there."""
    file = FOLDER / name
    assert file.exists(), "the packages of the browser tests are not built: make .venv/.npm-ok"
    shop.pages[f"/{name}"] = Reply(200, file.read_bytes(), CONTENT_TYPES[file.suffix])
    return f"/{name}"
