"""The command bank: exports files for banks and imports their returns. What a return does is decided in `flows`."""

import sys
from pathlib import Path
from typing import Any

import click

from tollgate.catalog.return_reasons import RETURN_REASONS
from tollgate.cli.program import STORE_FLAGS, program, read_settings, with_app, with_settings, with_store
from tollgate.connectors import sepa_files, sepa_returns
from tollgate.flows.sepa_files import export_file, take_returns
from tollgate.operations.app import App
from tollgate.payments.merchants import Creditor
from tollgate.store import bank_files, instructions, merchants
from tollgate.store.database import Database
from tollgate.values import render_hundredths, render_timestamp, to_datetime

FOUND, NOT_READ = 1, 2


@program.group()
def bank() -> None:
    """Files for banks, and what banks send back."""


@bank.command("files")
@with_settings(*STORE_FLAGS)
def show_files(**flags: Any) -> None:
    """Print one line for each file."""
    for file in with_store(flags, lambda database, _settings: bank_files.list_bank_files(database)):
        click.echo(describe_file(file))


def describe_file(file: bank_files.BankFile) -> str:
    sequence = f" {file.sequence}" if file.scheme == sepa_files.Scheme.DEBITS else ""
    exported = f"exported {render_timestamp(file.exported_at)}" if file.exported_at else "new"
    total = f"{render_hundredths(file.total)} {file.currency}"
    return (
        f"{file.id}  {file.scheme}{sequence}  due {file.due_on}  {file.entries} entries  {total}  "
        f"channel {file.channel_id}  {exported}"
    )


@bank.command("export")
@click.argument("file_id")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write it there instead of printing it."
)
@with_settings(*STORE_FLAGS)
def export(file_id: str, output: Path | None, **flags: Any) -> None:
    """Export a file for the bank; it may be exported again."""

    async def take_out(app: App) -> bytes:
        file = await bank_files.find_bank_file(app.database, file_id)
        if file is None:
            sys.exit(f"tollgate: no file {file_id}")
        return await export_file(app.database, app.keyring, file, app.clock.now())

    body = with_app(flags, take_out)
    if output is None:
        click.echo(body, nl=False)
    else:
        output.touch(mode=0o600)
        # A file that existed before may have been readable by others.
        output.chmod(0o600)
        output.write_bytes(body)
        click.echo(output)


@bank.command("import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@with_settings(*STORE_FLAGS)
def take_in(path: Path, **flags: Any) -> None:
    """Read what a bank sent back (pain.002 or camt.054); every return becomes a chargeback.

    Ends with 0 where all of it is known, with 1 where something fits no payment, with 2 where it cannot be read.
    """
    try:
        returns = sepa_returns.read_returns(path.read_bytes())
    except ValueError as fault:
        click.echo(f"tollgate: {path}: {fault}", err=True)
        sys.exit(NOT_READ)
    report = with_app(flags, lambda app: take_returns(app, returns))
    groups = (("taken", report.taken), ("known already", report.known), ("unknown", report.unknown))
    for word, notes in groups:
        for note in notes:
            click.echo(f"{word}: {note.reference} ({note.reason}): {note.text}")
    click.echo(", ".join(f"{len(notes)} {word}" for word, notes in groups))
    if report.unknown:
        sys.exit(FOUND)


@bank.command("sample-return")
@click.argument("payment_id")
@click.option("--reason", type=click.Choice(sorted(RETURN_REASONS)), default="AC04", show_default=True)
@with_settings(*STORE_FLAGS)
def sample_return(payment_id: str, reason: str, **flags: Any) -> None:
    """Print a camt.054 that sends a payment of this test host back, to try `bank import` with."""
    if read_settings(flags).is_live:
        sys.exit("tollgate: samples are for test hosts; a bank sends the real ones")
    instruction, creditor = with_store(flags, lambda database, _settings: _get_filed(database, payment_id))
    returned = sepa_returns.BankReturn(
        id=instruction.id,
        message_id=instruction.file_id or "",
        reason=reason,
        amount=instruction.amount,
        currency=instruction.currency,
    )
    at = to_datetime(instruction.created_at)
    click.echo(
        sepa_returns.write_sample_return(returned, iban=creditor.iban, at=at, booked_on=instruction.due_on), nl=False
    )


async def _get_filed(database: Database, payment_id: str) -> tuple[instructions.Instruction, Creditor]:
    for channel in await merchants.list_channels(database):
        found = await instructions.find_instruction(database, channel.merchant_id, payment_id)
        if found is None or found.channel_id != channel.id or channel.creditor is None:
            continue
        if found.state is not instructions.InstructionState.FILED:
            sys.exit(f"tollgate: no file has payment {payment_id} yet")
        return found, channel.creditor
    sys.exit(f"tollgate: no payment {payment_id} that a bank was told of")
