"""The countries of addresses and of cards, as far as the operator imported them. None are shipped."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TypeVar

from tollgate.contract import country_files
from tollgate.operations.app import App
from tollgate.operations.caches import IpPlace
from tollgate.store.database import Database
from tollgate.store.geography import BIN_COUNTRIES, IP_RANGES, BinCountry, Editions, IpRange


async def find_ip_place(app: App, ip: str | None) -> IpPlace | None:
    """Finds the country of an address, and whether it is an anonymous proxy; None where nothing is known of it."""
    return await app.countries.find_ip_place(app.database, ip) if ip else None


async def find_bin_country(app: App, digits: str | None) -> str | None:
    """Finds the country of the issuer by the first digits of a card, of which 6 or 8 are used."""
    return await app.countries.find_bin_country(app.database, digits) if digits else None


async def follow_imports(app: App) -> int:
    """Forgets what was looked up before an import; a worker of every process does so within seconds."""
    await app.countries.refresh(app.database)
    return 0


_BATCH = 2000
_Row = TypeVar("_Row", IpRange, BinCountry)


async def import_ip_ranges(database: Database, ranges: Iterable[country_files.AddressRange]) -> int:
    """Replaces all ranges and returns how many there are; raises where a newer import was faster, or a line is wrong.

    Nothing changes before all of them are written.
    """
    return await _import(
        database,
        IP_RANGES,
        lambda edition: (
            IpRange(edition, each.first.to_bytes(16), each.last.to_bytes(16), each.country, each.is_proxy)
            for each in country_files.flatten(ranges)
        ),
    )


async def import_bin_countries(database: Database, countries: Mapping[str, str]) -> int:
    return await _import(
        database,
        BIN_COUNTRIES,
        lambda edition: (BinCountry(edition, digits, country) for digits, country in sorted(countries.items())),
    )


async def _import(database: Database, kept: Editions[_Row], make_rows: Callable[[int], Iterable[_Row]]) -> int:
    edition = await kept.begin(database)
    count, is_current = 0, False
    try:
        rows = iter(make_rows(edition))
        while batch := list(islice(rows, _BATCH)):
            await kept.add(database, batch)
            count += len(batch)
        if not count:
            raise country_files.Wrong("there is no country in it")
        is_current = await kept.switch(database, edition)
        if not is_current:
            raise country_files.Wrong("a newer import was completed meanwhile, and it counts")
    finally:
        if not is_current:
            await kept.drop(database, edition)
    await kept.drop_before(database, edition)
    return count
