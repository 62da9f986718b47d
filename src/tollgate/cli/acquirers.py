"""The commands channel acquirer-secret, for the credentials of a channel at its acquirer, iso8583 explain, and
acquirer-host, which runs a simulated host.

The secrets are sealed in `operations`; what each is for, and what a message means, is known to the connector. The host
itself is in the sandbox.
"""

import re
import sys
from typing import Any, BinaryIO

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.limits import LIMITS
from tollgate.cli.people import channel
from tollgate.cli.program import STORE_FLAGS, program, record, with_settings, with_store
from tollgate.config import Settings
from tollgate.connectors.iso8583 import transcript
from tollgate.connectors.table import CONNECTORS
from tollgate.operations import caches, settings
from tollgate.payments.merchants import Channel
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.vault.keyring import load_keyring
from tollgate.wiring import run_acquirer_host

_LENGTH_MAX = 4096
_NOT_READ = 1
_FILE = click.Path(dir_okay=False)
_HEXADECIMAL = re.compile(rb"\s*(?:[0-9A-Fa-f]{2}\s*)+")
_INPUT_BYTES_MAX = 4 * LIMITS.iso8583_message_bytes_max
"""A message in hexadecimal digits has two for each byte, and blanks between them."""


@channel.command("acquirer-secret")
@click.argument("entity_id")
@click.argument("name")
@click.option("--remove", is_flag=True, help="Forget the secret.")
@with_settings(*STORE_FLAGS)
def set_acquirer_secret(entity_id: str, name: str, *, remove: bool, **flags: Any) -> None:
    """Read a secret of a channel's acquirer account from standard input and store it encrypted."""

    async def put(database: Database, process: Settings) -> None:
        found = next((row for row in await merchants.list_channels(database) if row.id == entity_id), None)
        if found is None:
            sys.exit(f"tollgate: no channel {entity_id}")
        await put_secret(database, process, found, name, remove=remove)

    with_store(flags, put)


async def put_secret(database: Database, process: Settings, view: Channel, name: str, *, remove: bool) -> None:
    """Stores a secret of the account that a channel, as this view has it, has first."""
    names = CONNECTORS[view.acquirer.connector].secrets if view.acquirer else ()
    if name not in names:
        sys.exit(f"tollgate: the acquirer of this channel has no secret {name}; it has: {', '.join(names) or 'none'}")
    value = "" if remove else sys.stdin.read(_LENGTH_MAX + 1).strip()
    if not remove and not 1 <= len(value) <= _LENGTH_MAX:
        raise click.UsageError(f"standard input must have 1 to {_LENGTH_MAX} characters")
    if not (value.isascii() and value.isprintable()):
        # It becomes part of a header or of a key, where a second line would make every payment fail.
        raise click.UsageError("standard input must have one line of printable ASCII characters")
    keyring, account_id = load_keyring(process.key_path), view.first_account_id
    await record(database, keyring, AuditAction.ACQUIRER_SECRET_CHANGED, account_id, view.merchant_id, secret=name)
    setting = f"{caches.ACQUIRER_SECRETS}{account_id}/{name}"
    if remove:
        await settings.forget_sealed_setting(database, setting)
    else:
        await settings.put_sealed_setting(database, keyring, setting, value.encode())
    await merchants.change_merchants(database, [])


@program.group()
def iso8583() -> None:
    """Messages of ISO 8583."""


@iso8583.command()
@click.argument("file", type=click.File("rb"), default="-")
def explain(file: BinaryIO) -> None:
    """Explain one message, raw or in hexadecimal digits, with or without its length header.

    Accounts are masked. The first byte that is wrong is named, and the exit status is 1 then.
    """
    data = file.read(_INPUT_BYTES_MAX)
    # The bitmap of a raw message is hardly ever made of digits.
    if _HEXADECIMAL.fullmatch(data):
        data = bytes.fromhex(data.decode())
    shown = transcript.explain(transcript.drop_length_header(data))
    click.echo(shown.render())
    if shown.fault is not None:
        sys.exit(_NOT_READ)


@program.command("acquirer-host")
@click.option("--host", "address", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8583, show_default=True, help="0 takes a free port.")
@click.option("--rules", type=_FILE, default="", help="A TOML file of rules, in place of those by amount.")
@click.option("--ledger", type=_FILE, default="", help="A file to which the ledger is written after each change.")
@click.option("--key", type=_FILE, default="", help="A file with the key under which working keys are given out.")
@click.option("--tls-cert", type=_FILE, default="", help="A PEM certificate; with it the host speaks TLS.")
@click.option("--tls-key", type=_FILE, default="", help="Its key, if it is in another file.")
@click.option("--client-ca", type=_FILE, default="", help="The authorities of client certificates, which it requires.")
def serve_acquirer(address: str, port: int, **files: str) -> None:
    """Run a simulated ISO 8583 host, for testMode=EXTERNAL on one machine.

    It approves, declines, delays, drops and duplicates by rules, and prints every message in one line. It needs no
    store. When it is stopped it prints its sums.
    """
    try:
        run_acquirer_host(address, port, click.echo, **files)
    except ValueError as fault:
        raise click.UsageError(str(fault)) from None
    except OSError as fault:
        raise click.ClickException(f"cannot listen on {address} port {port}: {fault.strerror}") from None
