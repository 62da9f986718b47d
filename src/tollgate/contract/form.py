"""Form text to pairs, strictly: nothing is guessed, swallowed or merged. What the names mean is not known here."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from tollgate.catalog import LIMITS, get_result
from tollgate.values import Fault, InvalidParameters, TooLarge

Pairs = list[tuple[str, str]]

_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_HOSTILE_ESCAPE = re.compile("%(?:00|(?![0-9A-Fa-f]{2}))")
_SHOWN_NAME_MAX = 64


def read_form(body: bytes) -> Pairs:
    """Split `a=1&b=2`. Blanks, brackets, `#`, `@` and raw UTF-8 may stand unescaped, as many clients leave them."""
    if not body:
        return []
    # Many clients glue parameters together and leave one separator at the end.
    body = body.removesuffix(b"&")
    if body.count(b"&") >= LIMITS.parameters_max:
        raise TooLarge(get_result("200.100.103"), f"more than {LIMITS.parameters_max} parameters")
    text = _decode_whole(body)
    parts = text.split("&")
    # Looked for in the whole, because no separator is part of an escape; only a fault is looked for part by part.
    if "\0" in text or _HOSTILE_ESCAPE.search(text):
        _refuse_hostile(parts)
    return [_read_part(part) for part in parts]


def _decode_whole(body: bytes) -> str:
    """At once, because separators are never part of a longer character; only a fault is looked for part by part."""
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        before = body[: fault.start].rpartition(b"&")[2].decode()
        raise _refused(before.partition("=")[0], "must be UTF-8 text") from None


def _read_part(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    if not name:
        raise _refused("", "a parameter has no name")
    if len(name) > LIMITS.name_length_max:
        raise _refused(name, f"names have at most {LIMITS.name_length_max} characters")
    if "%" in part or "+" in part:
        return _unescape(name, name), _unescape(value, name)
    return name, value


def _unescape(text: str, name: str) -> str:
    if "%" not in text:
        return text.replace("+", " ")
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode()
    except UnicodeDecodeError:
        raise _refused(name, "must be UTF-8 text") from None


def _refuse_hostile(parts: list[str]) -> None:
    for part in parts:
        if "\0" in part or "%00" in part:
            raise _refused(part.partition("=")[0], "must not contain NUL")
        if "%" in part and _BAD_ESCAPE.search(part):
            raise _refused(part.partition("=")[0], "has a % that two hex digits do not follow")


def _refused(name: str, message: str) -> InvalidParameters:
    """The name as it was sent, in a form that is safe to show."""
    shown = name[:_SHOWN_NAME_MAX].encode("ascii", "replace").decode().replace("\0", "?")
    return InvalidParameters(get_result("200.300.404"), [Fault(shown, message)])
