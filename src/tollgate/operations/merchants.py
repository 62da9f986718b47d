"""Channels, credentials and wallet keys in memory, refreshed when the store says they changed.

Nothing is decided about a caller here.
"""

from __future__ import annotations

from collections.abc import Iterable
from hmac import compare_digest

from tollgate.payments import Channel, Credential, WalletKey
from tollgate.store import Database, get_merchants_version, list_wallet_keys, load_merchants
from tollgate.values import ChannelId, MerchantId, Secret, name_node
from tollgate.vault import Keyring, hash_kept_token, hash_token


class MerchantCache:
    """A snapshot; every process of a host refreshes its own within seconds of a change."""

    def __init__(self, keyring: Keyring | None = None) -> None:
        self._keyring = keyring
        """Finds tokens that merchants brought from other hosts; without it there are none."""
        self._version = -1
        self._channels: dict[str, Channel] = {}
        self._credentials: dict[bytes, Credential] = {}
        self._wallet_keys: dict[tuple[str, str], tuple[WalletKey, ...]] = {}
        self._merchants: dict[str, frozenset[MerchantId]] = {}

    async def refresh(self, database: Database) -> bool:
        """True when something changed."""
        if await get_merchants_version(database) == self._version:
            return False
        rows = await load_merchants(database)
        # Read after the version too, so that a key which comes meanwhile is met again.
        self.fill(rows.channels, rows.credentials, await list_wallet_keys(database))
        self._version = rows.version
        return True

    def fill(
        self, channels: Iterable[Channel], credentials: Iterable[Credential], wallet_keys: Iterable[WalletKey] = ()
    ) -> None:
        self._channels = {channel.id: channel for channel in channels}
        self._credentials = {
            credential.token_hash: credential for credential in credentials if credential.revoked_at is None
        }
        self._merchants = {}
        for merchant_id in {channel.merchant_id for channel in self._channels.values()}:
            node = name_node(merchant_id)
            self._merchants[node] = self._merchants.get(node, frozenset()) | {merchant_id}
        self._wallet_keys = {}
        for key in wallet_keys:
            place = key.channel_id, key.wallet
            self._wallet_keys[place] = (*self._wallet_keys.get(place, ()), key)

    def find_channel(self, channel_id: str) -> Channel | None:
        return self._channels.get(channel_id)

    def get_channel(self, channel_id: ChannelId) -> Channel:
        return self._channels[channel_id]

    def list_merchants_of(self, node: str) -> frozenset[MerchantId]:
        """Whose checkouts are named by this node: one merchant's, but for an accident among very many."""
        return self._merchants.get(node, frozenset())

    def find_wallet_keys(self, channel_id: ChannelId, wallet: str) -> tuple[WalletKey, ...]:
        return self._wallet_keys.get((channel_id, wallet), ())

    def find_credential(self, token: Secret) -> Credential | None:
        """Found by hash, which tells nothing of the token, and compared in constant time."""
        return self._find_hashed(hash_token(token)) or (
            self._find_hashed(hash_kept_token(token, self._keyring)) if self._keyring else None
        )

    def _find_hashed(self, hashed: bytes) -> Credential | None:
        credential = self._credentials.get(hashed)
        return credential if credential is not None and compare_digest(credential.token_hash, hashed) else None
