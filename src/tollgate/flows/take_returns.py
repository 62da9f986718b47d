"""The story of money that banks send back: each return becomes a chargeback of the payment that asked for it.

Reading the same file again changes nothing. What fits no payment is reported, for somebody to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Series

import msgspec

from tollgate.catalog import LIMITS, find_notice
from tollgate.connectors import sepa
from tollgate.flows.record import record
from tollgate.operations import App, get_payment
from tollgate.payments import Channel, FollowUp, Payment, State
from tollgate.store import (
    Instruction,
    InstructionState,
    find_instructions,
    find_payment,
    list_chain,
    list_channels,
    list_filed,
)
from tollgate.values import ChannelId, MerchantId, Refusal, make_id, make_short_id

_CHARGEBACK = "CB"


class ReturnNote(msgspec.Struct, frozen=True):
    """What became of one return."""

    reference: str
    reason: str
    text: str


class ReturnReport(msgspec.Struct, frozen=True, kw_only=True):
    taken: tuple[ReturnNote, ...] = ()
    known: tuple[ReturnNote, ...] = ()
    """Were taken before."""
    unknown: tuple[ReturnNote, ...] = ()


class _Found(msgspec.Struct, frozen=True):
    returned: sepa.BankReturn
    instruction: Instruction | None


async def take_returns(app: App, returns: Series[sepa.BankReturn]) -> ReturnReport:
    channels = {channel.id: channel for channel in await list_channels(app.database) if channel.creditor}
    notes: dict[str, list[ReturnNote]] = {"taken": [], "known": [], "unknown": []}
    for found in await find_all(app, returns, sorted({channel.merchant_id for channel in channels.values()})):
        group, text = await take_one(app, found, channels)
        notes[group].append(ReturnNote(found.returned.id or found.returned.message_id, found.returned.reason, text))
    return ReturnReport(**{group: tuple(each) for group, each in notes.items()})


async def find_all(app: App, returns: Series[sepa.BankReturn], merchant_ids: Series[MerchantId]) -> list[_Found]:
    """A bank names no merchant, but an id belongs to one alone.

    A file refused as a whole stands for its entries, but for those that are listed with a reason of their own.
    """
    ids = sorted({returned.id for returned in returns if returned.id})
    instructions: dict[str, Instruction] = {}
    of_files: list[_Found] = []
    known_files: set[str] = set()
    for merchant_id in merchant_ids:
        instructions |= await find_instructions(app.database, merchant_id, ids) if ids else {}
        for whole in [returned for returned in returns if not returned.id and returned.message_id]:
            filed = await list_filed(app.database, merchant_id, whole.message_id)
            known_files |= {whole.message_id} if filed else set()
            unlisted = [each for each in filed if each.id not in ids]
            of_files += [_Found(msgspec.structs.replace(whole, id=each.id), each) for each in unlisted]
    listed = [returned for returned in returns if returned.id or returned.message_id not in known_files]
    return [*(_Found(returned, instructions.get(returned.id)) for returned in listed), *of_files]


async def take_one(app: App, found: _Found, channels: Mapping[ChannelId, Channel]) -> tuple[str, str]:
    """(taken, known or unknown; what to say of it)"""
    instruction = found.instruction
    objection = find_objection(found)
    if objection is not None or instruction is None:
        return "unknown", objection or "no instruction has this reference"
    payment = await find_payment(app.database, instruction.merchant_id, instruction.id)
    channel = channels.get(instruction.channel_id)
    if payment is None or channel is None:
        return "unknown", "its payment or its channel is gone"
    earlier = await find_chargeback(app, payment)
    if earlier is not None:
        return "known", f"chargeback {earlier.id}"
    fact = make_fact(app, payment, instruction)
    try:
        notice = find_notice(found.returned.reason)
        chargeback = await record(app, fact, payment.id, channel, make_id(app.random_bytes), notice)
    except Refusal as refusal:
        # Somebody who read the same file at the same time may have been faster.
        earlier = await find_chargeback(app, await get_payment(app, payment, payment.id))
        return (
            ("unknown", f"refused as {refusal.result.code}")
            if earlier is None
            else ("known", f"chargeback {earlier.id}")
        )
    return "taken", f"chargeback {chargeback.id} of {payment.payment_type} {payment.id} as {chargeback.result_code}"


def find_objection(found: _Found) -> str | None:
    returned, instruction = found.returned, found.instruction
    if instruction is None:
        return "no instruction has this reference"
    if instruction.state is not InstructionState.FILED:
        return "no bank was given this instruction"
    if returned.currency not in (None, instruction.currency):
        return f"the instruction is in {instruction.currency}"
    # More than was instructed is the bank's own fee or interest, and not the shopper's.
    if returned.amount is not None and returned.amount < instruction.amount:
        return "less came back than was instructed"
    return None


def make_fact(app: App, payment: Payment, instruction: Instruction) -> FollowUp:
    return FollowUp(
        payment_type=_CHARGEBACK,
        amount=instruction.amount,
        currency=instruction.currency,
        practice=None,
        is_final=False,
        descriptor=payment.descriptor,
        short_id=make_short_id(app.random_bytes),
        test_mode=payment.test_mode,
    )


async def find_chargeback(app: App, payment: Payment) -> Payment | None:
    """A bank sends one debit back once."""
    chain = await list_chain(app.database, payment.merchant_id, payment.first_id, LIMITS.chain_rows_max)
    return next(
        (
            each
            for each in chain
            if each.payment_type == _CHARGEBACK
            and each.referenced_id == payment.id
            and each.state is not State.DECLINED
        ),
        None,
    )
