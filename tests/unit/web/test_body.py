"""Reading a body within its bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tollgate.catalog import LIMITS
from tollgate.values import Refusal, TooLarge
from tollgate.web.body import Gone, Receive, check_form_type, read_body

pytestmark = pytest.mark.anyio


def receive_from(parts: Iterable[bytes], *, hangs_up: bool = False) -> Receive:
    waiting = list(parts)

    async def receive() -> dict[str, Any]:
        if not waiting and hangs_up:
            return {"type": "http.disconnect"}
        part = waiting.pop(0) if waiting else b""
        return {"type": "http.request", "body": part, "more_body": bool(waiting) or hangs_up}

    return receive


@pytest.mark.parametrize("is_whole", [True, False])
async def test_parts_are_put_together(is_whole: bool) -> None:
    assert await read_body({}, receive_from([b"a=1", b"&b", b"=2"]), is_whole=is_whole) == b"a=1&b=2"
    assert await read_body({}, receive_from([]), is_whole=is_whole) == b""


async def test_the_largest_body_is_read_and_a_larger_one_is_not() -> None:
    largest = b"x" * LIMITS.body_bytes_max
    assert await read_body({}, receive_from([largest]), is_whole=False) == largest
    with pytest.raises(TooLarge):
        await read_body({}, receive_from([largest, b"x"]), is_whole=False)


@pytest.mark.parametrize("length", [str(LIMITS.body_bytes_max + 1).encode(), b"-1", b"many", b""])
async def test_a_declared_length_is_believed_before_anything_is_read(length: bytes) -> None:
    async def receive() -> dict[str, Any]:
        raise AssertionError("nothing was to be read")

    with pytest.raises(TooLarge):
        await read_body({b"content-length": length}, receive, is_whole=False)


async def test_a_caller_that_hangs_up_is_gone() -> None:
    with pytest.raises(Gone):
        await read_body({}, receive_from([b"half"], hangs_up=True), is_whole=False)


@pytest.mark.parametrize(
    "kind", [b"application/json", b"text/plain", b"", b"application/x-www-form-urlencoded;charset=latin-1"]
)
async def test_a_body_that_says_it_is_no_form_is_refused(kind: bytes) -> None:
    with pytest.raises(Refusal):
        check_form_type({b"content-type": kind})


async def test_a_body_that_says_nothing_is_taken_for_a_form() -> None:
    check_form_type({})
    check_form_type({b"content-type": b"Application/X-WWW-Form-Urlencoded; charset=UTF-8"})
