"""The way in to the wallets. Certificates and JWE take long to import, so they are when the first wallet is met."""

from __future__ import annotations

from collections.abc import Iterable

from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, WalletKey, WalletPublic
from tollgate.values import ChannelId, Instant, RandomBytes, Secret, system_random_bytes
from tollgate.vault.keyring import Keyring


def name_wallet_key_owner(channel_id: ChannelId, key_id: str) -> str:
    """The one row in which a sealed wallet key may be opened."""
    return f"wallet_key/{channel_id}/{key_id}"


def make_wallet_key(
    wallet: Wallet,
    private_pem: bytes,
    *,
    channel_id: ChannelId,
    public: WalletPublic,
    keyring: Keyring,
    now: Instant,
    is_new: bool = False,
    random_bytes: RandomBytes = system_random_bytes,
) -> WalletKey:
    """A key of a channel, checked and sealed; raises WalletKeyError over one that could open nothing.

    One that is new, made a moment ago by ourselves, is spared the proof that its numbers are prime, which takes long.
    """
    from tollgate.vault.wallets.keys import check_wallet_key, seal_wallet_key

    private, known = check_wallet_key(wallet, private_pem, public, is_new=is_new)
    return seal_wallet_key(wallet, private, channel_id, known, keyring=keyring, now=now, random_bytes=random_bytes)


def open_wallet_token(
    wallet: Wallet, token: Secret, keys: Iterable[WalletKey], keyring: Keyring, now: Instant
) -> OpenedWallet:
    """Raises WalletTokenError, and over the token's bytes nothing else."""
    from tollgate.vault.wallets.opening import open_token

    return open_token(wallet, token, keys, keyring, now)
