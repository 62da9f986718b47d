"""The commands wallet-token, for tokens to try on a test host, and channel wallet-key, for the keys of real wallets.

Tokens are made in `sandbox`, keys are sealed in `vault`.
"""

import re
import ssl
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.parameters.names import ALIASES
from tollgate.catalog.wallets import Wallet
from tollgate.cli.people import channel
from tollgate.cli.program import STORE_FLAGS, program, read_settings, record, with_settings, with_store
from tollgate.config import Settings
from tollgate.payments.accounts import SigningKey, WalletPublic
from tollgate.store import merchants, opening
from tollgate.store.database import Database
from tollgate.values import SECOND, ChannelId, Instant, SystemClock, read_hundredths
from tollgate.vault.keyring import load_keyring
from tollgate.vault.wallets import contents, loading
from tollgate.wiring import make_sandbox_token
from tollgate.workers import CLOCK_OFFSET

_BRANDED = {alias: Wallet(name) for alias, name in ALIASES.items() if name in set(Wallet)}
_WALLETS = _BRANDED | {wallet.value: wallet for wallet in Wallet}
_EXPIRY = re.compile(r"(0[1-9]|1[0-2])/(20[0-9]{2})")
_AMOUNT = re.compile(r"[0-9]{1,10}(\.[0-9]{2})?")
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_MILLISECOND: Instant = 1000
_NAME = click.Choice(list(_WALLETS))
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _RootKey(msgspec.Struct, rename="camel"):
    key_value: bytes
    protocol_version: str
    key_expiration: str | None = None


class _RootKeys(msgspec.Struct):
    """The file in which walletB's provider publishes its root signing keys."""

    keys: list[_RootKey]


@program.command("wallet-token")
@click.option("--wallet", "name", type=_NAME, default=next(iter(_WALLETS)), show_default=True)
@click.option("--entity", "entity_id", help="For which channel; else the strict one of the sandbox merchant.")
@click.option("--number", default="4200000000000000", show_default=True, help="The device's card number.")
@click.option("--expiry", default="05/2034", show_default=True, help="MM/YYYY")
@click.option("--amount", default="92.00", show_default=True)
@click.option("--currency", type=click.Choice(list(CURRENCIES)), default="EUR", show_default=True, metavar="CODE")
@click.option("--age", "age_s", type=int, default=0, help="How many seconds ago it was made; below 0, in the future.")
@with_settings(*STORE_FLAGS)
def wallet_token(
    name: str, entity_id: str | None, number: str, expiry: str, amount: str, currency: str, age_s: int, **flags: Any
) -> None:
    """Print one token of a mobile wallet, which a channel of this test host opens once."""
    settings = read_settings(flags)
    if settings.is_live:
        raise click.UsageError("a live host has no wallets of its own")
    month, year = _match(_EXPIRY, expiry, "--expiry is MM/YYYY").groups()
    _match(_AMOUNT, amount, "--amount is a number such as 92.00")
    if not re.fullmatch("[0-9]{8,19}", number):
        raise click.UsageError("--number is a card number of 8 to 19 digits")

    async def make(database: Database, settings: Settings) -> str | None:
        now = SystemClock(int(await opening.get_setting(database, CLOCK_OFFSET, "0"))).now()
        return await make_sandbox_token(
            database,
            load_keyring(settings.key_path),
            entity_id,
            wallet=_WALLETS[name],
            made_at=now - age_s * SECOND,
            number=number,
            expiry_month=month,
            expiry_year=year,
            amount_hundredths=read_hundredths(amount if "." in amount else f"{amount}.00"),
            currency=currency,
        )

    token = with_store(flags, make)
    if token is None:
        sys.exit(f"tollgate: the channel {entity_id} does not have this test host's wallet keys")
    click.echo(token)


@channel.group("wallet-key")
def wallet_key() -> None:
    """Keys with which channels open the tokens of mobile wallets."""


@wallet_key.command("add")
@click.argument("entity_id")
@click.option("--wallet", "name", type=_NAME, required=True)
@click.option("--key", "private_file", type=_FILE, required=True, help="The private key, PEM without password.")
@click.option("--recipient", default="", help="The merchant identifier, or gateway:... or merchant:...")
@click.option("--roots", "root_file", type=_FILE, help="Root certificates of the provider, PEM or DER (applePay).")
@click.option("--signing-keys", "signing_file", type=_FILE, help="Root signing keys, as published (googlePay).")
@click.option("--gateway-merchant", help="Take tokens of this gatewayMerchantId only (googlePay).")
@with_settings(*STORE_FLAGS)
def add_wallet_key(
    entity_id: str,
    name: str,
    private_file: Path,
    recipient: str,
    root_file: Path | None,
    signing_file: Path | None,
    gateway_merchant: str | None,
    **flags: Any,
) -> None:
    """Give a channel a key and print the key's id. The key file itself may be destroyed afterwards."""
    public = WalletPublic(
        recipient=recipient,
        gateway_merchant=gateway_merchant,
        roots=_read_roots(root_file) if root_file else (),
        signing_keys=_read_signing_keys(signing_file) if signing_file else (),
    )

    async def insert(database: Database, settings: Settings) -> str:
        channel = next((row for row in await merchants.list_channels(database) if row.id == entity_id), None)
        if channel is None:
            sys.exit(f"tollgate: no channel {entity_id}")
        keyring = load_keyring(settings.key_path)
        try:
            key = loading.make_wallet_key(
                _WALLETS[name],
                private_file.read_bytes(),
                channel_id=ChannelId(entity_id),
                public=public,
                keyring=keyring,
                now=SystemClock().now(),
            )
        except contents.WalletKeyError as failure:
            sys.exit(f"tollgate: {failure}")
        await record(database, keyring, AuditAction.WALLET_KEY_ADDED, key.id, channel.merchant_id, channel=entity_id)
        await merchants.insert_wallet_key(database, key)
        return key.id

    click.echo(with_store(flags, insert))


@wallet_key.command("list")
@with_settings(*STORE_FLAGS)
def show_wallet_keys(**flags: Any) -> None:
    """Print one line for each key, without the key."""
    names = {wallet: alias for alias, wallet in _BRANDED.items()}
    for row in with_store(flags, lambda database, _settings: merchants.list_wallet_keys(database)):
        recipient = f"  {row.public.recipient}" if row.public.recipient else ""
        click.echo(f"{row.id}  channel {row.channel_id}  {names[Wallet(row.wallet)]}{recipient}")


@wallet_key.command("remove")
@click.argument("key_id")
@with_settings(*STORE_FLAGS)
def remove_wallet_key(key_id: str, **flags: Any) -> None:
    """Take a key away; tokens that were made for it no longer open."""

    async def remove(database: Database, settings: Settings) -> None:
        if not any(row.id == key_id for row in await merchants.list_wallet_keys(database)):
            sys.exit(f"tollgate: no wallet key {key_id}")
        await record(database, load_keyring(settings.key_path), AuditAction.WALLET_KEY_REMOVED, key_id)
        await merchants.delete_wallet_key(database, key_id)

    with_store(flags, remove)


def _match(pattern: re.Pattern[str], text: str, complaint: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise click.UsageError(complaint)
    return found


def _read_roots(path: Path) -> tuple[str, ...]:
    """Reads root certificates: one as DER, or several as PEM."""
    content = path.read_bytes()
    found = _CERTIFICATE.findall(content.decode("latin-1"))
    return tuple(found) or (ssl.DER_cert_to_PEM_cert(content),)


def _read_signing_keys(path: Path) -> tuple[SigningKey, ...]:
    """Reads the keys of the newest protocol; the file also has keys of older ones."""
    try:
        published = msgspec.json.decode(path.read_bytes(), type=_RootKeys)
        return tuple(
            SigningKey(key.key_value, int(key.key_expiration) * _MILLISECOND if key.key_expiration else None)
            for key in published.keys
            if key.protocol_version == "ECv2"
        )
    except (msgspec.MsgspecError, ValueError):
        sys.exit(f"tollgate: {path} is not the file that the provider publishes")
