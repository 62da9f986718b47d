"""The command itself, how its settings are read (flags, then TOLLGATE_* variables, then defaults), and its store.

The commands are in the files beside this one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import click

from tollgate import __version__
from tollgate.config import SETTINGS, Settings, load_settings
from tollgate.store import opening
from tollgate.store.database import Database
from tollgate.web.callers import configure_throttles

_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=Callable[..., Any])

STORE_FLAGS = ("data", "database", "environment", "key_file", "allow_plain_loopback")
"""The settings of every command that opens the store."""


def with_settings(*members: str) -> Callable[[_Command], _Command]:
    """Adds the flags of these settings rows; their values arrive as keyword arguments, None where not given."""

    def add_flags(command: _Command) -> _Command:
        for row in reversed(SETTINGS):
            if not members or row.member in members:
                default = getattr(Settings(), row.member)
                # The row checks the value, so that a flag and its variable are refused in the same words.
                kind = "NUMBER" if isinstance(default, int | float) else "TEXT"
                is_flag = isinstance(default, bool)
                command = click.option(
                    row.flag, row.member, is_flag=is_flag, default=None, metavar=kind, help=row.text
                )(command)
        return command

    return add_flags


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


@asynccontextmanager
async def open_store(settings: Settings, **how: bool) -> AsyncIterator[Database]:
    """how: the keyword arguments of `open_database`; without any, the store must exist, and is never made."""
    database = await opening.open_database(settings.database_url, **how or {"must_exist": True})
    try:
        yield database
    finally:
        await database.close()


def with_store(
    settings: Settings | dict[str, Any], work: Callable[[Database, Settings], Awaitable[_T]], **how: bool
) -> _T:
    """Runs a command's work on the store that these settings, or flags, name."""
    chosen = settings if isinstance(settings, Settings) else read_settings(settings)

    async def run() -> _T:
        async with open_store(chosen, **how) as database:
            return await work(database, chosen)

    return asyncio.run(run())


@click.group()
@click.version_option(__version__, prog_name="tollgate")
def program() -> None:
    """Tollgate, a payment gateway that anyone can run."""
