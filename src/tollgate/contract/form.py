"""Form text to pairs, strictly: nothing is guessed, swallowed or merged. What the names mean is not known here."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from tollgate.catalog import LIMITS, get_result
from tollgate.values import Fault, InvalidParameters, TooLarge

Pairs = list[tuple[str, str]]

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_SHOWN_NAME_MAX = 64


def read_form(body: bytes) -> Pairs:
    """Split `a=1&b=2`. Blanks, brackets, `#`, `@` and raw UTF-8 may stand unescaped, as many clients leave them."""
    if not body:
        return []
    # Many clients glue parameters together and leave one separator at the end.
    parts = body.removesuffix(b"&").split(b"&")
    if len(parts) > LIMITS.parameters_max:
        raise TooLarge(get_result("200.100.103"), f"more than {LIMITS.parameters_max} parameters")
    if b"\0" in body or b"%00" in body or _BAD_ESCAPE.search(body):
        _refuse_hostile(parts)
    return [_read_part(part) for part in parts]


def _read_part(part: bytes) -> tuple[str, str]:
    name, _, value = part.partition(b"=")
    if not name:
        raise _refused("", "a parameter has no name")
    if len(name) > LIMITS.name_length_max:
        raise _refused(_show(name), f"names have at most {LIMITS.name_length_max} characters")
    return _decode(name, name), _decode(value, name)


def _decode(text: bytes, name: bytes) -> str:
    if b"+" in text:
        text = text.replace(b"+", b" ")
    if b"%" in text:
        text = unquote_to_bytes(text)
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise _refused(_show(name), "must be UTF-8 text") from None


def _refuse_hostile(parts: list[bytes]) -> None:
    for part in parts:
        name = _show(part.partition(b"=")[0])
        if b"\0" in part or b"%00" in part:
            raise _refused(name, "must not contain NUL")
        if _BAD_ESCAPE.search(part):
            raise _refused(name, "has a % that two hex digits do not follow")


def _show(name: bytes) -> str:
    return name[:_SHOWN_NAME_MAX].decode("ascii", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _refused(name: str, message: str) -> InvalidParameters:
    return InvalidParameters(get_result("200.300.404"), [Fault(name, message)])
