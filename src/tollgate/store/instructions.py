"""Instructions to banks, from the wish of a payment to the file that takes it. What may be asked for is decided before.

Every change names the state it expects, so a file and a cancellation never both have one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from enum import IntEnum
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import Payment, State
from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.payment_rows import SHOWN, read_payment
from tollgate.store.schema import OPEN_INSTRUCTION, TEXT, instructions, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Instant, MerchantId

LOOK_UP_MAX = 200
"""Ids of one statement."""


class InstructionState(IntEnum):
    """The numbers are stored, so a number is never used again for something else."""

    OPEN = 0
    """No file has it yet."""
    FILED = 1
    CANCELLED = 2
    BLOCKED = 3
    """Was asked for before it was seen, and shall never be done."""
    NOTED = 4
    """Needs no file."""


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    """That of the payment which asked for it."""
    channel_id: ChannelId
    state: InstructionState
    direction: str
    amount: int
    currency: str
    due_on: date
    sequence: str
    account_of: str
    """The payment whose sealed account is meant."""
    mandate_id: str
    signed_on: date
    purpose: str
    created_at: Instant
    file_id: str | None = None


class Batch(msgspec.Struct, frozen=True):
    """What may stand in one file."""

    merchant_id: MerchantId
    channel_id: ChannelId
    direction: str
    sequence: str
    currency: str


class DueInstruction(msgspec.Struct, frozen=True):
    """An instruction with the payment that asked for it and the sealed account it names."""

    instruction: Instruction
    payment: Payment
    sealed_account: bytes | None


_MEMBERS = Instruction.__struct_fields__
_COLUMNS = [instructions.c[name] for name in _MEMBERS]
_BATCH = [instructions.c[name] for name in Batch.__struct_fields__]


def _bind(name: str) -> sa.BindParameter[str]:
    return sa.bindparam(name, type_=TEXT)


_insert = Statement(
    sa.text(
        f"INSERT INTO instructions ({', '.join(_MEMBERS)}) VALUES ({', '.join(f':{name}' for name in _MEMBERS)}) "
        "ON CONFLICT DO NOTHING"
    ),
    is_write=True,
)
_find = Statement(
    sa.select(*_COLUMNS).where(
        instructions.c.merchant_id == sa.bindparam("merchant_id"), instructions.c.id == sa.bindparam("id")
    ),
    is_quick=True,
)


def insert_instruction_writes(instruction: Instruction) -> list[Write]:
    """The unit is undone where the key is taken."""
    row = msgspec.structs.asdict(instruction)
    days = {"due_on": instruction.due_on.isoformat(), "signed_on": instruction.signed_on.isoformat()}
    return [Write(_insert, row | days | {"state": int(instruction.state)}, rows=1)]


async def insert_instruction(db: Database, instruction: Instruction) -> bool:
    """False: there is one with this key already."""
    return await db.write(insert_instruction_writes(instruction), label="instruction queued")


async def find_instruction(db: Database, merchant_id: MerchantId, key: str) -> Instruction | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": key})
    return None if row is None else _read(row)


# ---- taking back ----

_cancel = Statement(
    sa.update(instructions)
    .where(
        instructions.c.merchant_id == sa.bindparam("of_merchant_id"),
        instructions.c.id == sa.bindparam("of_id"),
        instructions.c.state == sa.literal_column(str(int(InstructionState.OPEN))),
    )
    .values(state=sa.literal_column(str(int(InstructionState.CANCELLED))))
)


async def cancel_instruction(
    db: Database, merchant_id: MerchantId, key: str, cancellation: Instruction | None = None
) -> bool:
    """False: a file was faster, or it was cancelled before. The cancellation itself is kept in the same commit."""
    writes = [Write(_cancel, {"of_merchant_id": merchant_id, "of_id": key}, rows=1)]
    return await db.write(
        [*writes, *(insert_instruction_writes(cancellation) if cancellation else [])], label="instruction cancelled"
    )


# ---- collecting ----

_account = payments.alias("account")
_is_open = sa.text(f"instructions.{OPEN_INSTRUCTION}")
_is_due = instructions.c.due_on <= sa.bindparam("until", type_=TEXT)
_is_approved = payments.c.state == sa.literal_column(str(int(State.APPROVED)))
_own = sa.and_(payments.c.merchant_id == instructions.c.merchant_id, payments.c.id == instructions.c.id)
_named = sa.and_(_account.c.merchant_id == instructions.c.merchant_id, _account.c.id == instructions.c.account_of)
# Spelled so that no planner goes through all that a merchant ever instructed instead of the index of what is open.
_in_batch = sa.and_(*[column.concat(sa.literal_column("''")) == _bind(f"of_{column.name}") for column in _BATCH])

_batches = Statement(
    sa.select(*_BATCH)
    .distinct()
    .select_from(sa.join(instructions, payments, _own))
    .where(_is_open, _is_due, _is_approved)
    .order_by(*_BATCH)
)
_due = Statement(
    sa.select(*_COLUMNS, *SHOWN, _account.c.sealed_account)
    .select_from(sa.join(sa.join(instructions, payments, _own), _account, _named))
    .where(_is_open, _is_due, _is_approved, _in_batch)
    .order_by(instructions.c.due_on, instructions.c.id)
    .limit(sa.bindparam("limit"))
)
_postpone = Statement(
    sa.update(instructions)
    .where(_is_open, _is_due, _in_batch)
    .values(due_on=sa.bindparam("new_due_on"))
    .returning(instructions.c.id)
)


async def list_due_batches(db: Database, until: date) -> list[Batch]:
    """Of what is due by then, no file has and whose payment succeeded."""
    return [Batch(*row) for row in await db.fetch(_batches, {"until": until.isoformat()})]


async def list_due(db: Database, batch: Batch, until: date, limit: int) -> list[DueInstruction]:
    """The oldest first."""
    rows = await db.fetch(_due, _name_batch(batch) | {"until": until.isoformat(), "limit": limit})
    own, shown = len(_COLUMNS), len(_COLUMNS) + len(SHOWN)
    return [DueInstruction(_read(row[:own]), read_payment(row[own:shown]), row[shown]) for row in rows]


async def postpone_due(db: Database, batch: Batch, until: date, new_due_on: date) -> int:
    """Moves what is due by then to another day; how many moved."""
    days = {"until": until.isoformat(), "new_due_on": new_due_on.isoformat()}
    return len(await db.fetch(_postpone, _name_batch(batch) | days))


_ids = [sa.bindparam(f"id_{place}", type_=TEXT) for place in range(LOOK_UP_MAX)]
_file = Statement(
    sa.update(instructions)
    .where(
        instructions.c.merchant_id == sa.bindparam("of_merchant_id"),
        instructions.c.id.in_(_ids),
        instructions.c.state == sa.literal_column(str(int(InstructionState.OPEN))),
    )
    .values(
        state=sa.literal_column(str(int(InstructionState.FILED))),
        file_id=sa.bindparam("new_file_id"),
        due_on=sa.bindparam("new_due_on"),
    )
)


def file_instructions_writes(merchant_id: MerchantId, ids: Sequence[str], file_id: str, due_on: date) -> list[Write]:
    """Gives them to a file; the unit is undone where one of them is not open any more."""
    to_file = {"of_merchant_id": merchant_id, "new_file_id": file_id, "new_due_on": due_on.isoformat()}
    return [Write(_file, to_file | _spread(some), rows=len(some)) for some in _cut(ids)]


# ---- reading again ----

_by_ids = Statement(
    sa.select(*_COLUMNS).where(
        instructions.c.merchant_id == sa.bindparam("of_merchant_id"), instructions.c.id.in_(_ids)
    )
)
# Without an order, for whose sake SQLite would take the primary key and read all of the merchant's.
_by_file = Statement(
    sa.select(*_COLUMNS).where(
        instructions.c.merchant_id == sa.bindparam("of_merchant_id"),
        instructions.c.file_id == sa.bindparam("of_file_id"),
    )
)


async def find_instructions(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, Instruction]:
    found = [
        _read(row)
        for some in _cut(ids)
        for row in await db.fetch(_by_ids, {"of_merchant_id": merchant_id} | _spread(some))
    ]
    return {each.id: each for each in found}


async def list_filed(db: Database, merchant_id: MerchantId, file_id: str) -> list[Instruction]:
    rows = await db.fetch(_by_file, {"of_merchant_id": merchant_id, "of_file_id": file_id})
    return sorted([_read(row) for row in rows], key=lambda each: each.id)


def _cut(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[start : start + LOOK_UP_MAX] for start in range(0, len(ids), LOOK_UP_MAX)]


def _spread(ids: Sequence[str]) -> dict[str, str]:
    """One place each; the last one is named as often as it takes."""
    return {f"id_{place}": ids[min(place, len(ids) - 1)] for place in range(LOOK_UP_MAX)}


def _name_batch(batch: Batch) -> dict[str, str]:
    return {f"of_{name}": value for name, value in msgspec.structs.asdict(batch).items()}


def _read(row: Row) -> Instruction:
    named: Mapping[str, Any] = dict(zip(_MEMBERS, row, strict=True))
    days = {name: date.fromisoformat(named[name]) for name in ("due_on", "signed_on")}
    return Instruction(**{**named, **days, "state": InstructionState(named["state"])})
