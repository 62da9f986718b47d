"""The demo shop's memory of a visitor: a cookie with the cards that were stored, sealed so that nobody names another's.

What is stored of a card stays with the gateway; the cookie has ids alone.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from tollgate.operations.app import App
from tollgate.sandbox.tenant import SHOP
from tollgate.values import is_id
from tollgate.vault.keyring import KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed, seal
from tollgate.web import Request

CARDS_MAX = 3

_NAME = "tollgate_shop"
_OWNER = "demo shop visitor"
_LENGTH_MAX = 1024
_KEPT_S = 30 * 24 * 3600


def read_cards(request: Request, app: App) -> list[str]:
    """The registrations of this visitor, the newest first; none where the cookie is not ours."""
    sealed = find_cookie(request, _NAME)
    if not sealed or len(sealed) > _LENGTH_MAX:
        return []
    try:
        raw = base64.b64decode(sealed.encode() + b"=" * (-len(sealed) % 4), altchars=b"-_", validate=True)
        ids = open_sealed(raw, owner=_OWNER, keyring=app.keyring).decode()
    except (binascii.Error, UnicodeError, EnvelopeError, KeyringError):
        return []
    return [stored_id for stored_id in ids.split() if is_id(stored_id)]


def remember_cards(stored_ids: Sequence[str], app: App) -> tuple[bytes, bytes]:
    """The header that gives a visitor the cookie, or takes it back where there is nothing to remember."""
    kept = list(dict.fromkeys(stored_ids))[:CARDS_MAX]
    sealed = (
        seal(" ".join(kept).encode(), owner=_OWNER, keyring=app.keyring, random_bytes=app.random_bytes) if kept else b""
    )
    value = base64.urlsafe_b64encode(sealed).decode().rstrip("=")
    secure = "; Secure" if app.base_url.startswith("https:") else ""
    age = _KEPT_S if kept else 0
    cookie = f"{_NAME}={value}; Path={SHOP}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", cookie.encode()


def find_cookie(request: Request, wanted: str) -> str:
    pairs = (part.strip().partition("=") for part in (request.header(b"cookie") or "").split(";"))
    return next((value for name, _, value in pairs if name == wanted), "")
