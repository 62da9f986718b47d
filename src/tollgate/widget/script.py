"""Joins the parts of the shop's script, the languages and the name of this version into the bytes that are served.

Nothing here may depend on a host or a checkout: a shop holds the script against its hash.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tollgate.widget.assets import ASSETS
from tollgate.widget.frames import FOLDER as FRAMES
from tollgate.widget.frames import read_part
from tollgate.widget.languages import ALIASES, LANGUAGES

FOLDER = Path(__file__).parent / "parts"

PARTS = (
    "state",
    "dom",
    "source",
    "texts",
    "options",
    "configuration",
    "hooks",
    "looks",
    "frames",
    "pressing",
    "faults",
    "fields",
    "accountNumbers",
    "postcodes",
    "inputs",
    "expiryField",
    "brands",
    "countries",
    "billing",
    "customer",
    "payButton",
    "forms",
    "cardFields",
    "numberMarks",
    "cardForm",
    "storedCards",
    "mandate",
    "directDebit",
    "otherBrands",
    "wallets",
    "accordion",
    "browser",
    "dialog",
    "popup",
    "line",
    "tick",
    "leaving",
    "abandoning",
    "answers",
    "resting",
    "summary",
    "submit",
    "places",
    "skeleton",
    "mounting",
    "publicFace",
    "start",
)
"""In the order in which they are joined; each may use all of them once the last one runs."""

SHARED_PARTS = ("digits", "expiry", "fields")
"""Of the frames, and used in the page as well where a field of a card stands in it."""

_VERSION_LENGTH = 16


class Script(msgspec.Struct, frozen=True):
    body: bytes
    gzipped: bytes
    integrity: str
    """As the integrity attribute of a script tag spells the hash."""
    version: str


def make_script(body: bytes, version: str) -> Script:
    digest = base64.b64encode(hashlib.sha384(body).digest()).decode()
    return Script(body, gzip.compress(body, 9, mtime=0), f"sha384-{digest}", version)


def make_version(contents: Iterable[bytes]) -> str:
    """One name for all files of a release; browsers keep them under it for good."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:_VERSION_LENGTH]


def _render_languages() -> str:
    """Texts in the order of one list of keys, so that no key is sent once for every language."""
    keys = sorted(LANGUAGES["en"])
    table = {code: [texts[key] for key in keys] for code, texts in sorted(LANGUAGES.items())}
    return f"const TEXT_KEYS = {_render(keys)};\nconst TEXTS = {_render(table)};\nconst ALIASES = {_render(ALIASES)};"


def _render(value: object) -> str:
    """Such JSON is JavaScript too, in an order that does not depend on chance."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=isinstance(value, Mapping))


def _join() -> Script:
    paths = (*(FRAMES / "parts" / f"{name}.js" for name in SHARED_PARTS), *(FOLDER / f"{name}.js" for name in PARTS))
    parts, languages = "\n".join(map(read_part, paths)), _render_languages()
    assets = (text for name in sorted(ASSETS) for text in (name.encode(), ASSETS[name].body))
    version = make_version((parts.encode(), languages.encode(), *assets))
    head = f'"use strict";\nconst VERSION = "{version}";\n{languages}'
    return make_script(f"(() => {{\n{head}\n{parts}\n}})();\n".encode(), version)


SCRIPT = _join()
