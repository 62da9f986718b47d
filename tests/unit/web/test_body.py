"""Taking a body within its bounds, however it is cut into packets."""

from __future__ import annotations

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.values import Malformed, Refusal, TooLarge
from tollgate.web.parsing import ChunkedBody, SizedBody, check_form_type

CHUNKS = b"3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n"


def feed(body: SizedBody | ChunkedBody, stream: bytes, step: int) -> int:
    """Return how many bytes of the stream belong to the body."""
    taken = 0
    for start in range(0, len(stream), step):
        part = stream[start : start + step]
        while not body.is_complete and part:
            end = body.feed(part, 0)
            taken, part = taken + end, part[end:]
    return taken


@pytest.mark.parametrize("step", [1, 2, 3, 100])
def test_a_body_of_known_length_ends_where_it_said(step: int) -> None:
    body = SizedBody(7, is_kept=True)

    assert feed(body, b"a=1&b=2POST /", step) == 7
    assert body.is_complete
    assert body.read() == b"a=1&b=2"


def test_a_body_without_a_byte_is_complete() -> None:
    body = SizedBody(0, is_kept=True)

    assert (body.is_complete, body.read()) == (True, b"")


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
def test_chunks_are_put_together_and_what_follows_is_left_alone(step: int) -> None:
    body = ChunkedBody(100, is_kept=True)

    assert feed(body, CHUNKS + b"POST /", step) == len(CHUNKS)
    assert body.is_complete
    assert body.read() == b"a=1&b=2"


def test_a_body_that_nobody_reads_is_not_kept() -> None:
    for body in (SizedBody(len(CHUNKS), is_kept=False), ChunkedBody(100, is_kept=False)):
        feed(body, CHUNKS, 4)
        assert (body.is_complete, body.read()) == (True, b"")


@pytest.mark.parametrize("step", [1, 100])
@pytest.mark.parametrize(
    "stream",
    [
        b"3;name=value\r\na=1\r\n0\r\n\r\n",
        b"3;\r\na=1\r\n0\r\n\r\n",
        b"3 \r\na=1\r\n0\r\n\r\n",
        b" 3\r\na=1\r\n0\r\n\r\n",
        b"3\na=1\n0\n\n",
        b"0x3\r\na=1\r\n0\r\n\r\n",
        b"+3\r\na=1\r\n0\r\n\r\n",
        b"-3\r\na=1\r\n0\r\n\r\n",
        b"000000003\r\na=1\r\n0\r\n\r\n",
        b"\r\na=1\r\n0\r\n\r\n",
        b"3\r\na=12\r\n0\r\n\r\n",
        b"3\r\na=1\n0\r\n\r\n",
        b"3\r\na=1\r\n0\r\nTrailer: x\r\n\r\n",
        b"zz\r\n",
    ],
)
def test_chunks_that_a_proxy_might_read_differently_are_refused(stream: bytes, step: int) -> None:
    with pytest.raises(Malformed):
        feed(ChunkedBody(100, is_kept=True), stream, step)


def test_the_largest_body_is_read_in_chunks_and_a_larger_one_is_not() -> None:
    largest = b"%x\r\n%b\r\n" % (LIMITS.body_bytes_max, b"x" * LIMITS.body_bytes_max)
    body = ChunkedBody(LIMITS.body_bytes_max, is_kept=True)
    feed(body, largest, 65_536)
    assert not body.is_complete

    with pytest.raises(TooLarge):
        feed(body, b"1\r\n", 3)


@pytest.mark.parametrize(
    "kind", [b"application/json", b"text/plain", b"", b"application/x-www-form-urlencoded;charset=latin-1"]
)
def test_a_body_that_says_it_is_no_form_is_refused(kind: bytes) -> None:
    with pytest.raises(Refusal):
        check_form_type({b"content-type": kind})


def test_a_body_that_says_nothing_is_taken_for_a_form() -> None:
    check_form_type({})
    check_form_type({b"content-type": b"Application/X-WWW-Form-Urlencoded; charset=UTF-8"})
