"""The files that the payment form loads besides its script: styles, marks of brands, and what the frames load.

What they hold is said where they are made; they are kept in memory.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tollgate.widget.frames import FRAME_ASSETS
from tollgate.widget.marks import MARK_STYLE, MARKS

STYLES = Path(__file__).parent / "styles"

_CONTENT_TYPES = {
    ".css": b"text/css;charset=UTF-8",
    ".js": b"text/javascript;charset=UTF-8",
    ".svg": b"image/svg+xml",
}


class Asset(msgspec.Struct, frozen=True):
    body: bytes
    gzipped: bytes
    content_type: bytes


def _make_asset(name: str, body: bytes) -> Asset:
    return Asset(body, gzip.compress(body, 9, mtime=0), _CONTENT_TYPES[Path(name).suffix])


def _gather() -> dict[str, Asset]:
    styles = {path.name: path.read_bytes() for path in sorted(STYLES.glob("*.css"))}
    files = {**styles, "marks.css": MARK_STYLE, **FRAME_ASSETS, **MARKS}
    return {name: _make_asset(name, body) for name, body in sorted(files.items())}


ASSETS: Mapping[str, Asset] = _gather()
