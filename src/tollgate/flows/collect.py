"""The story of a bank file: gather what is due, open the accounts, write the file and say so in one commit.

Killed anywhere before that commit it leaves nothing; two at once make one file, because the second finds its rows
taken or its day.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence as Series
from datetime import date

import msgspec

from tollgate.catalog import LIMITS, PAYMENT_TYPES, Direction, add_banking_days, find_banking_day
from tollgate.connectors import sepa
from tollgate.operations import App, TamperedRow, trust
from tollgate.payments import BankAccount, Creditor, Sequence
from tollgate.store import (
    BankFile,
    Batch,
    DueInstruction,
    file_instructions_writes,
    insert_bank_file_writes,
    list_due,
    list_due_batches,
    list_file_days,
    postpone_due,
)
from tollgate.values import make_id, to_datetime
from tollgate.vault import EnvelopeError, KeyringError, name_owner, open_account, seal

_log = logging.getLogger("tollgate.bank")

_SCHEMES = {sepa.Direction.DEBIT: sepa.Scheme.DEBITS, sepa.Direction.CREDIT: sepa.Scheme.CREDITS}
_DIRECTIONS = {Direction.TAKE: sepa.Direction.DEBIT, Direction.GIVE: sepa.Direction.CREDIT}

FILE_NOUN = "bank_file"


async def collect(app: App) -> int:
    """How many files were made."""
    today = find_banking_day(to_datetime(app.clock.now()).date())
    due_on = add_banking_days(today, LIMITS.bank_lead_days)
    made = 0
    for batch in await list_due_batches(app.database, due_on):
        channel = app.merchants.find_channel(batch.channel_id)
        if channel is None or channel.creditor is None:
            _log.warning("a channel has instructions and no creditor", extra={"channel": batch.channel_id})
            continue
        made += await collect_batch(app, batch, channel.creditor, due_on)
    return made


async def collect_batch(app: App, batch: Batch, creditor: Creditor, due_on: date) -> bool:
    """Whatever was due earlier is due on the first day that banks can still do."""
    scheme = _SCHEMES[sepa.Direction(batch.direction)]
    taken = await list_file_days(
        app.database, batch.merchant_id, batch.channel_id, scheme, batch.sequence, since=due_on
    )
    if due_on in taken:
        await postpone_due(app.database, batch, due_on, find_free_day(due_on, taken))
        return False
    due = await list_due(app.database, batch, due_on, LIMITS.bank_file_entries_max)
    # In a thread, because ten thousand accounts take a while to open.
    entries = await asyncio.to_thread(make_entries, app, due)
    if not entries:
        return False
    head = sepa.FileHead(
        message_id=make_id(app.random_bytes),
        created_at=to_datetime(app.clock.now()),
        scheme=scheme,
        creditor=creditor,
        due_on=due_on,
        sequence=Sequence(batch.sequence),
        currency=batch.currency,
    )
    body = await asyncio.to_thread(sepa.build_file, head, entries)
    return await write_file(app, batch, head, entries, body)


async def write_file(app: App, batch: Batch, head: sepa.FileHead, entries: Series[sepa.Entry], body: bytes) -> bool:
    """False: one of the rows, or the day, was taken meanwhile; the next round looks again."""
    file = BankFile(
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
    sealed = seal(body, owner=name_owner(FILE_NOUN, file.merchant_id, file.id), keyring=app.keyring)
    ids = [entry.id for entry in entries]
    writes = [
        *insert_bank_file_writes(file, sealed),
        *file_instructions_writes(file.merchant_id, ids, file.id, file.due_on),
    ]
    is_written = await app.database.write(writes)
    if is_written:
        _log.info("a bank file was made", extra={"file": file.id, "entries": file.entries})
    return is_written


def find_free_day(after: date, taken: set[date]) -> date:
    day = add_banking_days(after, 1)
    while day in taken:
        day = add_banking_days(day, 1)
    return day


def make_entries(app: App, due: Series[DueInstruction]) -> list[sepa.Entry]:
    """One that cannot be trusted or opened stays where it is, and stops no other."""
    entries = []
    for each in due:
        try:
            entries.append(make_entry(app, each))
        except (TamperedRow, EnvelopeError, KeyringError, ValueError, msgspec.MsgspecError) as fault:
            _log.error("an instruction cannot be filed", extra={"payment": each.payment.id, "why": str(fault)})
    return entries


def make_entry(app: App, due: DueInstruction) -> sepa.Entry:
    instruction, payment = due.instruction, trust(app, due.payment)
    money, direction = payment.money, _DIRECTIONS.get(PAYMENT_TYPES[payment.payment_type].direction)
    told = (instruction.channel_id, instruction.amount, instruction.currency, instruction.direction)
    # A debit turned into a credit would pay out, and one of another channel would go to another creditor.
    if told != (payment.channel_id, money.hundredths, money.currency, direction):
        raise ValueError("the instruction is not what the payment says")
    if instruction.account_of != payment.first_id:
        raise ValueError("the instruction names the account of another payment")
    if app.is_live is not (payment.test_mode is None):
        # Stores get copied: nothing about a real payment may leave a test host, nor the other way round.
        raise ValueError("the payment belongs to another environment")
    if due.sealed_account is None:
        raise ValueError("the payment has no account")
    owner = name_owner("payment", instruction.merchant_id, instruction.account_of)
    account = open_account(due.sealed_account, owner=owner, keyring=app.keyring)
    if not isinstance(account, BankAccount) or account.iban is None:
        raise ValueError("the account is no bank account")
    return sepa.Entry(
        id=instruction.id,
        amount=instruction.amount,
        account=account,
        mandate_id=instruction.mandate_id,
        signed_on=instruction.signed_on,
        purpose=instruction.purpose,
    )
