"""The archive of retired keys: wrapped, private, durable before anything is removed, and destroyed by date."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tollgate.vault import keyring as archive


@pytest.fixture
def wrapping(tmp_path: Path) -> Path:
    path = tmp_path / "archive-key"
    archive.make_archive_key(path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.json"


@pytest.fixture
def ring() -> archive.Keyring:
    return archive.make_keyring().with_new_key().with_new_key()


def list_retired(ring: archive.Keyring) -> dict[bytes, bytes]:
    return {each: ring.get_key(each) for each in ring.key_ids if each != ring.active_id}


def test_retired_keys_are_read_back_as_they_were(path: Path, wrapping: Path, ring: archive.Keyring) -> None:
    assert archive.archive_keys(path, wrapping, ring, 7) == 2

    kept = archive.read_archive(path, wrapping)
    assert {each.id: each.key for each in kept} == list_retired(ring)
    assert {each.retired_at for each in kept} == {7}
    assert [file.stat().st_mode & 0o777 for file in (path, wrapping)] == [0o600, 0o600]


def test_no_key_is_in_the_file_and_none_is_printed(path: Path, wrapping: Path, ring: archive.Keyring) -> None:
    archive.archive_keys(path, wrapping, ring, 7)

    text = path.read_text() + repr(archive.read_archive(path, wrapping))
    for key in (ring.get_key(each) for each in ring.key_ids):
        assert key.hex() not in text
        assert base64.b64encode(key).decode() not in text
        assert repr(key) not in text


def test_archiving_again_keeps_what_is_there_and_its_day(path: Path, wrapping: Path, ring: archive.Keyring) -> None:
    archive.archive_keys(path, wrapping, ring, 7)

    assert archive.archive_keys(path, wrapping, ring, 8) == 0
    assert archive.archive_keys(path, wrapping, ring.with_new_key(), 9) == 1
    assert [each.retired_at for each in archive.read_archive(path, wrapping)] == [7, 7, 9]


def test_restored_keys_stand_beside_the_active_one(path: Path, wrapping: Path, ring: archive.Keyring) -> None:
    archive.archive_keys(path, wrapping, ring, 7)
    alone = ring.without_retired_keys().with_new_key()

    restored = archive.restore_keys(path, wrapping, alone)

    assert restored.active_id == alone.active_id
    assert set(restored.key_ids) == {*ring.key_ids, alone.active_id}
    assert restored.fingerprint_key == ring.fingerprint_key


def test_keys_retired_before_the_oldest_backup_go_and_the_file_with_the_last(
    path: Path, wrapping: Path, ring: archive.Keyring
) -> None:
    archive.archive_keys(path, wrapping, ring, 7)
    archive.archive_keys(path, wrapping, ring.with_new_key(), 9)

    assert archive.destroy_archived_keys(path, wrapping, 7) == (0, 3)
    assert archive.destroy_archived_keys(path, wrapping, 8) == (2, 1)
    assert [each.id for each in archive.read_archive(path, wrapping)] == [ring.active_id]
    assert archive.destroy_archived_keys(path, wrapping, 10) == (1, 0)
    assert not path.exists()


@pytest.mark.parametrize("member", ["id", "retired_at", "wrapped"])
def test_a_changed_archive_is_refused(path: Path, wrapping: Path, ring: archive.Keyring, member: str) -> None:
    archive.archive_keys(path, wrapping, ring, 7)
    written = json.loads(path.read_text())
    first, second = written["keys"]
    first[member] = 8 if member == "retired_at" else second[member]
    path.write_text(json.dumps(written))

    with pytest.raises(archive.KeyringError, match="was changed"):
        archive.read_archive(path, wrapping)


def test_another_key_an_open_file_and_nonsense_are_refused(path: Path, wrapping: Path, ring: archive.Keyring) -> None:
    archive.archive_keys(path, wrapping, ring, 7)
    other = path.with_name("other-key")
    archive.make_archive_key(other)

    with pytest.raises(archive.KeyringError, match="is not its key"):
        archive.read_archive(path, other)
    with pytest.raises(archive.KeyringError, match="never overwritten"):
        archive.make_archive_key(other)
    for content in (b"", b"short", base64.b64encode(b"x" * 31), b"\xff"):
        other.write_bytes(content)
        with pytest.raises(archive.KeyringError, match="malformed"):
            archive.read_archive(path, other)
    path.chmod(0o640)
    with pytest.raises(archive.KeyringError, match="open to others"):
        archive.read_archive(path, wrapping)
    path.chmod(0o600)
    path.write_text("{}")
    with pytest.raises(archive.KeyringError, match="malformed"):
        archive.read_archive(path, wrapping)


def test_a_crash_before_the_archive_is_replaced_leaves_the_old_one(
    path: Path, wrapping: Path, ring: archive.Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.archive_keys(path, wrapping, ring, 7)
    before = path.read_bytes()

    def fail(_descriptor: int) -> None:
        raise OSError("power cut")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="power cut"):
        archive.archive_keys(path, wrapping, ring.with_new_key(), 9)

    assert path.read_bytes() == before


def test_an_archive_that_does_not_hold_the_keys_stops_the_retirement(
    path: Path, wrapping: Path, ring: archive.Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.archive_keys(path, wrapping, ring, 7)
    monkeypatch.setattr(archive, "write_private", lambda _path, _content: None)

    with pytest.raises(archive.KeyringError, match="no key was removed"):
        archive.archive_keys(path, wrapping, ring.with_new_key(), 9)


def test_two_commands_do_not_change_keys_at_once(path: Path) -> None:
    with (
        archive.hold_alone(path),
        pytest.raises(archive.KeyringError, match="another command"),
        archive.hold_alone(path),
    ):
        raise AssertionError("both hold it")
    with archive.hold_alone(path):
        pass
