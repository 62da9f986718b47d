"""Imported countries: an edition counts as a whole, whoever imports beside it or is cut off."""

from __future__ import annotations

import pytest

from tollgate.operations.caches import CountryCache, IpPlace, find_address_bytes
from tollgate.store.database import Database
from tollgate.store.geography import BIN_COUNTRIES, IP_RANGES, BinCountry, IpRange

pytestmark = pytest.mark.anyio


def _make_range(edition: int, first: str, last: str, country: str, *, is_proxy: bool = False) -> IpRange:
    ends = find_address_bytes(first), find_address_bytes(last)
    assert ends[0] and ends[1]
    return IpRange(edition, ends[0], ends[1], country, is_proxy)


async def _import(db: Database, *rows: tuple[str, str, str]) -> int:
    edition = await IP_RANGES.begin(db)
    await IP_RANGES.add(db, [_make_range(edition, *row) for row in rows])
    assert await IP_RANGES.switch(db, edition)
    return edition


async def _find(db: Database, ip: str) -> IpPlace | None:
    cache = CountryCache()
    await cache.refresh(db)
    return await cache.find_ip_place(db, ip)


async def test_an_address_is_found_from_the_first_to_the_last_of_its_range(db: Database) -> None:
    await _import(db, ("10.0.0.0", "10.0.0.255", "DE"), ("2001:db8::", "2001:db8::ffff", "AT"))

    assert await _find(db, "10.0.0.0") == await _find(db, "10.0.0.255") == IpPlace("DE", is_proxy=False)
    assert await _find(db, "::ffff:10.0.0.7") == IpPlace("DE", is_proxy=False)
    assert await _find(db, "2001:db8::1") == IpPlace("AT", is_proxy=False)
    for unknown in ("9.255.255.255", "10.0.1.0", "2001:db8:1::", "::10.0.0.1", "not an address", "\x00", "10.0.0.01"):
        assert await _find(db, unknown) is None


async def test_many_rows_are_written_in_the_units_they_came_in(db: Database) -> None:
    edition = await IP_RANGES.begin(db)
    rows = [_make_range(edition, f"10.0.{n}.0", f"10.0.{n}.9", "DE") for n in range(123)]
    await IP_RANGES.add(db, rows)
    assert await IP_RANGES.switch(db, edition)

    assert [await _find(db, f"10.0.{n}.5") for n in (0, 49, 50, 122)] == [IpPlace("DE", is_proxy=False)] * 4


async def test_an_import_that_was_cut_off_changes_nothing_and_its_rows_go_with_the_next(db: Database) -> None:
    await _import(db, ("10.0.0.0", "10.0.0.255", "DE"))
    cut_off = await IP_RANGES.begin(db)
    await IP_RANGES.add(db, [_make_range(cut_off, "10.0.0.0", "10.0.0.255", "FR")])

    assert await _find(db, "10.0.0.1") == IpPlace("DE", is_proxy=False)

    edition = await _import(db, ("10.0.0.0", "10.0.0.255", "AT"))
    await IP_RANGES.drop_before(db, edition)
    assert await _find(db, "10.0.0.1") == IpPlace("AT", is_proxy=False)
    assert await IP_RANGES.codec.fetch(db, IP_RANGES.codec.by_key, IP_RANGES.codec.make_key(cut_off, b"")) == []


async def test_of_two_imports_at_once_the_one_that_was_begun_later_counts(db: Database) -> None:
    earlier = await IP_RANGES.begin(db)
    await _import(db, ("10.0.0.0", "10.0.0.255", "DE"))
    await IP_RANGES.add(db, [_make_range(earlier, "10.0.0.0", "10.0.0.255", "FR")])

    assert not await IP_RANGES.switch(db, earlier)
    await IP_RANGES.drop(db, earlier)
    assert await _find(db, "10.0.0.1") == IpPlace("DE", is_proxy=False)


async def test_a_process_forgets_what_it_looked_up_when_another_imports(db: Database) -> None:
    cache = CountryCache()
    await _import(db, ("10.0.0.0", "10.0.0.255", "DE"))
    await cache.refresh(db)
    assert await cache.find_ip_place(db, "10.0.0.1") == IpPlace("DE", is_proxy=False)

    await _import(db, ("10.0.0.0", "10.0.0.255", "FR"))
    assert await cache.find_ip_place(db, "10.0.0.1") == IpPlace("DE", is_proxy=False)
    await cache.refresh(db)
    assert await cache.find_ip_place(db, "10.0.0.1") == IpPlace("FR", is_proxy=False)


async def test_the_longest_card_range_that_begins_a_number_decides(db: Database) -> None:
    edition = await BIN_COUNTRIES.begin(db)
    rows = [BinCountry(edition, "420000", "US"), BinCountry(edition, "42000012", "DE")]
    await BIN_COUNTRIES.add(db, rows)
    assert await BIN_COUNTRIES.switch(db, edition)
    cache = CountryCache()
    await cache.refresh(db)

    assert await cache.find_bin_country(db, "420000") == "US"
    assert await cache.find_bin_country(db, "42000012") == "DE"
    assert await cache.find_bin_country(db, "42000013") == "US"
    assert await cache.find_bin_country(db, "4") is None
