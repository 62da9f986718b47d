"""Retired keys are archived, and a backup from before the rotation opens again with the archive."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from tollgate.cli.program import program
from tollgate.flows.pay import pay
from tollgate.operations.accounts import open_registration
from tollgate.operations.app import App, Call
from tollgate.payments.accounts import CardAccount
from tollgate.store.opening import open_database
from tollgate.vault.keyring import KeyringError, archive_keys, load_keyring, make_keyring, save_keyring
from unit.app_fixture import CHANNEL, MERCHANT, ORDER, ScriptedWire, open_app
from unit.flows.test_registrations import CARD, keep


class Host:
    """A store with a payment and a registered card, its keys in a folder of their own, and a backup of the store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data, self.backup = folder / "data", folder / "backup"
        self.keys, self.archive, self.archive_key = folder / "keys.json", folder / "archive.json", folder / "wrap.key"
        self.data.mkdir()
        self.app, self.registration_id = asyncio.run(self._fill())
        shutil.copytree(self.data, self.backup)

    async def _fill(self) -> tuple[App, str]:
        app = await open_app(self.data, ScriptedWire())
        save_keyring(app.keyring, self.keys)
        await pay(app, ORDER, Call(CHANNEL, "ndc"))
        registration = await keep(app, CARD)
        await app.database.close()
        return app, registration.id

    def run(self, *command: str) -> Result:
        return CliRunner().invoke(program, list(command))

    def run_on_store(self, *command: str) -> Result:
        store = ("--data", str(self.data), "--database", f"sqlite:///{self.data}/store.db")
        return self.run(*command, *store, "--key-file", str(self.keys))

    @property
    def archive_flags(self) -> tuple[str, ...]:
        return "--archive", str(self.archive), "--archive-key", str(self.archive_key)

    def rotate_and_retire(self) -> None:
        assert self.run_on_store("rotate-keys", "--wait", "0").exit_code == 0
        assert self.run("key-archive", "make-key", str(self.archive_key)).exit_code == 0
        done = self.run_on_store("rotate-keys", "--retire", *self.archive_flags)
        assert done.exit_code == 0, done.output
        assert "until the last one has expired" in done.output

    def restore_backup(self) -> None:
        shutil.rmtree(self.data)
        shutil.copytree(self.backup, self.data)

    def open_card(self) -> str:
        """Returns the number of the registered card, opened with the keys of the key file."""

        async def open_it() -> str:
            database = await open_database(f"sqlite:///{self.data}/store.db", must_exist=True)
            try:
                app = replace(self.app, database=database, keyring=load_keyring(self.keys))
                account = (await open_registration(app, MERCHANT.id, self.registration_id)).account
            finally:
                await database.close()
            assert isinstance(account, CardAccount)
            return account.number.reveal()

        return asyncio.run(open_it())


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_backup_from_before_the_rotation_opens_with_the_archive(host: Host) -> None:
    host.rotate_and_retire()
    assert host.open_card() == CARD["card.number"]
    assert len(load_keyring(host.keys).key_ids) == 1

    host.restore_backup()
    with pytest.raises(KeyringError):
        host.open_card()
    flags = ("--key-file", str(host.keys))
    done = host.run("key-archive", "restore", *host.archive_flags, *flags)

    assert done.output.startswith("1 keys were put back")
    assert host.open_card() == CARD["card.number"]
    assert host.run_on_store("verify", "--quiet").exit_code == 0
    assert host.run_on_store("rotate-keys", "--wait", "0").exit_code == 0
    assert host.run_on_store("rotate-keys", "--retire", *host.archive_flags).exit_code == 0
    assert len(host.run("key-archive", "list", *host.archive_flags).stdout.splitlines()) == 2
    assert host.open_card() == CARD["card.number"]


def test_keys_are_not_retired_without_an_archive_apart(host: Host) -> None:
    host.run_on_store("rotate-keys", "--wait", "0")
    host.run("key-archive", "make-key", str(host.archive_key))
    before = host.keys.read_bytes()
    inside = str(host.data / "archive.json")
    for flags, word in (
        ((), "older backups"),
        (("--archive", str(host.archive)), "--archive-key"),
        (("--archive", inside, "--archive-key", str(host.archive_key)), "--archive lies in"),
        (("--archive", str(host.archive), "--archive-key", inside), "--archive-key lies in"),
        (("--archive", str(host.archive_key), "--archive-key", str(host.archive_key)), "three different files"),
        (("--archive", str(host.keys), "--archive-key", str(host.archive_key)), "three different files"),
    ):
        done = host.run_on_store("rotate-keys", "--retire", *flags)
        assert done.exit_code == 2
        assert word in done.output
    lost = host.run_on_store("rotate-keys", "--retire", "--archive", str(host.archive), "--archive-key", "/nowhere")
    assert isinstance(lost.exception, KeyringError)

    assert host.keys.read_bytes() == before
    assert not host.archive.exists()


def test_a_crash_after_the_archive_was_written_loses_no_key(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.run_on_store("rotate-keys", "--wait", "0")
    host.run("key-archive", "make-key", str(host.archive_key))
    before = host.keys.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("tollgate.vault.keyring.save_keyring", Mock(side_effect=OSError("cut")))
        assert host.run_on_store("rotate-keys", "--retire", *host.archive_flags).exit_code == 1

    assert host.keys.read_bytes() == before
    assert host.run_on_store("rotate-keys", "--retire", *host.archive_flags).exit_code == 0
    assert len(host.run("key-archive", "list", *host.archive_flags).stdout.splitlines()) == 1


def test_the_archive_is_destroyed_when_the_last_backup_has_expired(host: Host) -> None:
    host.rotate_and_retire()

    def destroy(day: str) -> Result:
        return host.run("key-archive", "destroy", *host.archive_flags, "--oldest-backup", day)

    assert destroy("2020-01-01").output.startswith("0 keys were destroyed, 1 are left")
    assert "in the future" in destroy("2999-01-01").output
    assert destroy("soon").exit_code == 2
    assert host.archive.exists()
    listed = host.run("key-archive", "list", *host.archive_flags).output
    assert "retired 20" in listed
    archive_keys(host.archive, host.archive_key, make_keyring().with_new_key(), 0)
    assert destroy("2020-01-01").output.startswith("1 keys were destroyed, 1 are left")


def test_the_archive_goes_with_its_last_key(host: Host) -> None:
    host.run("key-archive", "make-key", str(host.archive_key))
    archive_keys(host.archive, host.archive_key, make_keyring().with_new_key(), 0)

    done = host.run("key-archive", "destroy", *host.archive_flags, "--oldest-backup", "2020-01-01")

    assert f"destroy {host.archive_key} too" in done.output
    assert not host.archive.exists()
