"""The headers that fence a page in: what it may load, where its forms may lead, who may put it into a frame.

Which page needs which freedom is said by whoever renders it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from tollgate.catalog.shape import is_unsafe_scheme

ANYWHERE = ("*",)
"""For pages that shops of any address show in their frames, and for frames that may lead on to any address."""

_FIXED_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'"
_PERMISSIONS = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
_SPELLABLE_HOST = re.compile(r"[a-z0-9.-]+(?::[0-9]{1,5})?")
# A browser drops controls, and reads a backslash as a slash.
_MISREAD = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


class UnsafeAddress(ValueError):
    """An address that no page may lead to; a bug of the caller, because addresses are checked when they arrive."""


def check_address(url: str) -> str:
    """The same address, if a page may lead there: a path of our own, the web, or the scheme of an app."""
    is_own = url.startswith("/") and not url.startswith("//")
    scheme, slashes, _rest = url.partition("://")
    if _MISREAD.search(url) or not (is_own or (slashes and not is_unsafe_scheme(scheme))):
        raise UnsafeAddress("a page cannot lead to an address of this scheme")
    return url


def name_source(url: str) -> str:
    """An address as a policy spells it: its origin alone, or its scheme where the policy has no word for the host."""
    if url in ANYWHERE:
        return url
    parts = urlsplit(check_address(url))
    if not parts.scheme:
        return "'self'"
    if parts.scheme in ("http", "https") and _SPELLABLE_HOST.fullmatch(parts.netloc.lower()):
        return f"{parts.scheme}://{parts.netloc.lower()}"
    return f"{parts.scheme}:"


def make_headers(
    form_targets: Sequence[str] | None,
    framed_by: Sequence[str],
    frames: Sequence[str],
    connects: Sequence[str] = (),
    permits: Sequence[str] = (),
) -> tuple[tuple[bytes, bytes], ...]:
    """Without a list of `form_targets` the page has no form at all; `permits` may be handed on to its frames."""
    own_forms = () if form_targets is None else ("'self'", *map(name_source, form_targets))
    directives = [
        _FIXED_POLICY,
        _directive("form-action", own_forms),
        _directive("frame-ancestors", tuple(map(name_source, framed_by))),
        _directive("frame-src", tuple(map(name_source, frames))),
    ]
    if connects:
        directives.append(_directive("connect-src", tuple(map(name_source, connects))))
    policy = "; ".join(directives)
    permissions = ", ".join(f"{name}=()" for name in _PERMISSIONS if name not in permits)
    return ((b"content-security-policy", policy.encode()), (b"permissions-policy", permissions.encode()))


def _directive(name: str, sources: Sequence[str]) -> str:
    return " ".join((name, *(dict.fromkeys(sources) or ("'none'",))))
