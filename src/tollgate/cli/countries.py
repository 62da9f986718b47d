"""The commands geoip and bins, which import the countries of addresses and of card ranges, and look one up.

No such file is shipped; how they are read is known to `contract`.
"""

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.program import STORE_FLAGS, program, record, with_app, with_settings, with_store
from tollgate.config import Settings
from tollgate.contract import country_files
from tollgate.operations import geography
from tollgate.operations.app import App
from tollgate.store.database import Database
from tollgate.vault.keyring import load_keyring

NOT_READ, NOT_FOUND = 2, 1
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@program.group()
def geoip() -> None:
    """The countries of IP addresses."""


@program.group()
def bins() -> None:
    """The countries of card ranges."""


def _open(path: Path, stack: ExitStack) -> Iterator[str]:
    # A byte that is no UTF-8 can only spoil the cell that has it, and is then refused with its line.
    return stack.enter_context(path.open(encoding="utf-8-sig", errors="replace", newline=""))


def _run(flags: dict[str, Any], what: str, paths: tuple[Path, ...], take: Callable[[Database], Awaitable[int]]) -> None:
    """Imports files; where they cannot be read, nothing changes, and the exit status is 2."""

    async def run(database: Database, settings: Settings) -> int:
        keyring = load_keyring(settings.key_path)
        count = await take(database)
        names = ", ".join(path.name for path in paths)
        await record(database, keyring, AuditAction.COUNTRIES_IMPORTED, what, files=names[:200], rows=str(count))
        return count

    try:
        count = with_store(flags, run)
    except country_files.Wrong as fault:
        click.echo(f"tollgate: {fault}; nothing was imported", err=True)
        sys.exit(NOT_READ)
    click.echo(f"{count} {what} imported")


@geoip.command("import")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@with_settings(*STORE_FLAGS)
def import_ranges(files: tuple[Path, ...], **flags: Any) -> None:
    """Replace all IP ranges by those of these CSV files: start,end,country; network,country; or MaxMind's blocks and
    locations.

    A file that cannot be read changes nothing.
    """

    def read(stack: ExitStack) -> Iterator[country_files.AddressRange]:
        places: dict[str, str] = {}
        blocks: list[Path] = []
        for path in files:
            if not path.is_file():
                raise country_files.Wrong(f"{path.name} must be a file and no pipe, because it is read twice")
            found = country_files.read_locations(path.name, _open(path, stack))
            places |= found or {}
            blocks += [] if found else [path]
        for path in blocks:
            yield from country_files.read_ranges(path.name, _open(path, stack), places)

    async def take(database: Database) -> int:
        with ExitStack() as stack:
            return await geography.import_ip_ranges(database, read(stack))

    _run(flags, "IP ranges", files, take)


@bins.command("import")
@click.argument("file", type=_FILE)
@with_settings(*STORE_FLAGS)
def import_bins(file: Path, **flags: Any) -> None:
    """Replace all card ranges by those of a CSV file: bin,country, or columns with these names.

    A file that cannot be read changes nothing.
    """

    async def take(database: Database) -> int:
        with ExitStack() as stack:
            return await geography.import_bin_countries(
                database, country_files.read_bins(file.name, _open(file, stack))
            )

    _run(flags, "card ranges", (file,), take)


def _show(flags: dict[str, Any], find: Callable[[App], Awaitable[str | None]]) -> None:
    async def run(app: App) -> str | None:
        await geography.follow_imports(app)
        return await find(app)

    found = with_app(flags, run)
    click.echo(found or "unknown")
    if found is None:
        sys.exit(NOT_FOUND)


@geoip.command("find")
@click.argument("address")
@with_settings(*STORE_FLAGS)
def find_address(address: str, **flags: Any) -> None:
    """Print the country of an IP address, and whether it is an anonymous proxy."""

    async def find(app: App) -> str | None:
        place = await geography.find_ip_place(app, address)
        return None if place is None else (place.country or "unknown") + ", anonymous proxy" * place.is_proxy

    _show(flags, find)


@bins.command("find")
@click.argument("digits")
@with_settings(*STORE_FLAGS)
def find_digits(digits: str, **flags: Any) -> None:
    """Print the country of the cards that begin with these digits."""
    _show(flags, lambda app: geography.find_bin_country(app, digits))
