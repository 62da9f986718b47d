"""The commands serve, credentials, migrate, check and clock.

What a host needs and how it runs is decided in `hosting`.
"""

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import click

from tollgate.catalog.limits import LIMITS
from tollgate.cli.program import STORE_FLAGS, make_data_folder, program, read_settings, with_settings, with_store
from tollgate.config import Settings
from tollgate.flows.verify import refuse_wrong_keys
from tollgate.hosting import listener, readiness
from tollgate.hosting.log import set_up_logs
from tollgate.hosting.server import run
from tollgate.store import merchants, opening, shared_counts
from tollgate.store.database import Database
from tollgate.values import SystemClock, render_timestamp
from tollgate.vault.keyring import load_keyring
from tollgate.wiring import BASE_URL, make_greeting, make_replica, prepare_keyring
from tollgate.workers import move_clock

_log = logging.getLogger("tollgate.server")

_MEASURES_MAX = 5
_MEASURES_EVERY_S = 0.5
"""A standby that has just caught up may be a moment behind."""


@program.command()
@with_settings()
def serve(**flags: Any) -> None:
    """Serve payments until stopped. On a test host the first start makes a sandbox merchant."""
    settings = read_settings(flags)
    _refuse_unready(readiness.list_missing(settings))
    # Before anything is printed or made, so that a port in use ends the command at once.
    sockets = listener.bind_all(settings)
    make_data_folder(settings)
    missing, greeting = with_store(settings, _prepare, exclusive=True)
    _refuse_unready(missing)
    set_up_logs(settings.log_level, settings.log_format)
    for line in readiness.list_warnings(settings):
        click.echo(f"tollgate: warning: {line}", err=True)
        _log.warning("test host without TLS is open to the network", extra={"host": settings.host})
    click.echo(greeting, nl=bool(greeting))
    run(settings, sockets)


def _refuse_unready(missing: list[str]) -> None:
    if missing:
        sys.exit("\n".join(["tollgate: this host is not ready to serve:", *(f"  - {line}" for line in missing)]))


async def _prepare(database: Database, settings: Settings) -> tuple[list[str], str]:
    """Checks the keys of the store; returns what is missing, and the greeting of a test host."""
    keyring = await prepare_keyring(settings, database)
    await refuse_wrong_keys(database, keyring)
    # A Redis that is away stops no host.
    unshared = await _list_unshared(settings, must_be_reached=False)
    if settings.is_live:
        return unshared + await _list_unready(database, settings), ""
    return unshared, (await make_greeting(database, keyring, settings.base_url, SystemClock())).text


async def _list_unshared(settings: Settings, *, must_be_reached: bool) -> list[str]:
    fault = await shared_counts.find_fault(settings.shared) if settings.shared else None
    return [f"--shared: {fault.text}"] if fault and (fault.is_lasting or must_be_reached) else []


async def _list_unready(database: Database, settings: Settings) -> list[str]:
    channels = {channel.id: channel for channel in await merchants.list_channels(database)}
    further = [each for each in await merchants.list_accounts(database) if not each.is_closed]
    views = [*channels.values(), *[each.apply_to(channels[each.channel_id]) for each in further]]
    return readiness.list_unready_channels(settings, views)


async def _list_unread(database: Database, settings: Settings) -> list[str]:
    replica = make_replica(settings, database)
    if replica is None:
        return []
    for _ in range(_MEASURES_MAX):
        await replica.measure()
        if not replica.trouble:
            break
        await asyncio.sleep(_MEASURES_EVERY_S)
    await replica.close()
    return [f"--read-database: {replica.trouble}"] if replica.trouble else []


@program.command()
@with_settings(*STORE_FLAGS)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script to read.")
def credentials(as_json: bool, **flags: Any) -> None:
    """Print what a test host's first payment needs."""
    settings = read_settings(flags)
    if settings.is_live:
        raise click.UsageError("a live host shows no credentials; see `tollgate token`")

    async def show(database: Database, settings: Settings) -> str:
        base_url = await opening.get_setting(database, BASE_URL) or settings.base_url
        greeting = await make_greeting(database, load_keyring(settings.key_path), base_url, SystemClock())
        return greeting.json if as_json else greeting.text

    click.echo(with_store(settings, show))


@program.command()
@with_settings(*STORE_FLAGS)
@click.option(
    "--contract",
    "contracts",
    is_flag=True,
    help="Also make the changes that processes of older releases do not tolerate. Stop these processes first.",
)
def migrate(contracts: bool, **flags: Any) -> None:
    """Bring the store's tables up to date. A new store of a test host gets its key file too.

    Without --contract it makes only changes that running processes of the release before tolerate."""
    settings = read_settings(flags)
    if settings.uses_sqlite:
        make_data_folder(settings)

    async def ensure_keyring(database: Database, settings: Settings) -> list[str]:
        if not settings.is_live and not await merchants.list_merchants(database):
            await prepare_keyring(settings, database)
        return await opening.list_waiting(database)

    waiting = with_store(settings, ensure_keyring, must_exist=False, contracts=contracts)
    click.echo("the store is up to date")
    if waiting:
        click.echo(
            f"{', '.join(waiting)} waits: run `tollgate migrate --contract` when no process of an older release runs"
        )


@program.command()
@with_settings()
def check(**flags: Any) -> None:
    """Tell whether a host with these settings could serve, what is missing, and what may lose payments."""
    settings = read_settings(flags)
    missing, warnings = readiness.list_missing(settings), readiness.list_warnings(settings)
    if not missing:
        # The first start makes the file of the database; a check does not.
        is_new = settings.uses_sqlite and not Path(settings.database_url.removeprefix("sqlite:///")).exists()
        missing, risks = (
            (readiness.list_unready_channels(settings, []), [])
            if is_new
            else with_store(settings, _look_at_store, read_only=True)
        )
        missing += asyncio.run(_list_unshared(settings, must_be_reached=True))
        warnings += risks
    for line in missing:
        click.echo(f"missing: {line}")
    for line in warnings:
        click.echo(f"warning: {line}")
    if missing:
        sys.exit(1)
    click.echo(f"ready: {settings.environment} host on {settings.base_url}")


async def _look_at_store(database: Database, settings: Settings) -> tuple[list[str], list[str]]:
    missing = await _list_unready(database, settings) + await _list_unread(database, settings)
    return missing, await database.list_risks()


@program.command()
@with_settings(*STORE_FLAGS)
@click.option(
    "--advance",
    type=click.IntRange(0, LIMITS.test_clock_advance_s_max),
    help="Move the clock forward by that many seconds.",
)
def clock(advance: int | None, **flags: Any) -> None:
    """Tell the time of a test host, or move it forward."""
    settings = read_settings(flags)
    if settings.is_live:
        raise click.UsageError("a live host has no test clock")

    async def move(database: Database, _settings: Settings) -> str:
        offset = await move_clock(database, advance or 0)
        if offset is None:
            raise click.UsageError(f"a test clock is not moved beyond the year {LIMITS.test_clock_year_max}")
        return render_timestamp(SystemClock(offset).now())

    click.echo(with_store(settings, move))
