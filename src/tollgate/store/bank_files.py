"""Files for banks: written once, sealed, one for each creditor, scheme, day and sequence. What they say is sealed."""

from datetime import date

import msgspec
import sqlalchemy as sa

from tollgate.store.codec import Codec, bind
from tollgate.store.database import Database
from tollgate.store.retention import SealedColumn
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


BANK_FILES = Codec(bank_files, BankFile)
SEALED = SealedColumn(bank_files, bank_files.c.sealed_body)

# A neighbour's file for the same day is no fault: whoever comes second writes nothing at all.
_insert = BANK_FILES.insert("sealed_body", ignores_taken=True)
list_bank_files = BANK_FILES.make_list("due_on", "id")
_find = Statement(BANK_FILES.select(bank_files.c.id == sa.bindparam("id")))
_find_sealed = Statement(sa.select(bank_files.c.sealed_body).where(*BANK_FILES.is_it))
_mark = BANK_FILES.update(bank_files.c.exported_at.is_(None), new=["exported_at"])
_group = [bank_files.c[name] for name in ("merchant_id", "channel_id", "scheme", "sequence")]
_days = Statement(
    sa.select(bank_files.c.due_on).where(
        *[column == bind("of", column) for column in _group], bank_files.c.due_on >= sa.bindparam("since")
    )
)


def insert_bank_file_writes(file: BankFile, sealed_body: bytes) -> list[Write]:
    """The unit is undone where the day has its file already."""
    return _insert(file, sealed_body=sealed_body)


async def find_bank_file(db: Database, file_id: str) -> BankFile | None:
    """Finds a file for an operator, who names it without its merchant."""
    return await BANK_FILES.fetch_one(db, _find, {"id": file_id})


async def find_sealed_body(db: Database, merchant_id: MerchantId, file_id: str) -> bytes | None:
    row = await db.fetch_one(_find_sealed, BANK_FILES.make_key(merchant_id, file_id))
    return None if row is None else bytes(row[0])


async def get_sealed_body(db: Database, file: BankFile) -> bytes:
    sealed = await find_sealed_body(db, file.merchant_id, file.id)
    if sealed is None:
        raise LookupError(f"there is no file {file.id}")
    return sealed


async def mark_exported(db: Database, file: BankFile, at: Instant) -> bool:
    """Returns False if the file was exported before."""
    return await db.write(_mark(file, new_exported_at=at), label="bank file exported")


async def list_file_days(
    db: Database, merchant_id: MerchantId, channel_id: ChannelId, scheme: str, sequence: str, since: date
) -> set[date]:
    """Lists the days from `since` on that have their file already."""
    params = {
        "of_merchant_id": merchant_id,
        "of_channel_id": channel_id,
        "of_scheme": scheme,
        "of_sequence": sequence,
        "since": since.isoformat(),
    }
    return {date.fromisoformat(row[0]) for row in await db.fetch(_days, params)}
