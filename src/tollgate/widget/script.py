"""Joins the modules of the shop's script, the languages and the name of this version into the bytes that are served.

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

from tollgate.web import join_modules, wrap_modules
from tollgate.widget.assets import ASSETS
from tollgate.widget.languages import ALIASES, LANGUAGES

FOLDER = Path(__file__).parent / "parts"

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
    modules, languages = join_modules(FOLDER / "start.js"), _render_languages()
    assets = (text for name in sorted(ASSETS) for text in (name.encode(), ASSETS[name].body))
    version = make_version((modules.encode(), languages.encode(), *assets))
    return make_script(wrap_modules(f'const VERSION = "{version}";\n{languages}\n{modules}'), version)


SCRIPT = _join()
