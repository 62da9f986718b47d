"""Archived months and the places of their payments; chains that are closed, read as lines, and removed.

The files themselves are in `vault`. Which chains are archived is decided in `flows`.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic

import msgspec
import orjson
import sqlalchemy as sa

from tollgate.payments.archiving import ArchivedMonth, MonthState
from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment
from tollgate.payments.webhooks import DeliveryAttempt
from tollgate.store import schema
from tollgate.store.codec import Codec, T, bind, is_among_ids, spread_ids
from tollgate.store.database import Database
from tollgate.store.deliveries import ATTEMPTS
from tollgate.store.events import EVENTS, Event
from tollgate.store.hot import Row
from tollgate.store.payments import ENTRIES, PAYMENTS
from tollgate.store.schema import archived_payments, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId

MONTHS = Codec(schema.archived_months, ArchivedMonth, key=["month", "part"])
list_archived_months = MONTHS.make_list("month", "part")
insert_month_writes = MONTHS.insert()
_set_state = MONTHS.update(
    seen=["state", "proof"], new=["state", "chains", "payments", "archived_at", "accounts", "proof", "next_proof"]
)
_delete_month = MONTHS.delete(seen=["state"])


_newest = Statement(
    sa.select(sa.func.max(schema.archived_months.c.month)).where(
        schema.archived_months.c.state >= sa.literal_column(str(int(MonthState.WRITTEN)))
    )
)


async def find_newest_month(db: Database) -> str | None:
    """Returns the last month of which a part was archived."""
    row = await db.fetch_one(_newest, {})
    return None if row is None else row[0]


def change_month_writes(seen: ArchivedMonth, new: ArchivedMonth) -> list[Write]:
    """The unit is undone where the part was changed since it was read."""
    return _set_state(seen, new)


def keep_month_writes(seen: ArchivedMonth) -> list[Write]:
    """Changes nothing; the unit is undone where the part was changed since it was read."""
    return _set_state(seen, seen)


def delete_month_writes(seen: ArchivedMonth) -> list[Write]:
    return _delete_month(seen)


# ---- where a payment is ----


class ArchivedPayment(msgspec.Struct, frozen=True):
    """The place of a payment that is in no table of payments any more."""

    merchant_id: MerchantId
    id: str
    month: str
    part: int


PLACES = Codec(archived_payments, ArchivedPayment)
_places_by_ids = Statement(
    PLACES.select(
        archived_payments.c.merchant_id == bind("of", archived_payments.c.merchant_id),
        is_among_ids(archived_payments.c.id),
    )
)
_count_places = Statement(
    sa.select(archived_payments.c.month, archived_payments.c.part, sa.func.count()).group_by(
        archived_payments.c.month, archived_payments.c.part
    )
)

find_archived = PLACES.find


async def list_places(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[ArchivedPayment]:
    """Lists the places of those payments that were archived."""
    params = {"of_merchant_id": merchant_id}
    return [PLACES.decode(row) for _, some in spread_ids(ids) for row in await db.fetch(_places_by_ids, params | some)]


async def count_places(db: Database) -> dict[tuple[str, int], int]:
    """Counts the archived payments of each part."""
    return {(month, part): count for month, part, count in await db.fetch(_count_places, {})}


# ---- chains ----

ARCHIVED_TABLES: Mapping[str, sa.Table] = {
    str(table.name): table for table in (schema.payments, schema.ledger, schema.outbox, schema.delivery_attempts)
}
_LEFT_OUT = {payments.c.sealed_account}
"""Nothing follows an archived payment, so nobody needs its account: it is wiped, and no key is needed for it later."""
COLUMNS = {
    name: tuple(column for column in table.columns if column not in _LEFT_OUT)
    for name, table in ARCHIVED_TABLES.items()
}
# Plain texts, because the names of columns that are words of SQL are of a type of their own.
_NAMES = {name: tuple(str(column.name) for column in columns) for name, columns in COLUMNS.items()}


def _list_bytes(columns: Iterable[sa.Column[Any]]) -> frozenset[str]:
    return frozenset(str(column.name) for column in columns if isinstance(column.type, sa.LargeBinary))


_BYTES = {name: _list_bytes(columns) for name, columns in COLUMNS.items()}


class _Reader(Generic[T]):
    """Reads the struct of a row from a line."""

    def __init__(self, codec: Codec[T]) -> None:
        self._codec = codec
        bytes_names = _list_bytes(codec.columns)
        self._bytes_at = [codec.at[name] for name in sorted(bytes_names)]

    def __call__(self, values: Mapping[str, Any]) -> T:
        row = [values.get(name) for name in self._codec.names]
        for place in self._bytes_at:
            text = row[place]
            if text is not None:
                row[place] = base64.b64decode(text, validate=True)
        return self._codec.decode(tuple(row))


_read_payment, _read_entry, _read_event = _Reader(PAYMENTS), _Reader(ENTRIES), _Reader(EVENTS)
_read_attempt = _Reader(ATTEMPTS)


class ChainRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a chain by table, as its line in the file has them: columns by name, without those that are NULL."""

    merchant_id: MerchantId
    first_id: str
    payments: list[dict[str, Any]]
    ledger_entries: list[dict[str, Any]]
    outbox: list[dict[str, Any]]
    delivery_attempts: list[dict[str, Any]]

    def list_rows(self, table: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = getattr(self, table)
        return rows

    def list_ids(self, table: str) -> list[str]:
        return [row["id"] for row in self.list_rows(table)]

    def read_payments(self) -> list[Payment]:
        """Reads the payments, or raises one of `UNREADABLE`."""
        return [_read_payment(row) for row in self.payments]

    def read_entries(self) -> list[Entry]:
        return [_read_entry(row) for row in self.ledger_entries]

    def read_events(self) -> list[Event]:
        return [_read_event(row) for row in self.outbox]

    def read_attempts(self) -> list[DeliveryAttempt]:
        return [_read_attempt(row) for row in self.delivery_attempts]


_read_chain_rows = msgspec.json.Decoder(ChainRows).decode


def encode_row(table: str, row: Row) -> dict[str, Any]:
    """Returns the values of the row's columns as a line has them."""
    values = {name: value for name, value in zip(_NAMES[table], row, strict=True) if value is not None}
    for name in _BYTES[table] & values.keys():
        values[name] = base64.b64encode(values[name]).decode()
    return values


def render_chain(chain: ChainRows) -> bytes:
    """Returns the line of a chain, without its end."""
    return orjson.dumps(msgspec.structs.asdict(chain))


def read_chain(line: bytes) -> ChainRows:
    """Reads a line, or raises one of `UNREADABLE`."""
    return _read_chain_rows(line)


def replace_payment(row: Mapping[str, Any], payment: Payment) -> dict[str, Any]:
    """Returns a row of a line with the values of another payment; columns that are none of its members stay."""
    changed = PAYMENTS.encode(payment)
    return encode_row("payments", tuple(changed.get(name, row.get(name)) for name in _NAMES["payments"]))
