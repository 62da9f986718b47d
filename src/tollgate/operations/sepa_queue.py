"""The queue of SEPA instructions, which answers like an acquirer. Files are made from it elsewhere."""

import asyncio
from datetime import date
from typing import TypeVar

import msgspec

from tollgate.catalog.banking_days import add_banking_days, get_banking_day
from tollgate.catalog.limits import LIMITS
from tollgate.connectors import acquiring, sepa
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Sequence
from tollgate.store import instructions
from tollgate.store.database import Database, StoreFault
from tollgate.store.retention import lacks_account
from tollgate.values import Clock, MerchantId, to_datetime
from tollgate.wire import Silent

CURRENCY = "EUR"
AMOUNT_MAX = 99_999_999_999
"""Nine digits and two decimals, the most that the schemes allow."""
MANDATE_LENGTH_MAX = 35

_Message = TypeVar("_Message", bound=msgspec.Struct)

_write = msgspec.json.Encoder().encode

_UNKNOWN = sepa.QueueReply(status="unknown", message="no such instruction")
_BLOCKED = sepa.QueueReply(status="unknown", message="no such instruction; its key is blocked")
_REVERSED = sepa.QueueReply(status="reversed", message="Taken back before any file had it")


class SepaQueue:
    """The queue of one channel, as a wire. Any number of processes may serve it, because its state is in the store."""

    def __init__(self, database: Database, merchant_id: MerchantId, channel: Channel, clock: Clock) -> None:
        self._database = database
        self._merchant_id = merchant_id
        self._channel = channel
        self._clock = clock

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        try:
            async with asyncio.timeout(timeout_s):
                return WireReply(200, _write(await self._answer(request)))
        except (StoreFault, TimeoutError):
            # Whether it was written is unknown, exactly as with an acquirer that does not answer.
            raise Silent from None

    async def _answer(self, request: WireRequest) -> sepa.QueueReply:
        try:
            match request.path:
                case sepa.INSTRUCTIONS:
                    return await self._instruct(_decode(request, sepa.InstructionMessage))
                case sepa.CANCELLATIONS:
                    return await self._cancel(_decode(request, sepa.CancellationMessage))
                case sepa.REVERSALS:
                    return await self._reverse(_decode(request, acquiring.KeyMessage).key)
                case sepa.INQUIRIES:
                    return await self._inquire(_decode(request, acquiring.KeyMessage))
                case _:
                    return _refuse(sepa.Response.MESSAGE, "no such operation")
        except msgspec.ValidationError as fault:
            return _refuse(sepa.Response.MESSAGE, str(fault)[:200])

    async def _instruct(self, message: sepa.InstructionMessage) -> sepa.QueueReply:
        known = await self._find(message.key)
        if known is not None:
            return _make_reply(known)
        refusal = self._find_refusal(message)
        if refusal is not None:
            return refusal
        if message.account_of != message.key and await lacks_account(
            self._database, self._merchant_id, message.account_of
        ):
            return _refuse(sepa.Response.ERASED, "the account of the first payment has been wiped")
        first = None if message.account_of == message.key else await self._find(message.account_of)
        return await self._keep(make_instruction(message, first, self._channel, self._clock))

    def _find_refusal(self, message: sepa.InstructionMessage) -> sepa.QueueReply | None:
        if self._channel.creditor is None:
            return _refuse(sepa.Response.CREDITOR, "the channel has no creditor")
        if message.currency != CURRENCY:
            return _refuse(sepa.Response.CURRENCY, f"banks settle in {CURRENCY} alone")
        if message.amount > AMOUNT_MAX:
            return _refuse(sepa.Response.AMOUNT, "more than banks can write")
        if len(message.mandate_id or "") > MANDATE_LENGTH_MAX:
            return _refuse(sepa.Response.MANDATE, f"a mandate id has up to {MANDATE_LENGTH_MAX} characters")
        if message.signed_on is not None and message.signed_on > _get_today(self._clock):
            return _refuse(sepa.Response.SIGNATURE, "the mandate is signed in the future")
        return None

    async def _cancel(self, message: sepa.CancellationMessage) -> sepa.QueueReply:
        known = await self._find(message.key)
        if known is not None:
            return _make_reply(known)
        original = await self._find(message.original)
        noted = make_cancellation(message, original, self._channel, self._clock)
        if original is not None and original.state is instructions.InstructionState.NOTED:
            # An authorisation moved nothing, so there is nothing to stop.
            return await self._keep(noted)
        if await instructions.cancel_instruction(self._database, self._merchant_id, message.original, noted):
            return _make_reply(noted)
        # Either a file was faster, or this very cancellation came twice at once.
        known = await self._find(message.key)
        return _refuse(sepa.Response.LATE, "a file has it already") if known is None else _make_reply(known)

    async def _reverse(self, key: str) -> sepa.QueueReply:
        found = await self._find(key)
        if found is None:
            return await self._block(key)
        match found.state:
            case instructions.InstructionState.BLOCKED:
                return _BLOCKED
            case instructions.InstructionState.CANCELLED | instructions.InstructionState.NOTED:
                return _REVERSED
            case instructions.InstructionState.FILED:
                return _refuse(sepa.Response.LATE, "a file has it already")
        is_done = await instructions.cancel_instruction(self._database, self._merchant_id, key)
        return _REVERSED if is_done else await self._reverse(key)

    async def _inquire(self, question: acquiring.KeyMessage) -> sepa.QueueReply:
        found = await self._find(question.key)
        if found is not None:
            return _make_reply(found)
        return await self._block(question.key) if question.blocks else _UNKNOWN

    async def _block(self, key: str) -> sepa.QueueReply:
        """Blocks the key of an instruction that never arrived, so that it never will be executed."""
        today = _get_today(self._clock)
        blocked = instructions.Instruction(
            merchant_id=self._merchant_id,
            id=key,
            channel_id=self._channel.id,
            state=instructions.InstructionState.BLOCKED,
            direction=sepa.Direction.CANCEL,
            amount=0,
            currency=CURRENCY,
            due_on=today,
            sequence=Sequence.ONCE,
            account_of=key,
            mandate_id="",
            signed_on=today,
            purpose="",
            created_at=self._clock.now(),
        )
        if await instructions.insert_instruction(self._database, blocked):
            return _BLOCKED
        raise Silent

    async def _keep(self, instruction: instructions.Instruction) -> sepa.QueueReply:
        if await instructions.insert_instruction(self._database, instruction):
            return _make_reply(instruction)
        known = await self._find(instruction.id)
        if known is None:
            raise Silent
        return _make_reply(known)

    async def _find(self, key: str) -> instructions.Instruction | None:
        return await instructions.find_instruction(self._database, self._merchant_id, key)


def make_instruction(
    message: sepa.InstructionMessage, first: instructions.Instruction | None, channel: Channel, clock: Clock
) -> instructions.Instruction:
    """Makes an instruction; what the message leaves open is taken from the first payment of its chain."""
    today = _get_today(clock)
    is_credit = message.direction is sepa.Direction.CREDIT
    inherited = Sequence.ONCE if first is None or is_credit else Sequence(first.sequence)
    wanted = message.due_on
    if wanted is None and first is not None and (is_credit or first.direction == sepa.Direction.CHECK):
        # A capture is due when its authorisation wanted it, and nothing is given back before it was taken.
        wanted = first.due_on
    # The first day whose file is not made yet: files are made some days ahead.
    earliest = add_banking_days(get_banking_day(today), LIMITS.bank_lead_days + 1)
    return instructions.Instruction(
        merchant_id=channel.merchant_id,
        id=message.key,
        channel_id=channel.id,
        state=instructions.InstructionState.NOTED
        if message.direction is sepa.Direction.CHECK
        else instructions.InstructionState.OPEN,
        direction=message.direction,
        amount=message.amount,
        currency=message.currency,
        due_on=earliest if wanted is None else max(earliest, get_banking_day(wanted)),
        # Credits know no sequence, and all of a day go into one file.
        sequence=Sequence.ONCE if is_credit else message.sequence or inherited,
        account_of=message.account_of,
        mandate_id=message.mandate_id or (first.mandate_id if first else message.account_of),
        signed_on=message.signed_on or (first.signed_on if first else today),
        purpose=message.purpose,
        created_at=clock.now(),
    )


def make_cancellation(
    message: sepa.CancellationMessage, original: instructions.Instruction | None, channel: Channel, clock: Clock
) -> instructions.Instruction:
    today = _get_today(clock)
    return instructions.Instruction(
        merchant_id=channel.merchant_id,
        id=message.key,
        channel_id=channel.id,
        state=instructions.InstructionState.NOTED,
        direction=sepa.Direction.CANCEL,
        amount=message.amount,
        currency=message.currency,
        due_on=original.due_on if original else today,
        sequence=original.sequence if original else Sequence.ONCE,
        account_of=message.account_of,
        mandate_id=original.mandate_id if original else "",
        signed_on=original.signed_on if original else today,
        purpose=message.purpose,
        created_at=clock.now(),
    )


def _get_today(clock: Clock) -> date:
    return to_datetime(clock.now()).date()


def _decode(request: WireRequest, kind: type[_Message]) -> _Message:
    return msgspec.json.decode(request.body, type=kind)


def _refuse(response: sepa.Response, message: str) -> sepa.QueueReply:
    return sepa.QueueReply(status="declined", response_code=response, message=message)


def _make_reply(known: instructions.Instruction) -> sepa.QueueReply:
    """Returns the reply about an instruction, which is the same every time."""
    match known.state:
        case instructions.InstructionState.BLOCKED:
            return _BLOCKED
        case instructions.InstructionState.CANCELLED:
            return _REVERSED
        case _:
            return _describe(known)


def _describe(known: instructions.Instruction) -> sepa.QueueReply:
    is_moving = known.direction in (sepa.Direction.DEBIT, sepa.Direction.CREDIT)
    return sepa.QueueReply(
        status="approved",
        message=f"{known.direction} due on {known.due_on}" if is_moving else f"{known.direction} noted",
        reference=known.id,
        due_on=known.due_on.isoformat() if is_moving else "",
        mandate_id=known.mandate_id if known.direction in (sepa.Direction.DEBIT, sepa.Direction.CHECK) else "",
    )
