"""The simulated wallet provider: its keys in the store, and the tokens that it issues.

Keys and signatures are slow to import, so that module is loaded when it is first needed.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from tollgate.catalog.wallets import Wallet
from tollgate.operations.settings import find_sealed_setting, put_sealed_setting
from tollgate.payments.accounts import SigningKey, WalletPublic
from tollgate.sandbox.wallets.provider import GATEWAY_IDENTIFIER, MERCHANT_IDENTIFIER, Provider, TokenRequest
from tollgate.store.database import Database
from tollgate.store.merchants import insert_wallet_key, list_wallet_keys
from tollgate.values import ChannelId, Instant, RandomBytes, system_random_bytes
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets.loading import make_wallet_key

_SETTING = "sandbox_wallets"


async def ensure_wallets(database: Database, keyring: Keyring, entity_ids: Iterable[str], now: Instant) -> None:
    """Makes the provider's keys once. The secrets are saved last; after a crash new ones are made."""
    if await _find_provider(database, keyring) is not None:
        return
    from tollgate.sandbox.wallets.tokens import make_secrets

    made = make_secrets()
    publics = {
        Wallet.A: WalletPublic(recipient=MERCHANT_IDENTIFIER, roots=made.provider.roots),
        Wallet.B: WalletPublic(recipient=GATEWAY_IDENTIFIER, signing_keys=(SigningKey(made.signing_public),)),
        Wallet.C: WalletPublic(),
    }
    for entity_id in entity_ids:
        for wallet, public in publics.items():
            key = make_wallet_key(
                wallet,
                made.private_keys[wallet],
                channel_id=ChannelId(entity_id),
                public=public,
                keyring=keyring,
                now=now,
                is_new=True,
            )
            await insert_wallet_key(database, key)
    await put_sealed_setting(database, keyring, _SETTING, msgspec.json.encode(made.provider))


async def make_wallet_token(
    database: Database,
    keyring: Keyring,
    entity_id: str,
    request: TokenRequest,
    random_bytes: RandomBytes = system_random_bytes,
) -> str | None:
    """Makes a token, or returns None if the channel does not have the keys of this provider."""
    provider = await _find_provider(database, keyring)
    if provider is None:
        return None
    key_hash = hashlib.sha256(provider.recipients[request.wallet]).digest()
    keys = [key for key in await list_wallet_keys(database) if key.channel_id == entity_id]
    if not any(key.wallet == request.wallet and key.public.key_hash == key_hash for key in keys):
        return None
    from tollgate.sandbox.wallets.tokens import MAKERS

    return MAKERS[request.wallet](provider, request, random_bytes)


async def _find_provider(database: Database, keyring: Keyring) -> Provider | None:
    written = await find_sealed_setting(database, keyring, _SETTING)
    return msgspec.json.decode(written, type=Provider) if written else None
