"""An answer as bytes: its length, who may cache it, and the answer to HEAD."""

from __future__ import annotations

import pytest

from tollgate.web.connections import render_reply
from tollgate.web.request import Reply


def render(reply: Reply, *, is_secure: bool = False, is_last: bool = False, has_body: bool = True) -> dict[str, str]:
    """Returns the headers by name; the status line and the body under names of their own."""
    data = render_reply(reply, is_secure=is_secure, is_last=is_last, has_body=has_body).decode()
    head, _, body = data.partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    named = [line.split(": ", 1) for line in lines]
    assert len({name for name, _ in named}) == len(named), "no header stands twice"
    return {"status": status, "body": body, **dict(named)}


def test_an_answer_has_its_status_its_length_and_its_time() -> None:
    received = render(Reply(200, b'{"a":1}'))

    assert (received["status"], received["content-length"], received["body"]) == ("HTTP/1.1 200 OK", "7", '{"a":1}')
    assert received["date"].endswith(" GMT")
    assert received["x-content-type-options"] == "nosniff"


def test_head_gets_the_length_that_get_would_have() -> None:
    received = render(Reply(404, b"12345"), has_body=False)

    assert (received["content-length"], received["body"]) == ("5", "")


def test_an_answer_without_content_has_no_length() -> None:
    assert "content-length" not in render(Reply(204, b"", b"text/plain"))


@pytest.mark.parametrize(
    ("own", "sent"),
    [
        ((), "max-age=0, no-cache, no-store"),
        (((b"cache-control", b"public, immutable"),), "public, immutable"),
    ],
)
def test_an_answer_is_kept_by_nobody_unless_it_says_so(own: tuple[tuple[bytes, bytes], ...], sent: str) -> None:
    received = render(Reply(200, b"{}", headers=own))

    assert received["cache-control"] == sent
    assert ("pragma" in received) == (not own)


def test_a_connection_that_ends_or_is_secure_says_so() -> None:
    assert render(Reply(200, b"{}"), is_last=True)["connection"] == "close"
    assert render(Reply(200, b"{}"), is_secure=True)["strict-transport-security"].startswith("max-age=63072000")
    assert not {"connection", "strict-transport-security"} & render(Reply(200, b"{}")).keys()


@pytest.mark.parametrize("value", [b"/a\r\nset-cookie: x", b"/a\nb", b"/a\x00b", b"/a\x7f"])
def test_text_of_a_caller_cannot_become_a_header_of_ours(value: bytes) -> None:
    with pytest.raises(ValueError, match="location"):
        Reply(307, b"", headers=((b"location", value),))
