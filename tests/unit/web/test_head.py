"""Reading the head of a request: what is one, how its body is framed, and what is refused."""

from __future__ import annotations

import gc
import weakref

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.values import Malformed, TooLarge
from tollgate.web.parsing import CHUNKED, Head, HeadReader


def read(data: bytes, step: int = 1 << 20) -> Head:
    reader = HeadReader()
    for start in range(0, len(data), step):
        if reader.feed(data[start : start + step], 0) >= 0:
            return reader.read()
    raise AssertionError("the head is not complete")


def request(*lines: bytes, start: bytes = b"POST /v1/payments HTTP/1.1") -> bytes:
    return b"\r\n".join((start, *lines, b"", b""))


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_a_head_is_the_same_however_it_is_cut(step: int) -> None:
    head = read(request(b"Host: x", b"Content-Length: 12", b"X-A: b", start=b"POST /v1/a%20b?c=%64 HTTP/1.1"), step)

    assert (head.method, head.path, head.query, head.target) == ("POST", "/v1/a b", b"c=%64", b"/v1/a%20b?c=%64")
    assert head.headers == {b"host": b"x", b"content-length": b"12", b"x-a": b"b"}
    assert (head.body_length, head.is_last, head.expects_continue) == (12, False, False)


def test_a_reader_is_freed_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        reader = HeadReader()
        reader.feed(request(), 0)
        reader.read()
        known = weakref.ref(reader)
        del reader
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("before", [b"", b"\r\n", b"\r\n\r\n\r\n"])
def test_it_says_where_the_head_ends(before: bytes) -> None:
    data = before + request(b"Content-Length: 4") + b"a=1&"

    assert HeadReader().feed(data, 0) == len(data) - 4
    assert HeadReader().feed(b"a=1&" + data, 4) == len(data)


@pytest.mark.parametrize(
    ("lines", "is_last"),
    [
        ((), False),
        ((b"Connection: close",), True),
        ((b"Connection: keep-alive, Close",), True),
        ((b"Connection: close", b"Connection: keep-alive"), True),
        ((b"Connection: keep-alive", b"X: close"), False),
    ],
)
def test_a_client_says_that_it_closes(lines: tuple[bytes, ...], is_last: bool) -> None:
    assert read(request(*lines)).is_last is is_last
    assert read(request(*lines, start=b"GET / HTTP/1.0")).is_last


def test_an_offer_to_speak_another_protocol_changes_nothing() -> None:
    upgrade = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEAAEAAAAIAAAAB")

    head = read(request(*upgrade, b"Content-Length: 5"))

    assert (head.body_length, head.is_last) == (5, False)


def test_a_body_in_chunks_is_announced_by_the_one_word() -> None:
    assert read(request(b"Transfer-Encoding: Chunked")).body_length == CHUNKED
    assert read(request(b"Expect: 100-Continue", b"Content-Length: 1")).expects_continue


@pytest.mark.parametrize(
    "lines",
    [
        (b"Content-Length: 5", b"Transfer-Encoding: chunked"),
        (b"Transfer-Encoding: chunked", b"Content-Length: 5"),
        (b"Content-Length: 5", b"Content-Length: 5"),
        (b"Content-Length: 5", b"Content-Length: 6"),
        (b"Content-Length: 5, 5",),
        (b"Content-Length: +5",),
        (b"Content-Length: -5",),
        (b"Content-Length: 0x5",),
        (b"Content-Length: 1_0",),
        (b"Content-Length: 5 5",),
        (b"Content-Length:",),
        (b"Content-Length: " + b"9" * 30,),
        (b"Content-Length: " + b"0" * 5000 + b"5",),
        (b"Transfer-Encoding: identity",),
        (b"Transfer-Encoding: xchunked",),
        (b"Transfer-Encoding: gzip, chunked",),
        (b"Transfer-Encoding: chunked, identity",),
        (b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
        (b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
        (b"Transfer-Encoding:\x0bchunked",),
        (b"X: a", b" folded: b"),
        (b"X: a", b"\tfolded: b"),
        (b" X: a",),
        (b"X : a",),
        (b"X\t: a",),
        (b": a",),
        (b"X",),
        (b"X: a\x00b",),
        (b"X: a\x01b",),
        (b"X: a\rY: b",),
        (b"X: a\nY: b",),
        (b"X\x00: a",),
    ],
)
@pytest.mark.parametrize("step", [1, 1000])
def test_heads_that_a_proxy_might_read_differently_are_refused(lines: tuple[bytes, ...], step: int) -> None:
    with pytest.raises(Malformed):
        read(request(b"Host: x", *lines), step)


@pytest.mark.parametrize(
    "start",
    [
        b"CONNECT example.org:80 HTTP/1.1",
        b"GET / HTTP/2.0",
        b"GET / HTTP/1.2",
        b"GET /",
        b"GET /\nX: HTTP/1.1",
        b"GET / HTTP/1.1 ",
        b"GET /\xff HTTP/1.1",
        b"GET /\x00 HTTP/1.1",
        b"get / HTTP/1.1",
        b"PRI * HTTP/2.0",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
def test_what_is_no_request_line_is_refused(start: bytes) -> None:
    with pytest.raises(Malformed):
        read(request(b"Host: x", start=start))


def test_chunks_are_none_of_http_1_0() -> None:
    with pytest.raises(Malformed):
        read(request(b"Transfer-Encoding: chunked", start=b"POST / HTTP/1.0"))


@pytest.mark.parametrize("step", [100, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        request(b"X: " + b"a" * LIMITS.header_bytes_max),
        request(*[b"X: a"] * (LIMITS.headers_max + 1)),
        request(start=b"GET /" + b"a" * LIMITS.path_length_max + b" HTTP/1.1"),
        request(start=b"GET /?" + b"a" * (LIMITS.query_bytes_max + 1) + b" HTTP/1.1"),
        b"GET / HTTP/1.1\r\nX: " + b"a" * LIMITS.header_bytes_max,
        b"\r\n" * LIMITS.header_bytes_max,
    ],
    ids=["value", "count", "path", "query", "endless", "empty lines"],
)
def test_a_head_has_bounds(data: bytes, step: int) -> None:
    with pytest.raises(TooLarge):
        read(data, step)


def test_the_largest_target_is_taken() -> None:
    target = b"/" + b"a" * (LIMITS.path_length_max - 1) + b"?" + b"b" * LIMITS.query_bytes_max

    assert read(request(start=b"GET " + target + b" HTTP/1.1")).target == target


def test_lines_of_a_list_are_joined_and_repeated_names_are_reported() -> None:
    head = read(request(b"X-Forwarded-For: 1.1.1.1", b"X-Forwarded-For: 2.2.2.2", b"Accept: a", b"Accept: b"))

    assert head.headers[b"x-forwarded-for"] == b"1.1.1.1,2.2.2.2"
    assert head.repeated == {b"x-forwarded-for", b"accept"}
    assert read(request(start=b"GET http://x/a?b#c HTTP/1.1")).path == "/a"
