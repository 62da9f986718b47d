"""The command itself and how its settings are read: flags first, then TOLLGATE_* variables, then defaults.

The commands stand in the files beside this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click

from tollgate import __version__
from tollgate.config import SETTINGS, Settings, load_settings
from tollgate.web.callers import configure_throttles

_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=Callable[..., Any])

STORE_FLAGS = ("data", "database", "environment", "key_file", "allow_plain_loopback")
"""What every command that touches the store understands."""


def with_settings(*members: str) -> Callable[[_Command], _Command]:
    """Adds the flags of these settings rows; their values arrive as keyword arguments, None where not given."""
    rows = [row for row in SETTINGS if not members or row.member in members]

    def add_flags(command: _Command) -> _Command:
        for row in reversed(rows):
            command = _flag_for(row.member, row.flag, row.text)(command)
        return command

    return add_flags


def _flag_for(member: str, flag: str, text: str) -> Callable[[_Command], _Command]:
    """Leaves it to the row to judge the value, so that a flag and its variable are refused in the same words."""
    default = getattr(Settings(), member)
    if isinstance(default, bool):
        return click.option(flag, member, is_flag=True, default=None, help=text)
    kind = "NUMBER" if isinstance(default, int | float) else "TEXT"
    return click.option(flag, member, metavar=kind, help=text)


def read_settings(flags: dict[str, Any]) -> Settings:
    try:
        settings = load_settings(flags)
        configure_throttles(settings.throttles)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
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
