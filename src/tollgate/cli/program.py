"""The command itself, how its settings are read (flags, then TOLLGATE_* variables, then defaults), and its store.

The commands are in the files beside this one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, TypeVar

import click

from tollgate import __version__
from tollgate.catalog.audit_actions import AuditAction
from tollgate.config import SETTINGS, Settings, load_settings
from tollgate.operations import audit_log
from tollgate.operations.app import App
from tollgate.operations.approvals import read_four_eyes
from tollgate.operations.audit_log import Actor
from tollgate.store import opening
from tollgate.store.database import Database
from tollgate.values import InvalidParameters, Refusal, SystemClock
from tollgate.vault.keyring import Keyring
from tollgate.web.throttling import configure_throttles
from tollgate.wiring import open_app

_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=Callable[..., Any])

STORE_FLAGS = ("data", "database", "environment", "key_file", "allow_plain_loopback")
"""The settings of every command that opens the store."""

SENDING_FLAGS = (*STORE_FLAGS, "outbound_ports", "outbound_ca")
"""The settings of every command that also sends to addresses that merchants gave."""


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
        read_four_eyes(settings.four_eyes, is_live=settings.is_live)
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


def spell_option(name: str) -> str:
    """Returns the option of a parameter: `--payment-types` for `paymentTypes`, `--expires-days` for `expires_days`."""
    hyphened = "".join(f"-{each.lower()}" if each.isupper() else each for each in name)
    return f"--{hyphened.replace('_', '-')}"


def with_app(settings: Settings | dict[str, Any], work: Callable[[App], Awaitable[_T]]) -> _T:
    """Runs a command's work with everything that flows need; what they refuse is printed in one line."""
    chosen = settings if isinstance(settings, Settings) else read_settings(settings)

    async def run() -> _T:
        # The store first: a wrong folder lacks the keys too, and the message about the store names the folder.
        async with open_store(chosen, read_only=True):
            pass
        app, wires = await open_app(chosen, exclusive=False)
        try:
            await app.merchants.refresh(app.database)
            return await work(app)
        finally:
            await wires.close()
            await app.database.close()

    try:
        return asyncio.run(run())
    except InvalidParameters as invalid:
        lines = [f"{spell_option(fault.name)}: {fault.message}" for fault in invalid.faults]
        raise click.UsageError("\n".join(lines)) from None
    except Refusal as refusal:
        sys.exit(f"tollgate: {refusal.detail or refusal.result.description}")


async def record(
    database: Database, keyring: Keyring, action: AuditAction, subject: str, merchant_id: str = "", /, **details: str
) -> None:
    """Writes a line of the audit log about a command of the operator; call it before the action that it records."""
    await audit_log.record(
        database,
        keyring,
        SystemClock(),
        Actor(name="operator"),
        action,
        subject=subject,
        merchant_id=merchant_id,
        details=details,
    )


COMMANDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("serve", "credentials", "migrate", "check", "clock"), ("serving",)),
    **dict.fromkeys(("account", "route"), ("accounts",)),
    **dict.fromkeys(("iso8583", "acquirer-host"), ("acquirers",)),
    **dict.fromkeys(("backup", "restore"), ("backups",)),
    **dict.fromkeys(("bins", "geoip"), ("countries",)),
    **dict.fromkeys(("make-keys", "rotate-keys", "key-archive"), ("keys",)),
    "archive": ("archiving",),
    "bank": ("bank",),
    "channel": ("people", "acquirers", "wallets"),
    "decrypt": ("webhooks",),
    "dispatch": ("dispatching",),
    "erase": ("erasing",),
    "events": ("events",),
    "evidence": ("evidence",),
    "listen": ("listening",),
    "merchant": ("people",),
    "openapi": ("describing",),
    "record": ("recording",),
    "risk": ("risk", "risk_try"),
    "sandbox": ("sandbox",),
    "token": ("tokens",),
    "trigger": ("triggering",),
    "user": ("users",),
    "verify": ("auditing",),
    "wallet-token": ("wallets",),
    "webhook": ("endpoints",),
}
"""The files that add each command, and the commands below it."""


class Program(click.Group):
    """A group whose commands are loaded when they are run, so that a host does not start with those of operators."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        for name in COMMANDS:
            _load(name)
        return super().list_commands(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _load(args[0])
        return super().resolve_command(ctx, args)


def _load(command: str) -> None:
    for file in COMMANDS.get(command, ()):
        import_module(f"tollgate.cli.{file}")


@click.group(cls=Program)
@click.version_option(__version__, prog_name="tollgate")
def program() -> None:
    """Tollgate, a payment gateway that anyone can run."""
