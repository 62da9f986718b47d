"""The command itself and how its settings are read: flags first, then TOLLGATE_* variables, then defaults.

The commands stand in the files beside this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click

from tollgate import __version__
from tollgate.config import SETTINGS, Environment, Settings, load_settings

_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=Callable[..., Any])

STORE_FLAGS = ("data", "database", "environment", "key_file")
"""What every command that touches the store understands."""

_DATABASES = ("sqlite:///", "postgresql://", "postgres://")


def with_settings(*members: str) -> Callable[[_Command], _Command]:
    """Adds the flags of these settings rows; their values arrive as keyword arguments, None where not given."""
    rows = [row for row in SETTINGS if not members or row.member in members]

    def add_flags(command: _Command) -> _Command:
        for row in reversed(rows):
            command = _flag_for(row.member, row.flag, row.text)(command)
        return command

    return add_flags


def _flag_for(member: str, flag: str, text: str) -> Callable[[_Command], _Command]:
    default = getattr(Settings(), member)
    if isinstance(default, bool):
        return click.option(flag, member, is_flag=True, default=None, help=text)
    if isinstance(default, Environment):
        return click.option(flag, member, type=click.Choice([each.value for each in Environment]), help=text)
    kind = click.FLOAT if isinstance(default, float) else click.INT if isinstance(default, int) else click.STRING
    return click.option(flag, member, type=kind, help=text)


def read_settings(flags: dict[str, Any]) -> Settings:
    try:
        settings = load_settings(flags)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if settings.database and not settings.database.startswith(_DATABASES):
        # The store would take anything else for the name of an embedded file.
        raise click.UsageError(f"a database is one of {', '.join(_DATABASES)}")
    return settings


def make_data_folder(settings: Settings) -> None:
    try:
        settings.data_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot use {settings.data_folder} as data folder: {error.strerror}") from None


def run_async(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(work)


@click.group()
@click.version_option(__version__, prog_name="tollgate")
def program() -> None:
    """Tollgate, a payment gateway that anyone can run."""
