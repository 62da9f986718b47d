"""Reads a request's body within its bounds of size and time. What the body says is not looked at here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tollgate.catalog import LIMITS, get_result
from tollgate.values import Refusal, TooLarge, TooSlow

Receive = Callable[[], Awaitable[dict[str, Any]]]

_FORM = b"application/x-www-form-urlencoded"


class Gone(Exception):
    """The caller hung up before the request was complete; there is nobody to answer."""


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, *, is_whole: bool) -> bytes:
    """What is already here to its last byte needs no clock to be read against."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > LIMITS.body_bytes_max:
        raise _too_large()
    if is_whole:
        return await _collect(receive)
    try:
        async with asyncio.timeout(LIMITS.read_timeout_s):
            return await _collect(receive)
    except TimeoutError:
        raise TooSlow(get_result("200.100.103"), "the body did not arrive in time") from None


async def _collect(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part: bytes = message.get("body", b"")
        body = body + part if body else part
        if len(body) > LIMITS.body_bytes_max:
            raise _too_large()
        if not message.get("more_body", False):
            return body


def check_form_type(headers: Mapping[bytes, bytes]) -> None:
    """A POST carries a form; one that says nothing is taken for one."""
    content_type = headers.get(b"content-type")
    if content_type is None:
        return
    kind, _, options = content_type.lower().partition(b";")
    if kind.strip() != _FORM:
        raise Refusal(get_result("200.100.103"), f"send the body as {_FORM.decode()}")
    charset = options.replace(b" ", b"").replace(b'"', b"")
    if charset.startswith(b"charset=") and charset not in (b"charset=utf-8", b"charset=utf8"):
        raise Refusal(get_result("200.100.103"), "send the body in UTF-8")


def _too_large() -> TooLarge:
    return TooLarge(get_result("200.100.103"), f"the body has more than {LIMITS.body_bytes_max} bytes")
