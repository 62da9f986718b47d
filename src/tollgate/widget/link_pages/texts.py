"""The words of a payment link's page in every language of the form, and which of them a browser asks for.
The texts stand in texts/, one file each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tollgate.widget.languages import ALIASES, FALLBACK, LANGUAGES

FOLDER = Path(__file__).parent / "texts"

_REQUESTS_MAX = 20


def _read_texts(code: str) -> Mapping[str, str]:
    texts: dict[str, str] = json.loads((FOLDER / f"{code}.json").read_text("utf-8"))
    # What the form says in the same words is not written twice.
    shared = {key: LANGUAGES[code][key] for key in ("tag", "dir", "testMode")}
    return {**shared, **texts}


TEXTS: Mapping[str, Mapping[str, str]] = {code: _read_texts(code) for code in LANGUAGES}


def choose_language(*wishes: str) -> str:
    """Takes the first wish that is known: a code, or the Accept-Language header of a browser."""
    return next((found for wish in wishes if (found := _find_language(wish))), FALLBACK)


def _find_language(header: str) -> str:
    tags = [_read_request(wish) for wish in header.split(",")[:_REQUESTS_MAX]]
    in_order = sorted((tag for tag in tags if tag[1] > 0), key=lambda tag: -tag[1])
    return next((code for name, _ in in_order if (code := _find_code(name))), "")


def _read_request(wish: str) -> tuple[str, float]:
    """Returns the name of a language and its weight; a weight that cannot be read counts as none."""
    name, _, weight = wish.partition(";")
    try:
        return name.strip().lower().replace("_", "-"), float(weight.strip().removeprefix("q=") or "1")
    except ValueError:
        return "", 0.0


def _find_code(name: str) -> str:
    """Looks for `zh-hans-cn` as a whole first, then without its last words."""
    while name:
        if name in LANGUAGES or name in ALIASES:
            return ALIASES.get(name, name)
        name = name.rpartition("-")[0]
    return ""
