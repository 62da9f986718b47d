"""A secret that is needed once more opens with the key that was given away, in its own row, and with nothing else."""

from __future__ import annotations

import base64

import pytest

from tollgate.values import Secret
from tollgate.vault.signing import hash_once_key, make_once_key, open_once, seal_once

OWNER = "authentication/8a01/8a02"
KEY = bytes(range(32))


def write(key: bytes) -> Secret:
    return Secret(base64.urlsafe_b64encode(key).decode().rstrip("="))


def test_it_opens_with_its_key() -> None:
    opened = open_once(seal_once(Secret("731"), KEY, owner=OWNER), write(KEY), owner=OWNER)

    assert opened is not None
    assert opened.matches(Secret("731"))


def test_nothing_is_sealed_too_so_that_the_key_can_be_proven() -> None:
    sealed = seal_once(None, KEY, owner=OWNER)

    opened = open_once(sealed, write(KEY), owner=OWNER)

    assert opened is not None
    assert len(opened) == 0
    assert open_once(sealed, write(KEY[:-1] + b"x"), owner=OWNER) is None


@pytest.mark.parametrize(
    "key",
    [bytes(32), KEY[::-1], KEY[:-1], KEY + b"x", b"", KEY[:16]],
    ids=["zeros", "backwards", "short", "long", "empty", "half"],
)
def test_another_key_opens_nothing(key: bytes) -> None:
    assert open_once(seal_once(Secret("731"), KEY, owner=OWNER), write(key), owner=OWNER) is None


def test_the_same_key_opens_nothing_in_another_row() -> None:
    assert open_once(seal_once(Secret("731"), KEY, owner=OWNER), write(KEY), owner=OWNER + "0") is None


@pytest.mark.parametrize("place", [0, 11, 12, 14, -1])
def test_what_was_changed_does_not_open(place: int) -> None:
    sealed = bytearray(seal_once(Secret("731"), KEY, owner=OWNER))
    sealed[place] ^= 1

    assert open_once(bytes(sealed), write(KEY), owner=OWNER) is None


@pytest.mark.parametrize("length", [0, 5, 12, 20])
def test_what_was_cut_off_does_not_open(length: int) -> None:
    sealed = seal_once(Secret("731"), KEY, owner=OWNER)

    assert open_once(sealed[:length], write(KEY), owner=OWNER) is None


def test_the_same_is_never_sealed_the_same_way_twice() -> None:
    first, second = (seal_once(Secret("731"), KEY, owner=OWNER) for _ in range(2))

    assert first != second
    assert b"731" not in first


def test_keys_are_random_and_long() -> None:
    keys = {make_once_key() for _ in range(100)}

    assert len(keys) == 100
    assert {len(key) for key in keys} == {32}


def test_a_key_is_known_again_by_its_hash_however_it_is_written() -> None:
    assert hash_once_key(KEY) == hash_once_key(write(KEY))
    assert hash_once_key(KEY) != hash_once_key(KEY[:-1] + b"x")
    assert KEY.hex() not in hash_once_key(KEY)
