"""Bodies for browsers are compressed once, when one is first asked for, and the same body gives the same bytes."""

from __future__ import annotations

import gzip

import pytest

from tollgate.web.pages import packing


def test_a_static_body_is_compressed_once_and_not_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def pack(body: bytes) -> bytes:
        asked.append(body)
        return gzip.compress(body)

    monkeypatch.setattr(packing, "pack", pack)
    static = packing.StaticBody(b"one body")
    assert asked == []

    assert gzip.decompress(static.gzipped) == b"one body"
    assert static.gzipped is static.gzipped
    assert asked == [b"one body"]


def test_the_same_body_gives_the_same_bytes() -> None:
    assert packing.pack(b"one body") == packing.pack(b"one body")
