"""Instructions to banks, from the payment that asks to the file that takes them. What may be asked is decided before.

Every change names the state it expects, so a file and a cancellation never both have one.
"""

from collections.abc import Sequence
from datetime import date
from enum import IntEnum

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import Payment, State
from tollgate.store.codec import LIMIT, Codec, bind, is_among_ids, spread_ids
from tollgate.store.database import Database
from tollgate.store.payments import PAYMENTS, read_payment
from tollgate.store.schema import OPEN_INSTRUCTION, instructions, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Instant, MerchantId


class InstructionState(IntEnum):
    """The numbers are stored, so a number is never used again for something else."""

    OPEN = 0
    """The instruction is in no file yet."""
    FILED = 1
    CANCELLED = 2
    BLOCKED = 3
    """The cancellation came before the instruction, which must never be carried out."""
    NOTED = 4
    """The instruction needs no file."""


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    """The id is that of the payment which asked for it."""
    channel_id: ChannelId
    state: InstructionState
    direction: str
    amount: int
    currency: str
    due_on: date
    sequence: str
    account_of: str
    """The payment whose sealed account is debited or credited."""
    mandate_id: str
    signed_on: date
    purpose: str
    created_at: Instant
    file_id: str | None = None


class Batch(msgspec.Struct, frozen=True):
    """The members that all instructions of one file share."""

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


INSTRUCTIONS = Codec(instructions, Instruction)

_BATCH = [instructions.c[name] for name in Batch.__struct_fields__]
_account = payments.alias("account")
_is_open = sa.text(f"instructions.{OPEN_INSTRUCTION}")
_is_unfiled = instructions.c.state == sa.literal_column(str(int(InstructionState.OPEN)))
_is_due = instructions.c.due_on <= sa.bindparam("until", type_=instructions.c.due_on.type)
_is_approved = payments.c.state == sa.literal_column(str(int(State.APPROVED)))
_is_of_merchant = instructions.c.merchant_id == bind("of", instructions.c.merchant_id)
_own = sa.and_(payments.c.merchant_id == instructions.c.merchant_id, payments.c.id == instructions.c.id)
_named = sa.and_(_account.c.merchant_id == instructions.c.merchant_id, _account.c.id == instructions.c.account_of)
# Spelled so that no planner goes through all that a merchant ever instructed instead of the index of what is open.
_in_batch = sa.and_(*[column.concat(sa.literal_column("''")) == bind("of", column) for column in _BATCH])

find_instruction = INSTRUCTIONS.find
_insert = INSTRUCTIONS.insert(ignores_taken=True)
_cancel = INSTRUCTIONS.update(_is_unfiled, state=sa.literal_column(str(int(InstructionState.CANCELLED))))
_batches = Statement(
    sa.select(*_BATCH)
    .distinct()
    .select_from(sa.join(instructions, payments, _own))
    .where(_is_open, _is_due, _is_approved)
    .order_by(*_BATCH)
)
_due = Statement(
    sa.select(*INSTRUCTIONS.columns, *PAYMENTS.columns, _account.c.sealed_account)
    .select_from(sa.join(sa.join(instructions, payments, _own), _account, _named))
    .where(_is_open, _is_due, _is_approved, _in_batch)
    .order_by(instructions.c.due_on, instructions.c.id)
    .limit(LIMIT)
)
_postpone = Statement(
    sa.update(instructions)
    .where(_is_open, _is_due, _in_batch)
    .values(due_on=sa.bindparam("new_due_on"))
    .returning(instructions.c.id)
)
_file = Statement(
    sa.update(instructions)
    .where(_is_of_merchant, is_among_ids(instructions.c.id), _is_unfiled)
    .values(
        state=sa.literal_column(str(int(InstructionState.FILED))),
        file_id=sa.bindparam("new_file_id"),
        due_on=sa.bindparam("new_due_on"),
    )
)
_by_ids = Statement(INSTRUCTIONS.select(_is_of_merchant, is_among_ids(instructions.c.id)))
# Without an order, for whose sake SQLite would take the primary key and read all of the merchant's.
_by_file = Statement(INSTRUCTIONS.select(_is_of_merchant, instructions.c.file_id == sa.bindparam("of_file_id")))


async def insert_instruction(db: Database, instruction: Instruction) -> bool:
    """Returns False if there is one with this key already."""
    return await db.write(_insert(instruction), label="instruction queued")


async def cancel_instruction(
    db: Database, merchant_id: MerchantId, key: str, cancellation: Instruction | None = None
) -> bool:
    """Cancels an open instruction, and stores the cancellation itself in the same commit.

    Returns False if a file was faster, or the instruction was cancelled before.
    """
    inserting = [] if cancellation is None else _insert(cancellation)
    return await db.write([*_cancel.by_key(merchant_id, key), *inserting], label="instruction cancelled")


async def list_due_batches(db: Database, until: date) -> list[Batch]:
    """Lists batches of what is due by then, no file has and whose payment succeeded."""
    return [Batch(*row) for row in await db.fetch(_batches, {"until": until.isoformat()})]


async def list_due(db: Database, batch: Batch, until: date, limit: int) -> list[DueInstruction]:
    """Lists the oldest first."""
    rows = await db.fetch(_due, _make_batch_params(batch) | {"until": until.isoformat(), "limit": limit})
    own, shown = len(INSTRUCTIONS.columns), len(INSTRUCTIONS.columns) + len(PAYMENTS.columns)
    return [DueInstruction(INSTRUCTIONS.decode(row[:own]), read_payment(row[own:shown]), row[shown]) for row in rows]


async def postpone_due(db: Database, batch: Batch, until: date, new_due_on: date) -> int:
    """Moves what is due by then to another day, and returns how many instructions that are."""
    days = {"until": until.isoformat(), "new_due_on": new_due_on.isoformat()}
    return len(await db.fetch(_postpone, _make_batch_params(batch) | days))


def _make_batch_params(batch: Batch) -> dict[str, str]:
    return {f"of_{name}": value for name, value in msgspec.structs.asdict(batch).items()}


def file_instructions_writes(merchant_id: MerchantId, ids: Sequence[str], file_id: str, due_on: date) -> list[Write]:
    """Gives instructions to a file; the unit is undone where one of them is not open any more."""
    to_file = {"of_merchant_id": merchant_id, "new_file_id": file_id, "new_due_on": due_on.isoformat()}
    return [Write(_file, to_file | some, rows=count) for count, some in spread_ids(ids)]


async def list_instructions(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[Instruction]:
    of = {"of_merchant_id": merchant_id}
    return [each for _, some in spread_ids(ids) for each in await INSTRUCTIONS.fetch(db, _by_ids, of | some)]


async def list_filed(db: Database, merchant_id: MerchantId, file_id: str) -> list[Instruction]:
    filed = await INSTRUCTIONS.fetch(db, _by_file, {"of_merchant_id": merchant_id, "of_file_id": file_id})
    return sorted(filed, key=lambda each: each.id)
