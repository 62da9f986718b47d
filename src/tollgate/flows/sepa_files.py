"""SEPA files: due instructions are collected into files, and returned ones become chargebacks.

The format of the files is the connector's.
"""

import asyncio
import logging
from collections.abc import Mapping
from collections.abc import Sequence as Series
from datetime import date

import msgspec

from tollgate.catalog import banking_days
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import PAYMENT_TYPES, Direction
from tollgate.catalog.return_reasons import get_notice
from tollgate.connectors import sepa, sepa_files, sepa_returns
from tollgate.flows.follow_up import record_fact
from tollgate.operations import charging, signing
from tollgate.operations.app import App, Call
from tollgate.payments.accounts import BankAccount
from tollgate.payments.merchants import Channel, Creditor
from tollgate.payments.order import FollowUp, Sequence
from tollgate.payments.payment import Payment, State
from tollgate.store import bank_files, instructions, merchants, payments
from tollgate.store.database import Database
from tollgate.values import ChannelId, Instant, MerchantId, Refusal, make_id, make_short_id, to_datetime
from tollgate.vault import sealing
from tollgate.vault.keyring import Keyring, KeyringError

_log = logging.getLogger("tollgate.bank")

_SCHEMES = {sepa.Direction.DEBIT: sepa_files.Scheme.DEBITS, sepa.Direction.CREDIT: sepa_files.Scheme.CREDITS}
_DIRECTIONS = {Direction.TAKE: sepa.Direction.DEBIT, Direction.GIVE: sepa.Direction.CREDIT}

FILE_NOUN = "bank_file"


async def collect(app: App) -> int:
    """Makes the files that are due and returns how many there were."""
    today = banking_days.get_banking_day(app.today)
    due_on = banking_days.add_banking_days(today, LIMITS.bank_lead_days)
    made = 0
    for batch in await instructions.list_due_batches(app.database, due_on):
        channel = app.merchants.find_channel(batch.channel_id)
        if channel is None or channel.creditor is None:
            _log.warning("a channel has instructions and no creditor", extra={"channel": batch.channel_id})
            continue
        made += await collect_batch(app, batch, channel.creditor, due_on)
    return made


async def collect_batch(app: App, batch: instructions.Batch, creditor: Creditor, due_on: date) -> bool:
    """Makes one file; what was due earlier is due on the first day that banks can still execute."""
    scheme = _SCHEMES[sepa.Direction(batch.direction)]
    taken = await bank_files.list_file_days(
        app.database, batch.merchant_id, batch.channel_id, scheme, batch.sequence, since=due_on
    )
    if due_on in taken:
        free_on = due_on
        while free_on in taken:
            free_on = banking_days.add_banking_days(free_on, 1)
        await instructions.postpone_due(app.database, batch, due_on, free_on)
        return False
    due = await instructions.list_due(app.database, batch, due_on, LIMITS.bank_file_entries_max)
    # A thread opens the accounts, because ten thousand of them take a while.
    entries = await asyncio.to_thread(make_entries, app, due)
    if not entries:
        return False
    head = sepa_files.FileHead(
        message_id=make_id(app.random_bytes),
        created_at=to_datetime(app.clock.now()),
        scheme=scheme,
        creditor=creditor,
        due_on=due_on,
        sequence=Sequence(batch.sequence),
        currency=batch.currency,
    )
    body = await asyncio.to_thread(sepa_files.build_file, head, entries)
    return await write_file(app, batch, head, entries, body)


async def write_file(
    app: App, batch: instructions.Batch, head: sepa_files.FileHead, entries: Series[sepa_files.Entry], body: bytes
) -> bool:
    """Returns false where a row or the day was taken meanwhile; the next round tries again."""
    file = bank_files.BankFile(
        merchant_id=batch.merchant_id,
        id=head.message_id,
        channel_id=batch.channel_id,
        scheme=head.scheme,
        due_on=head.due_on,
        sequence=head.sequence,
        currency=head.currency,
        entries=len(entries),
        total=sum(entry.amount for entry in entries),
        created_at=app.clock.now(),
    )
    sealed = sealing.seal(body, owner=sealing.make_owner(FILE_NOUN, file.merchant_id, file.id), keyring=app.keyring)
    ids = [entry.id for entry in entries]
    writes = [
        *bank_files.insert_bank_file_writes(file, sealed),
        *instructions.file_instructions_writes(file.merchant_id, ids, file.id, file.due_on),
    ]
    is_written = await app.database.write(writes, label="bank file")
    if is_written:
        _log.info("a bank file was made", extra={"file": file.id, "entries": file.entries})
    return is_written


def make_entries(app: App, due: Series[instructions.DueInstruction]) -> list[sepa_files.Entry]:
    """Makes the entries of a file; an instruction that cannot be trusted or opened is logged and left out."""
    entries = []
    for each in due:
        try:
            entries.append(make_entry(app, each))
        except (signing.TamperedRow, sealing.EnvelopeError, KeyringError, ValueError, msgspec.MsgspecError) as fault:
            _log.error("an instruction cannot be filed", extra={"payment": each.payment.id, "why": str(fault)})
    return entries


def make_entry(app: App, due: instructions.DueInstruction) -> sepa_files.Entry:
    instruction, payment = due.instruction, signing.trust(app, due.payment)
    money, direction = payment.money, _DIRECTIONS.get(PAYMENT_TYPES[payment.payment_type].direction)
    instructed = (instruction.channel_id, instruction.amount, instruction.currency, instruction.direction)
    # A debit turned into a credit would pay out, and one of another channel would go to another creditor.
    if instructed != (payment.channel_id, money.hundredths, money.currency, direction):
        raise ValueError("the instruction is not what the payment says")
    if instruction.account_of != payment.first_id:
        raise ValueError("the instruction names the account of another payment")
    if not app.may_handle(payment.test_mode):
        raise ValueError("the payment belongs to another environment")
    if due.sealed_account is None:
        raise ValueError("the payment has no account")
    owner = sealing.make_owner("payment", instruction.merchant_id, instruction.account_of)
    account = sealing.open_account(due.sealed_account, owner=owner, keyring=app.keyring)
    if not isinstance(account, BankAccount) or account.iban is None:
        raise ValueError("the account is no bank account")
    return sepa_files.Entry(
        id=instruction.id,
        amount=instruction.amount,
        account=account,
        mandate_id=instruction.mandate_id,
        signed_on=instruction.signed_on,
        purpose=instruction.purpose,
    )


_CHARGEBACK = "CB"


class ReturnNote(msgspec.Struct, frozen=True):
    """The result of one return."""

    reference: str
    reason: str
    text: str


class ReturnReport(msgspec.Struct, frozen=True, kw_only=True):
    taken: tuple[ReturnNote, ...] = ()
    known: tuple[ReturnNote, ...] = ()
    """Returns that were recorded before."""
    unknown: tuple[ReturnNote, ...] = ()


class _Found(msgspec.Struct, frozen=True):
    returned: sepa_returns.BankReturn
    instruction: instructions.Instruction | None


async def take_returns(app: App, returns: Series[sepa_returns.BankReturn]) -> ReturnReport:
    channels = {channel.id: channel for channel in await merchants.list_channels(app.database) if channel.creditor}
    notes: dict[str, list[ReturnNote]] = {"taken": [], "known": [], "unknown": []}
    for found in await list_found(app, returns, sorted({channel.merchant_id for channel in channels.values()})):
        group, text = await take_one(app, found, channels)
        notes[group].append(ReturnNote(found.returned.id or found.returned.message_id, found.returned.reason, text))
    return ReturnReport(**{group: tuple(each) for group, each in notes.items()})


async def list_found(
    app: App, returns: Series[sepa_returns.BankReturn], merchant_ids: Series[MerchantId]
) -> list[_Found]:
    """Finds the instructions that were returned. A bank names no merchant, but an id belongs to one alone.

    A file that was refused as a whole stands for its entries, except those that are listed with their own reason.
    """
    ids = sorted({returned.id for returned in returns if returned.id})
    by_id: dict[str, instructions.Instruction] = {}
    of_files: list[_Found] = []
    known_files: set[str] = set()
    for merchant_id in merchant_ids:
        by_id |= {each.id: each for each in await instructions.list_instructions(app.database, merchant_id, ids)}
        for whole in [returned for returned in returns if not returned.id and returned.message_id]:
            filed = await instructions.list_filed(app.database, merchant_id, whole.message_id)
            known_files |= {whole.message_id} if filed else set()
            unlisted = [each for each in filed if each.id not in ids]
            of_files += [_Found(msgspec.structs.replace(whole, id=each.id), each) for each in unlisted]
    listed = [returned for returned in returns if returned.id or returned.message_id not in known_files]
    return [*(_Found(returned, by_id.get(returned.id)) for returned in listed), *of_files]


async def take_one(app: App, found: _Found, channels: Mapping[ChannelId, Channel]) -> tuple[str, str]:
    """Records one return; the answer is its group (taken, known or unknown) and a text."""
    instruction = found.instruction
    objection = find_objection(found)
    if objection is not None or instruction is None:
        return "unknown", objection or "no instruction has this reference"
    payment = await payments.find_payment(app.database, instruction.merchant_id, instruction.id)
    channel = channels.get(instruction.channel_id)
    if payment is None or channel is None:
        return "unknown", "its payment or its channel is gone"
    earlier = await find_chargeback(app, payment)
    if earlier is not None:
        return "known", f"chargeback {earlier.id}"
    fact = make_fact(app, payment, instruction)
    try:
        notice = get_notice(found.returned.reason)
        chargeback = await record_fact(app, fact, payment.id, Call(channel, make_id(app.random_bytes)), notice)
    except Refusal as refusal:
        # Another process that read the same file may have been faster.
        earlier = await find_chargeback(app, await charging.get_payment(app, payment, payment.id))
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
    if instruction.state is not instructions.InstructionState.FILED:
        return "no bank was given this instruction"
    if returned.currency not in (None, instruction.currency):
        return f"the instruction is in {instruction.currency}"
    # More than was instructed is the bank's own fee or interest, and not the shopper's.
    if returned.amount is not None and returned.amount < instruction.amount:
        return "less came back than was instructed"
    return None


def make_fact(app: App, payment: Payment, instruction: instructions.Instruction) -> FollowUp:
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
    """Finds the chargeback of a payment; a bank returns a debit once."""
    chain = await payments.list_chain(app.database, payment.merchant_id, payment.first_id, LIMITS.chain_rows_max)
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


async def export_file(database: Database, keyring: Keyring, file: bank_files.BankFile, now: Instant) -> bytes:
    """Returns the same bytes every time, and records the first export."""
    sealed = await bank_files.get_sealed_body(database, file)
    body = sealing.open_sealed(sealed, owner=sealing.make_owner(FILE_NOUN, file.merchant_id, file.id), keyring=keyring)
    await bank_files.mark_exported(database, file, now)
    return body
