"""A command that is run in the wrong folder refuses, names the folder and makes nothing."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tollgate.cli.program import program
from tollgate.store.database import StoreFault
from tollgate.vault.keyring import make_keyring, save_keyring

ID = "8a" + "0" * 30
MAKERS = {"serve", "migrate", "restore"}
KEY_ARCHIVE = ("make-key", "list", "restore", "destroy")
STORELESS = {
    "acquirer-host",
    "iso8583 explain",
    "check",
    "decrypt",
    "make-keys",
    "openapi",
    *(f"key-archive {each}" for each in KEY_ARCHIVE),
}
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "sandbox fork": ("--to-data", "{file}.fork"),
    "sandbox load": ("{file}",),
    "sandbox save": ("{file}.snapshot",),
    "account add": (ID, "Second"),
    "account close": (ID,),
    "account list": (),
    "account secret": (ID, "api-key"),
    "account set": (ID, "--acquirer-weight", "1"),
    "archive": ("--before", "2020-01", "--archive", "{file}.months"),
    "backup": ("{file}.backup",),
    "bank export": (ID,),
    "bank files": (),
    "bank import": ("{file}",),
    "bank sample-return": (ID,),
    "bins find": ("420000",),
    "bins import": ("{file}",),
    "channel add": (ID, "Shop"),
    "channel acquirer-secret": (ID, "api-key"),
    "channel list": (),
    "channel set": (ID, "--closed"),
    "channel wallet-key add": (ID, "--wallet", "walletA", "--key", "{file}"),
    "channel wallet-key list": (),
    "channel wallet-key remove": (ID,),
    "clock": ("--advance", "1"),
    "credentials": (),
    "dispatch add": (ID,),
    "dispatch list": (),
    "dispatch move": (ID, "1"),
    "dispatch remove": (ID,),
    "erase": (ID, "--email", "jane@example.com"),
    "events list": (),
    "events replay": ("--webhook", ID),
    "events resend": (ID,),
    "events show": (ID,),
    "evidence": (),
    "geoip find": ("203.0.113.9",),
    "geoip import": ("{file}",),
    "listen": (),
    "merchant add": ("Shop",),
    "merchant list": (),
    "record": (ID, "--type", "CB"),
    "risk add": (ID, "--kind", "proxy"),
    "risk allow": (ID, "email", "jane@example.com"),
    "risk block": (ID, "email", "jane@example.com"),
    "risk entries": (ID,),
    "risk list": (ID,),
    "risk remove": (ID, ID),
    "risk set": (ID, ID, "--mode", "active"),
    "risk show": (ID, ID),
    "risk try": (ID,),
    "rotate-keys": ("--wait", "0"),
    "route explain": (ID,),
    "route try": ("{file}",),
    "token add": (ID,),
    "token list": (),
    "token revoke": (ID,),
    "token rotate": (ID,),
    "trigger": ("payment.succeeded",),
    "user add": ("jane", "--role", "platform"),
    "user disable": ("jane",),
    "user enable": ("jane",),
    "user list": (),
    "user reset": ("jane",),
    "verify": (),
    "wallet-token": (),
    "webhook add": ("--url", "https://shop.example/hooks"),
    "webhook list": (),
    "webhook pause": (ID,),
    "webhook remove": (ID,),
    "webhook resume": (ID,),
    "webhook rotate": (ID,),
    "webhook set": (ID, "--types", "PAYMENT"),
    "webhook test": (ID,),
}
RETURN = b'<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.02"><BkToCstmrDbtCdtNtfctn/></Document>'


def list_commands(group: click.Group, prefix: str = "") -> list[str]:
    names: list[str] = []
    context = click.Context(group)
    for title in group.list_commands(context):
        command, full = group.get_command(context, title), f"{prefix}{title}"
        names += list_commands(command, f"{full} ") if isinstance(command, click.Group) else [full]
    return names


def test_every_command_is_here_or_needs_no_store() -> None:
    assert sorted(list_commands(program)) == sorted({*ARGUMENTS, *MAKERS, *STORELESS})


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """Files that a command is given, with the keys of some store, in a folder beside the wrong one."""
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "file").write_bytes(RETURN)
    save_keyring(make_keyring(), folder / "keys.json")
    return folder


def run(command: str, given: Path, *store: str, has_keys: bool = True) -> str:
    """Returns the complaint of a command that must not succeed."""
    arguments = [each.format(file=given / "file") for each in ARGUMENTS[command]]
    keys = ["--key-file", str(given / "keys.json")] if has_keys else []
    done = CliRunner().invoke(program, [*command.split(), *arguments, *store, *keys])
    assert done.exit_code != 0, done.output
    if isinstance(done.exception, StoreFault):
        # The program's entry prints it as one line.
        return str(done.exception)
    assert isinstance(done.exception, SystemExit), done.exception
    return done.output


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_folder_without_a_store_is_named_and_left_as_it_was(command: str, tmp_path: Path, given: Path) -> None:
    keys = (given / "keys.json").read_bytes()
    wrong = tmp_path / "wrong"

    assert str(wrong) in run(command, given, "--data", str(wrong))
    assert not wrong.exists()
    wrong.mkdir()
    assert str(wrong) in run(command, given, "--data", str(wrong))
    assert list(wrong.iterdir()) == []
    assert str(wrong) in run(command, given, "--database", f"sqlite:///{wrong}/none.db")
    assert list(wrong.iterdir()) == []
    assert (given / "keys.json").read_bytes() == keys


@pytest.mark.parametrize("command", ARGUMENTS)
def test_the_store_is_named_although_the_key_file_is_missing_too(command: str, tmp_path: Path, given: Path) -> None:
    wrong = tmp_path / "wrong"

    assert f"there is no store tollgate.db in {wrong}" in run(command, given, "--data", str(wrong), has_keys=False)
    assert not wrong.exists()


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_file_without_tables_is_named_and_left_as_it_was(command: str, tmp_path: Path, given: Path) -> None:
    for content in (b"", b"this is not a database, only a text of some length" * 40):
        file = tmp_path / "odd.db"
        file.write_bytes(content)

        assert str(file) in run(command, given, "--database", f"sqlite:///{file}")
        assert file.read_bytes() == content
        assert sorted(each.name for each in tmp_path.iterdir()) == ["given", "odd.db"]
