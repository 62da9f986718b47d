"""A key file is made with a new store and at no other time: a mistyped name stops the command instead."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program
from tollgate.config import Settings
from tollgate.store.opening import open_database
from tollgate.vault.keyring import Keyring, KeyringError, load_keyring
from tollgate.wiring import prepare_keyring


def run(folder: Path, *command: str) -> Result:
    return CliRunner().invoke(program, [*command, "--data", str(folder)])


def test_a_new_store_of_a_test_host_gets_its_keys_where_they_are_named(tmp_path: Path) -> None:
    named = tmp_path / "keys" / "mine.json"

    assert run(tmp_path / "data", "migrate", "--key-file", str(named)).exit_code == 0
    assert named.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "data" / "keys.json").exists()


def test_a_live_store_gets_no_keys(tmp_path: Path) -> None:
    assert run(tmp_path, "migrate", "--environment", "live").exit_code == 0
    assert not (tmp_path / "keys.json").exists()


def test_a_store_that_is_used_never_gets_new_keys(tmp_path: Path) -> None:
    run(tmp_path, "migrate")
    run(tmp_path, "merchant", "add", "Shop")
    right, mistyped = tmp_path / "keys.json", tmp_path / "keyz.json"

    assert prepare(tmp_path, right).key_ids == load_keyring(right).key_ids
    with pytest.raises(KeyringError, match=r"keyz\.json, and the store has merchants already"):
        prepare(tmp_path, mistyped)
    assert not mistyped.exists()


def prepare(folder: Path, key_file: Path) -> Keyring:
    """Returns the keys that a test host would serve this store with."""
    settings = Settings(data=str(folder), key_file=str(key_file))

    async def prepare() -> Keyring:
        database = await open_database(settings.database_url)
        try:
            return await prepare_keyring(settings, database)
        finally:
            await database.close()

    return asyncio.run(prepare())


def test_a_used_store_is_migrated_without_its_keys_and_makes_none(tmp_path: Path) -> None:
    run(tmp_path, "migrate")
    run(tmp_path, "merchant", "add", "Shop")
    (tmp_path / "keys.json").unlink()

    assert run(tmp_path, "migrate").exit_code == 0
    assert not (tmp_path / "keys.json").exists()


def test_commands_that_need_keys_make_none(tmp_path: Path) -> None:
    run(tmp_path, "migrate")
    merchant_id = run(tmp_path, "merchant", "add", "Shop").stdout.strip()
    (tmp_path / "keys.json").unlink()

    for command in (["token", "add", merchant_id], ["credentials"], ["wallet-token"], ["rotate-keys"]):
        done = run(tmp_path, *command)
        assert isinstance(done.exception, KeyringError), command
        assert not (tmp_path / "keys.json").exists()
