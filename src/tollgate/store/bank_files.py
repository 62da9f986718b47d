"""Files for banks: written once, sealed, one for each creditor, scheme, day and sequence. What they say is sealed."""

from __future__ import annotations

from datetime import date

import msgspec
import sqlalchemy as sa

from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.retention import is_after, is_sealed_otherwise, make_page_params
from tollgate.store.schema import bank_files
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Instant, MerchantId


class BankFile(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    channel_id: ChannelId
    scheme: str
    due_on: date
    sequence: str
    currency: str
    entries: int
    total: int
    created_at: Instant
    exported_at: Instant | None = None


class SealedFile(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str
    sealed: bytes


_MEMBERS = BankFile.__struct_fields__
_COLUMNS = [bank_files.c[name] for name in _MEMBERS]
_names = (*_MEMBERS, "sealed_body")
# A neighbour's file for the same day is no fault: whoever comes second writes nothing at all.
_insert = Statement(
    sa.text(
        f"INSERT INTO bank_files ({', '.join(_names)}) VALUES ({', '.join(f':{name}' for name in _names)}) "
        "ON CONFLICT DO NOTHING"
    ),
    is_write=True,
)
_list = Statement(sa.select(*_COLUMNS).order_by(bank_files.c.due_on, bank_files.c.id))
_find = Statement(sa.select(*_COLUMNS).where(bank_files.c.id == sa.bindparam("id")))
_by_key = (bank_files.c.merchant_id == sa.bindparam("of_merchant_id"), bank_files.c.id == sa.bindparam("file_id"))
_get_sealed = Statement(sa.select(bank_files.c.sealed_body).where(*_by_key))
_mark = Statement(
    sa.update(bank_files).where(*_by_key, bank_files.c.exported_at.is_(None)).values(exported_at=sa.bindparam("at"))
)
_days = Statement(
    sa.select(bank_files.c.due_on).where(
        bank_files.c.merchant_id == sa.bindparam("of_merchant_id"),
        bank_files.c.channel_id == sa.bindparam("of_channel_id"),
        bank_files.c.scheme == sa.bindparam("of_scheme"),
        bank_files.c.sequence == sa.bindparam("of_sequence"),
        bank_files.c.due_on >= sa.bindparam("since"),
    )
)


def insert_bank_file_writes(file: BankFile, sealed_body: bytes) -> list[Write]:
    """The unit is undone where the day has its file already."""
    row = msgspec.structs.asdict(file) | {"due_on": file.due_on.isoformat(), "sealed_body": sealed_body}
    return [Write(_insert, row, rows=1)]


async def list_bank_files(db: Database) -> list[BankFile]:
    """All of them, by the day they are due."""
    return [_read(row) for row in await db.fetch(_list, {})]


async def find_bank_file(db: Database, file_id: str) -> BankFile | None:
    """For an operator, who names a file without its merchant."""
    row = await db.fetch_one(_find, {"id": file_id})
    return None if row is None else _read(row)


async def get_sealed_body(db: Database, file: BankFile) -> bytes:
    row = await db.fetch_one(_get_sealed, {"of_merchant_id": file.merchant_id, "file_id": file.id})
    if row is None:
        raise LookupError(f"there is no file {file.id}")
    return bytes(row[0])


async def mark_exported(db: Database, file: BankFile, at: Instant) -> bool:
    """False: it was taken out before."""
    return await db.write(
        [Write(_mark, {"of_merchant_id": file.merchant_id, "file_id": file.id, "at": at}, rows=1)],
        label="bank file exported",
    )


async def list_file_days(
    db: Database, merchant_id: MerchantId, channel_id: ChannelId, scheme: str, sequence: str, since: date
) -> set[date]:
    """Days from then on that have their file already."""
    params = {
        "of_merchant_id": merchant_id,
        "of_channel_id": channel_id,
        "of_scheme": scheme,
        "of_sequence": sequence,
        "since": since.isoformat(),
    }
    return {date.fromisoformat(row[0]) for row in await db.fetch(_days, params)}


# ---- under another key ----

_KEY = (bank_files.c.merchant_id, bank_files.c.id)
_sealed_otherwise = Statement(
    sa.select(*_KEY, bank_files.c.sealed_body)
    .where(is_sealed_otherwise(bank_files.c.sealed_body), is_after(*_KEY))
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
_rewrap = Statement(
    sa.update(bank_files)
    .where(*_by_key, bank_files.c.sealed_body == sa.bindparam("old"))
    .values(sealed_body=sa.bindparam("new"))
)


async def list_sealed_files(
    db: Database, after: SealedFile | None, active_prefix: bytes, limit: int
) -> list[SealedFile]:
    """Files whose first bytes are not those of the active key, in the order of the primary key."""
    rows = await db.fetch(_sealed_otherwise, make_page_params(after, active_prefix, limit))
    return [SealedFile(*row) for row in rows]


async def rewrap_file(db: Database, file: SealedFile, new: bytes) -> bool:
    """The same file under another key. False: it was changed meanwhile."""
    of = {"of_merchant_id": file.merchant_id, "file_id": file.id}
    return await db.write([Write(_rewrap, {**of, "old": file.sealed, "new": new}, rows=1)], label="key rotation")


def _read(row: Row) -> BankFile:
    named = dict(zip(_MEMBERS, row, strict=True))
    return BankFile(**{**named, "due_on": date.fromisoformat(named["due_on"])})
