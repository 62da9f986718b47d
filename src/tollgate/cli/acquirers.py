"""The command channel acquirer-secret, for the credentials that a channel has at its acquirer.

The secrets are sealed in `operations`; what each is for is known to the connector.
"""

import sys
from typing import Any

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.people import channel
from tollgate.cli.program import STORE_FLAGS, record, with_settings, with_store
from tollgate.config import Settings
from tollgate.connectors.table import CONNECTORS
from tollgate.operations import caches, settings
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.vault.keyring import load_keyring

_LENGTH_MAX = 4096


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
        names = CONNECTORS[found.acquirer.connector].secrets if found.acquirer else ()
        if name not in names:
            sys.exit(
                f"tollgate: the acquirer of this channel has no secret {name}; it has: {', '.join(names) or 'none'}"
            )
        value = "" if remove else sys.stdin.read(_LENGTH_MAX + 1).strip()
        if not remove and not 1 <= len(value) <= _LENGTH_MAX:
            raise click.UsageError(f"standard input must have 1 to {_LENGTH_MAX} characters")
        keyring = load_keyring(process.key_path)
        await record(database, keyring, AuditAction.ACQUIRER_SECRET_CHANGED, found.id, found.merchant_id, secret=name)
        setting = f"{caches.ACQUIRER_SECRETS}{found.id}/{name}"
        if remove:
            await settings.forget_sealed_setting(database, setting)
        else:
            await settings.put_sealed_setting(database, keyring, setting, value.encode())
        await merchants.change_merchants(database, [])

    with_store(flags, put)
