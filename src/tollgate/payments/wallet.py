"""Mobile wallets: the keys of a channel, and what an opened token says. Nothing is opened, sealed or stored here."""

from __future__ import annotations

import msgspec

from tollgate.payments.account import OpenedCard
from tollgate.values import ChannelId, Instant


class SigningKey(msgspec.Struct, frozen=True, omit_defaults=True):
    """A key with which a wallet's provider vouches for its messages."""

    key: bytes
    """As in a certificate: its subjectPublicKeyInfo."""
    expires_at: Instant | None = None


class WalletPublic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is no secret about a key: whom it stands for, and whose word is believed."""

    key_hash: bytes = b""
    """SHA-256 of the public half, by which a token may name the key that it was made for."""
    recipient: str = ""
    """To whom tokens are addressed: a merchant identifier, or `gateway:...` or `merchant:...`."""
    gateway_merchant: str | None = None
    """Where one key serves many merchants of a gateway, the one whose tokens are taken on this channel."""
    roots: tuple[str, ...] = ()
    """Certificates, as PEM, in one of which the chain of a signature has to end."""
    signing_keys: tuple[SigningKey, ...] = ()
    """Keys, by one of which an intermediate signing key has to be signed."""


class WalletKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key with which a channel opens the tokens of one wallet."""

    id: str
    channel_id: ChannelId
    wallet: str
    created_at: Instant
    public: WalletPublic
    sealed_key: bytes


class OpenedWallet(msgspec.Struct, frozen=True):
    """What an authentic token held."""

    card: OpenedCard
    unique: str
    """The same for every copy of one token, however it is spelled, and for no other token."""
