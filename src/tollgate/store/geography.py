"""Imported countries of addresses and of card ranges: one edition counts, and the next is written beside it.

What a file means is read elsewhere.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa

from tollgate.store.codec import Codec, bind
from tollgate.store.database import Database
from tollgate.store.opening import add_setting, add_to_setting, get_setting, replace_setting
from tollgate.store.schema import BYTES, TEXT, WHOLE, bin_countries, ip_ranges, settings
from tollgate.store.statements import Statement, Write

_ROWS_AT_ONCE = 50
_PURGE_BATCH = 5000
BIN_LENGTHS = (8, 6)
"""The lengths of the first digits of a card by which its country is looked up, the longest first."""


class IpRange(msgspec.Struct, frozen=True):
    edition: int
    first: bytes
    last: bytes
    country: str
    """Two letters; "" where it is not known."""
    is_proxy: bool


class BinCountry(msgspec.Struct, frozen=True):
    edition: int
    bin: str
    country: str


_T = TypeVar("_T", bound=msgspec.Struct)


class Editions(Generic[_T]):
    """The rows of an imported file, which replace those of the file before at one moment."""

    def __init__(self, codec: Codec[_T], name: str) -> None:
        self.codec = codec
        self.current, self._started = f"{name}.current", f"{name}.started"
        table = codec.table
        self.is_current = (
            table.c.edition
            == sa.select(sa.cast(settings.c.value, WHOLE))
            .where(settings.c.name == sa.literal_column(f"'{self.current}'"))
            .scalar_subquery()
        )
        self._insert = codec.insert()
        places = [{each: f"{each}_{place}" for each in codec.names} for place in range(_ROWS_AT_ONCE)]
        self._insert_many = Statement(
            sa.insert(table).values(
                [{each: sa.bindparam(to, type_=table.c[each].type) for each, to in names.items()} for names in places]
            )
        )
        self._purge = codec.purge(table.c.edition)
        self._delete = Statement(sa.delete(table).where(table.c.edition == bind("of", table.c.edition)))

    async def get_current(self, db: Database) -> int:
        """Returns the number of the edition that counts; 0 where nothing was imported."""
        return int(await get_setting(db, self.current, "0"))

    async def begin(self, db: Database) -> int:
        """Returns the number of a new edition, which no other import gets."""
        return await add_to_setting(db, self._started, 1)

    async def add(self, db: Database, rows: Sequence[_T]) -> None:
        """Writes rows of an edition that does not count yet."""
        writes: list[Write] = []
        whole = len(rows) - len(rows) % _ROWS_AT_ONCE
        for start in range(0, whole, _ROWS_AT_ONCE):
            params: dict[str, Any] = {}
            for place, row in enumerate(rows[start : start + _ROWS_AT_ONCE]):
                params |= {f"{name}_{place}": value for name, value in self.codec.encode(row).items()}
            writes.append(Write(self._insert_many, params))
        for row in rows[whole:]:
            writes += self._insert(row)
        await db.write(writes, label="imported rows")

    async def switch(self, db: Database, edition: int) -> bool:
        """Lets an edition count from now on; False if one that was begun later counts already."""
        while (current := await self.get_current(db)) < edition:
            await add_setting(db, self.current, "0")
            if await replace_setting(db, self.current, str(current), str(edition)):
                return True
        return False

    async def drop_before(self, db: Database, edition: int) -> None:
        """Deletes the rows of earlier editions, those of imports that were cut off too."""
        while await self._purge(db, edition, _PURGE_BATCH):
            pass

    async def drop(self, db: Database, edition: int) -> None:
        await db.write([Write(self._delete, {"of_edition": edition})], label="imported rows")


IP_RANGES = Editions(Codec(ip_ranges, IpRange, key=["edition", "first"]), "geoip")
BIN_COUNTRIES = Editions(Codec(bin_countries, BinCountry, key=["edition", "bin"]), "bins")

_find_range = Statement(
    IP_RANGES.codec.select(IP_RANGES.is_current, ip_ranges.c.first <= sa.bindparam("address", type_=BYTES))
    .order_by(ip_ranges.c.first.desc())
    .limit(sa.literal_column("1")),
    is_quick=True,
)
_find_bin = Statement(
    BIN_COUNTRIES.codec.select(
        BIN_COUNTRIES.is_current,
        bin_countries.c.bin.in_([sa.bindparam(f"bin_{length}", type_=TEXT) for length in BIN_LENGTHS]),
    ),
    is_quick=True,
)


async def find_ip_range(db: Database, address: bytes) -> IpRange | None:
    """Finds the range of an address; ranges of an edition do not overlap."""
    found = await IP_RANGES.codec.fetch_one(db, _find_range, {"address": address})
    return found if found is not None and address <= found.last else None


async def find_bin_country(db: Database, digits: str) -> BinCountry | None:
    """Finds the country of the longest card range that begins a number."""
    params = {f"bin_{length}": digits[:length] for length in BIN_LENGTHS}
    found = await BIN_COUNTRIES.codec.fetch(db, _find_bin, params)
    return max(found, key=lambda row: len(row.bin), default=None)
