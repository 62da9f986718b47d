"""The block and allow lists of merchants. What an entry does to a payment is decided elsewhere."""

import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.payments.reporting import BEYOND_ALL, Place
from tollgate.payments.risk import Entry
from tollgate.store.codec import LIMIT, Codec, bind
from tollgate.store.database import Database
from tollgate.store.merchants import change_merchants
from tollgate.store.schema import risk_entries
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId

ENTRIES = Codec(risk_entries, Entry)
find_entry = ENTRIES.find
_delete_entry = ENTRIES.delete()
_is_of_merchant = risk_entries.c.merchant_id == bind("of", risk_entries.c.merchant_id)
_place = (risk_entries.c.created_at, risk_entries.c.id)
_all_entries = Statement(ENTRIES.select().order_by(risk_entries.c.merchant_id, *_place))
_entries_of_merchant = Statement(ENTRIES.select(_is_of_merchant).order_by(*_place))
_newest = Statement(
    ENTRIES.select(_is_of_merchant, sa.tuple_(*_place) < sa.tuple_(*(bind("before", column) for column in _place)))
    .order_by(*(column.desc() for column in _place))
    .limit(LIMIT)
)
_count = Statement(sa.select(sa.func.count()).where(_is_of_merchant))
_UNIQUE = ("merchant_id", "list", "attribute", "value_hash")
_same_value = Statement(ENTRIES.select(*(risk_entries.c[name] == bind("of", risk_entries.c[name]) for name in _UNIQUE)))
_entered = insert(risk_entries).values({name: sa.bindparam(name) for name in ENTRIES.names})
_put_entry = Statement(
    _entered.on_conflict_do_update(
        index_elements=_UNIQUE,
        set_={name: _entered.excluded[name] for name in ("ends_at", "note", "created_at", "created_by")},
    )
)


async def list_all_entries(db: Database) -> list[Entry]:
    return await ENTRIES.fetch(db, _all_entries, {})


async def list_entries(db: Database, merchant_id: MerchantId) -> list[Entry]:
    """Lists the block list and the allow list, oldest first, with the entries that have ended."""
    return await ENTRIES.fetch(db, _entries_of_merchant, {"of_merchant_id": merchant_id})


async def list_newest_entries(
    db: Database, merchant_id: MerchantId, limit: int, *, before: Place | None = None
) -> list[Entry]:
    """Lists entries of both lists, newest first, from a place on where one is given."""
    place = before or BEYOND_ALL
    params = {"of_merchant_id": merchant_id, "before_created_at": place.at, "before_id": place.id, "limit": limit}
    return await ENTRIES.fetch(db, _newest, params)


async def count_entries(db: Database, merchant_id: MerchantId) -> int:
    row = await db.fetch_one(_count, {"of_merchant_id": merchant_id})
    return int(row[0]) if row else 0


async def find_same(db: Database, entry: Entry) -> Entry | None:
    """Finds the entry of the same list and value."""
    values = ENTRIES.encode(entry)
    return await ENTRIES.fetch_one(db, _same_value, {f"of_{name}": values[name] for name in _UNIQUE})


async def put_entry(db: Database, entry: Entry) -> Entry:
    """Adds a value to a list; if it is there already, its end, note and author are replaced, and its id stays."""
    await change_merchants(db, [Write(_put_entry, ENTRIES.encode(entry), 1)])
    # Somebody may have removed it in the meantime.
    return await find_same(db, entry) or entry


async def delete_entry(db: Database, merchant_id: MerchantId, entry_id: str) -> bool:
    """Returns False if there is no such entry."""
    return await change_merchants(db, _delete_entry.by_key(merchant_id, entry_id))
