"""Walking what single payment methods keep beside payments: authentications, instructions, files for banks. Only reads.

Rows are given as they are found, in the words and numbers of the store; what is wrong with them is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec
import sqlalchemy as sa

from tollgate.store.audit import fetch_by_ids, look_up, make_row, walk_pages, walk_table
from tollgate.store.codec import is_among_ids
from tollgate.store.database import Database
from tollgate.store.schema import authentications, bank_files, instructions
from tollgate.store.statements import Statement
from tollgate.values import Instant, MerchantId


class AuditedAuthentication(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str
    stage: int
    created_at: Instant
    expires_at: Instant
    body: str
    mac: bytes | None
    sealed_secret: bytes | None


class AuditedInstruction(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str
    channel_id: str
    state: int
    direction: str
    amount: int
    currency: str
    account_of: str
    file_id: str | None


class AuditedFile(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str
    channel_id: str
    scheme: str
    due_on: str
    sequence: str
    currency: str
    entries: int
    total: int


class FiledGroup(msgspec.Struct, frozen=True):
    """Instructions that name the same file and are alike; a file that is right has one such group."""

    file_id: str
    state: int
    channel_id: str
    direction: str
    due_on: str
    sequence: str
    currency: str
    entries: int
    total: int


_AUTHENTICATION = AuditedAuthentication.__struct_fields__
_INSTRUCTION = AuditedInstruction.__struct_fields__
_FILE = AuditedFile.__struct_fields__
_GROUP = FiledGroup.__struct_fields__
_BY_ID = ("merchant_id", "id")

_authentications = walk_table(authentications, _AUTHENTICATION, _BY_ID)
_instructions = walk_table(instructions, _INSTRUCTION, _BY_ID)
_files = walk_table(bank_files, _FILE, _BY_ID)


def walk_authentications(db: Database) -> AsyncIterator[list[AuditedAuthentication]]:
    return walk_pages(db, _authentications, AuditedAuthentication, _AUTHENTICATION, _BY_ID)


def walk_instructions(db: Database) -> AsyncIterator[list[AuditedInstruction]]:
    return walk_pages(db, _instructions, AuditedInstruction, _INSTRUCTION, _BY_ID)


def walk_files(db: Database) -> AsyncIterator[list[AuditedFile]]:
    return walk_pages(db, _files, AuditedFile, _FILE, _BY_ID)


_authentications_again = look_up(_AUTHENTICATION, authentications)
_instructions_named = look_up(_INSTRUCTION, instructions)
_file_ids = look_up(("id",), bank_files)


async def find_audited_authentications(
    db: Database, merchant_id: MerchantId, ids: Sequence[str]
) -> list[AuditedAuthentication]:
    rows = await fetch_by_ids(db, _authentications_again, merchant_id, ids)
    return [make_row(AuditedAuthentication, _AUTHENTICATION, row) for row in rows]


async def find_audited_instructions(
    db: Database, merchant_id: MerchantId, ids: Sequence[str]
) -> dict[str, AuditedInstruction]:
    rows = await fetch_by_ids(db, _instructions_named, merchant_id, ids)
    return {kept.id: kept for kept in [make_row(AuditedInstruction, _INSTRUCTION, row) for row in rows]}


async def find_file_ids(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> set[str]:
    return {str(row[0]) for row in await fetch_by_ids(db, _file_ids, merchant_id, ids)}


_ALIKE = [instructions.c[name] for name in _GROUP[:-2]]
_groups = Statement(
    sa.select(*_ALIKE, sa.func.count(), sa.cast(sa.func.sum(instructions.c.amount), sa.BigInteger()))
    .where(
        instructions.c.merchant_id == sa.bindparam("merchant_id"),
        is_among_ids(instructions.c.file_id),
    )
    .group_by(*_ALIKE)
)


async def find_filed_groups(db: Database, merchant_id: MerchantId, file_ids: Sequence[str]) -> list[FiledGroup]:
    """What names these files, counted by the database: a file may have ten thousand entries."""
    return [FiledGroup(*row) for row in await fetch_by_ids(db, _groups, merchant_id, file_ids)]
