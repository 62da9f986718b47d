"""The key file: private, whole, replaced in one step, followed by who uses it."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from tollgate.vault.keyring import Keyring, KeyringError, load_keyring, make_keyring, save_keyring


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def test_a_saved_keyring_is_loaded_as_it_was(path: Path) -> None:
    keyring = make_keyring().with_new_key()

    save_keyring(keyring, path)
    loaded = load_keyring(path)

    assert loaded.key_ids == keyring.key_ids
    assert loaded.active_id == keyring.active_id
    assert loaded.fingerprint_key == keyring.fingerprint_key
    assert all(loaded.get_key(key_id) == keyring.get_key(key_id) for key_id in keyring.key_ids)


def test_the_file_is_its_owners_alone_and_nothing_is_left_beside_it(path: Path) -> None:
    save_keyring(make_keyring(), path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o666])
def test_a_file_that_others_can_read_is_refused(path: Path, mode: int) -> None:
    save_keyring(make_keyring(), path)
    path.chmod(mode)

    with pytest.raises(KeyringError, match="open to others"):
        load_keyring(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda _file: {},
        lambda file: {**file, "active": "00000000"},
        lambda file: {**file, "active": "zz"},
        lambda file: {**file, "fingerprint_key": "AAAA"},
        lambda file: {**file, "keys": dict.fromkeys(file["keys"], "not base64!")},
        lambda file: {**file, "keys": {}},
        lambda file: {**file, "surprise": 1},
    ],
)
def test_a_malformed_file_is_refused_without_showing_it(path: Path, change: object) -> None:
    assert callable(change)
    save_keyring(make_keyring(), path)
    written = json.loads(path.read_text())
    path.write_text(json.dumps(change(written)))

    with pytest.raises(KeyringError) as refused:
        load_keyring(path)

    assert not any(key in str(refused.value) for key in written["keys"].values())


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(KeyringError, match=r"keys\.json"):
        load_keyring(path)


def test_a_ring_follows_its_file_when_that_is_replaced(path: Path) -> None:
    save_keyring(make_keyring(), path)
    served = load_keyring(path)
    served.follow(path)
    assert not served.follow(path)
    rotated = load_keyring(path).with_new_key()
    save_keyring(rotated, path)
    os.utime(path, ns=(1, 1))

    assert served.follow(path)

    assert served.active_id == rotated.active_id


def test_a_ring_shows_no_key_and_does_not_pickle() -> None:
    keyring = make_keyring(lambda count: b"\x41" * count)

    assert "A" * 8 not in repr(keyring)
    with pytest.raises(TypeError):
        pickle.dumps(keyring)


def test_keys_have_the_size_of_the_cipher() -> None:
    with pytest.raises(KeyringError, match="32 bytes"):
        Keyring({b"aaaa": b"short"}, b"aaaa", b"f" * 32)
    with pytest.raises(KeyringError, match="active key"):
        Keyring({b"aaaa": b"k" * 32}, b"bbbb", b"f" * 32)
