"""The journal: masked messages and log lines of payments, written in batches and removed after a while.

What is kept, and how it is masked, is decided elsewhere.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store import database, statements
from tollgate.store.codec import LIMIT, Codec, bind
from tollgate.store.schema import journal
from tollgate.values import Instant, MerchantId


class JournalRow(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    """Ids begin with the time, so that old rows are removed along the key."""
    payment_id: str
    """The payment or the registration that a message is about; empty for a log line."""
    ndc: str
    at: Instant
    kind: str
    text: str
    """JSON."""


JOURNAL = Codec(journal, JournalRow)
ROWS_AT_ONCE = 20


def _make_insert(count: int) -> statements.Statement:
    """Inserts so many rows; a row whose id is taken takes the place of the earlier one."""
    rows: list[dict[str, Any]] = [
        {name: sa.bindparam(f"{name}_{place}") for name in JOURNAL.names} for place in range(count)
    ]
    inserting = insert(journal).values(rows)
    changed = {"at": inserting.excluded.at, "text": inserting.excluded.text}
    return statements.Statement(
        inserting.on_conflict_do_update(index_elements=[journal.c.merchant_id, journal.c.id], set_=changed)
    )


_insert_one, _insert_many = _make_insert(1), _make_insert(ROWS_AT_ONCE)
_of_payment = statements.Statement(
    JOURNAL.select(
        journal.c.merchant_id == bind("of", journal.c.merchant_id),
        journal.c.payment_id == bind("of", journal.c.payment_id),
    )
    .order_by(journal.c.at, journal.c.id)
    .limit(LIMIT)
)
_of_ndc = statements.Statement(
    JOURNAL.select(
        journal.c.ndc == bind("of", journal.c.ndc), journal.c.merchant_id == bind("of", journal.c.merchant_id)
    )
    .order_by(journal.c.at, journal.c.id)
    .limit(LIMIT)
)
_delete = statements.Statement(
    sa.delete(journal).where(
        journal.c.merchant_id == bind("of", journal.c.merchant_id),
        journal.c.payment_id == bind("of", journal.c.payment_id),
    )
)
purge_journal = JOURNAL.purge_timed()


async def insert_rows(
    db: database.Database, rows: Sequence[JournalRow], first: Sequence[statements.Write] = ()
) -> bool:
    """Writes rows with different ids in one commit, many of them with each statement.

    first: the writes that come first in the unit, and undo it if they do not find what they expect.
    """
    whole = len(rows) - len(rows) % ROWS_AT_ONCE
    many = [rows[start : start + ROWS_AT_ONCE] for start in range(0, whole, ROWS_AT_ONCE)]
    writes = [statements.Write(_insert_many, _bind(some)) for some in many]
    writes += [statements.Write(_insert_one, _bind([row])) for row in rows[whole:]]
    return await db.write([*first, *writes], label="journal")


def _bind(rows: Sequence[JournalRow]) -> dict[str, Any]:
    return {f"{name}_{place}": value for place, row in enumerate(rows) for name, value in JOURNAL.encode(row).items()}


async def list_messages(
    db: database.Database, merchant_id: MerchantId, subject_id: str, limit: int
) -> list[JournalRow]:
    """Lists the messages about a payment or a registration, oldest first."""
    params = {"of_merchant_id": merchant_id, "of_payment_id": subject_id, "limit": limit}
    return await JOURNAL.fetch(db, _of_payment, params)


async def list_by_ndc(db: database.Database, merchant_id: MerchantId, ndc: str, limit: int) -> list[JournalRow]:
    """Lists what was noted while a request was answered, oldest first."""
    return await JOURNAL.fetch(db, _of_ndc, {"of_merchant_id": merchant_id, "of_ndc": ndc, "limit": limit})


def delete_messages_write(merchant_id: MerchantId, subject_id: str) -> statements.Write:
    """Removes the messages about a payment or a registration, which may name a person."""
    return statements.Write(_delete, {"of_merchant_id": merchant_id, "of_payment_id": subject_id})
