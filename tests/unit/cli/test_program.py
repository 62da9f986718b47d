"""The command itself: every setting is a flag, and faults are reported before anything is changed."""

from __future__ import annotations

import importlib
import pkgutil
from itertools import chain
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import tollgate.cli
from tollgate.catalog.limits import LIMITS
from tollgate.cli.program import COMMANDS, program, read_settings
from tollgate.config import SETTINGS


def invoke(*command: str) -> tuple[int, str]:
    done = CliRunner().invoke(program, list(command))
    return done.exit_code, done.output


def test_serve_understands_every_setting() -> None:
    _, shown = invoke("serve", "--help")

    assert all(setting.flag in shown for setting in SETTINGS)


def list_files(command: click.Command) -> set[str]:
    """Returns the files in which a command and those below it are written."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return {str(command.callback.__module__).rpartition(".")[2], *chain(*map(list_files, below))}


def test_a_command_is_loaded_with_everything_below_it() -> None:
    for module in pkgutil.iter_modules(tollgate.cli.__path__):
        importlib.import_module(f"tollgate.cli.{module.name}")

    assert {name: list_files(command) for name, command in program.commands.items()} == {
        name: set(files) for name, files in COMMANDS.items()
    }


@pytest.mark.parametrize(
    "command",
    [
        "serve",
        "credentials",
        "migrate",
        "check",
        "clock",
        "rotate-keys",
        "make-keys",
        "verify",
        "merchant",
        "channel",
        "token",
        "bank",
    ],
)
def test_every_command_explains_itself(command: str) -> None:
    code, shown = invoke(command, "--help")

    assert code == 0
    assert len(shown.splitlines()) > 3


@pytest.mark.parametrize("database", ["mysql://host/x", "tollgate.db", "http://host"])
def test_a_database_is_named_by_an_address_of_a_known_kind(database: str, tmp_path: Path) -> None:
    code, shown = invoke("migrate", "--data", str(tmp_path), "--database", database)

    assert code == 2
    assert "sqlite:///" in shown


@pytest.mark.parametrize("database", ["sqlite:///x.db", "postgresql://host/x", "postgres://host/x"])
def test_known_kinds_are_taken(database: str) -> None:
    assert read_settings({"database": database}).database == database


def test_a_clock_does_not_go_back(tmp_path: Path) -> None:
    code, _ = invoke("clock", "--data", str(tmp_path), "--advance", "-1")

    assert code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_clock_ends_before_dates_do(tmp_path: Path) -> None:
    assert invoke("migrate", "--data", str(tmp_path))[0] == 0
    moves = [
        invoke("clock", "--data", str(tmp_path), "--advance", str(LIMITS.test_clock_advance_s_max)) for _ in range(11)
    ]

    assert [code for code, _ in moves] == [*[0] * 9, 2, 2]
    assert "2999" in moves[-1][1]
    assert invoke("clock", "--data", str(tmp_path))[0] == 0


def test_a_live_host_has_no_credentials_to_show(tmp_path: Path) -> None:
    for command in ("credentials", "clock"):
        code, shown = invoke(command, "--data", str(tmp_path), "--environment", "live")

        assert code == 2
        assert "live host" in shown
    assert list(tmp_path.iterdir()) == []


def test_keys_cannot_be_rotated_where_there_are_none(tmp_path: Path) -> None:
    code, _ = invoke("rotate-keys", "--data", str(tmp_path))

    assert code == 1
    assert list(tmp_path.iterdir()) == []
