"""The commands merchant and channel. Changes reach running servers within seconds."""

import sys
from typing import Any

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.channel_terms import merge_flags, refuse_unsafe_addresses, with_channel_flags
from tollgate.cli.program import STORE_FLAGS, program, record, with_settings, with_store
from tollgate.config import Settings
from tollgate.contract.channels import hide_login, render_channel_value
from tollgate.operations import acquirer_accounts
from tollgate.payments.merchants import Channel, Merchant
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.values import ChannelId, MerchantId, SystemClock, is_id, make_id
from tollgate.vault.keyring import load_keyring


@program.group()
def merchant() -> None:
    """Merchants of this host."""


@program.group()
def channel() -> None:
    """Channels (entity ids) of merchants."""


def _check_id(_context: click.Context, _flag: click.Parameter, value: str | None) -> str:
    """Returns the id that was given, or makes one."""
    if value is not None and not is_id(value):
        raise click.BadParameter("an id has 32 digits of 0-9 and a-f")
    return value or make_id()


@merchant.command("add")
@click.argument("name")
@click.option("--id", "merchant_id", callback=_check_id, help="Keep this id, which the merchant has on another host.")
@with_settings(*STORE_FLAGS)
def add_merchant(name: str, merchant_id: str, **flags: Any) -> None:
    """Make a merchant and print its id."""
    new = Merchant(id=MerchantId(merchant_id), name=name, created_at=SystemClock().now())

    async def insert(database: Database, settings: Settings) -> None:
        if any(row.id == new.id for row in await merchants.list_merchants(database)):
            sys.exit(f"tollgate: there is a merchant {new.id} already")
        await record(database, load_keyring(settings.key_path), AuditAction.MERCHANT_ADDED, new.id, new.id, name=name)
        await merchants.insert_merchant(database, new)

    with_store(flags, insert)
    click.echo(new.id)


@merchant.command("list")
@with_settings(*STORE_FLAGS)
def show_merchants(**flags: Any) -> None:
    """Print one line for each merchant."""
    for row in with_store(flags, lambda database, _settings: merchants.list_merchants(database)):
        click.echo(f"{row.id}  {row.name}")


def _split_flags(flags: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the flags that change the channel, and those that name the store."""
    store = {name: flags.pop(name) for name in STORE_FLAGS}
    return {name: value for name, value in flags.items() if value is not None}, store


def _show(changes: dict[str, Any]) -> dict[str, str]:
    return {name: hide_login(render_channel_value(value)) for name, value in changes.items()}


@channel.command("add")
@click.argument("merchant_id")
@click.argument("name")
@click.option("--entity-id", callback=_check_id, help="Keep this entity id, which the merchant has on another host.")
@with_channel_flags(without={"is_closed"})
@with_settings(*STORE_FLAGS)
def add_channel(merchant_id: str, name: str, entity_id: str, **flags: Any) -> None:
    """Make a channel and print its entity id."""
    changes, store = _split_flags(flags)
    now = SystemClock().now()
    bare = Channel(id=ChannelId(entity_id), merchant_id=MerchantId(merchant_id), name=name, created_at=now)
    new = merge_flags(bare, changes)

    async def insert(database: Database, settings: Settings) -> None:
        refuse_unsafe_addresses(new, changes, settings)
        await get_merchant(database, merchant_id)
        if any(row.id == new.id for row in await merchants.list_channels(database)):
            sys.exit(f"tollgate: there is a channel {new.id} already")
        keyring = load_keyring(settings.key_path)
        await record(database, keyring, AuditAction.CHANNEL_ADDED, new.id, merchant_id, name=name, **_show(changes))
        await merchants.insert_channel(database, new)

    with_store(store, insert)
    click.echo(new.id)


@channel.command("set")
@click.argument("entity_id")
@with_channel_flags()
@with_settings(*STORE_FLAGS)
def set_channel(entity_id: str, **flags: Any) -> None:
    """Change the settings of a channel."""
    changes, store = _split_flags(flags)

    async def update(database: Database, settings: Settings) -> None:
        found = next((row for row in await merchants.list_channels(database) if row.id == entity_id), None)
        if found is None:
            sys.exit(f"tollgate: no channel {entity_id}")
        changed = merge_flags(found, changes)
        refuse_unsafe_addresses(changed, changes, settings)
        keyring = load_keyring(settings.key_path)
        await record(database, keyring, AuditAction.CHANNEL_CHANGED, found.id, found.merchant_id, **_show(changes))
        now, new_id = SystemClock().now(), make_id()
        if not await acquirer_accounts.save_channel(database, keyring, found, changed, new_id=new_id, now=now):
            sys.exit(f"tollgate: {acquirer_accounts.NOT_SAVED}")

    with_store(store, update)


@channel.command("list")
@with_settings(*STORE_FLAGS)
def show_channels(**flags: Any) -> None:
    """Print one line for each channel."""
    for row in with_store(flags, lambda database, _settings: merchants.list_channels(database)):
        traits = [
            "lenient" if row.is_lenient else "strict",
            *(["closed"] if row.is_closed else []),
            *([f"test {row.test_url}"] if row.test_url else []),
            *([f"live {row.live_url}"] if row.live_url else []),
            *([f"creditor {row.creditor.identifier}"] if row.creditor else []),
            *(["reuses registrations"] if row.reuses_registrations else []),
            *(["network tokens"] if row.uses_network_tokens else []),
            *(["3DS required"] if row.three_ds and row.three_ds.is_required else []),
        ]
        click.echo(f"{row.id}  merchant {row.merchant_id}  {row.name}  ({', '.join(traits)})")


async def get_merchant(database: Database, merchant_id: str) -> Merchant:
    found = next((row for row in await merchants.list_merchants(database) if row.id == merchant_id), None)
    if found is None:
        sys.exit(f"tollgate: no merchant {merchant_id}")
    return found
