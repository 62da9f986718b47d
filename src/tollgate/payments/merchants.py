"""Merchants, their channels and their credentials. Who may use them is decided elsewhere."""

from __future__ import annotations

import msgspec

from tollgate.values import ChannelId, Instant, MerchantId


class Merchant(msgspec.Struct, frozen=True, kw_only=True):
    id: MerchantId
    name: str
    created_at: Instant


class Creditor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who collects direct debits and pays credits out of a channel, as the banks know it."""

    name: str
    iban: str
    bic: str
    identifier: str
    """The creditor identifier under which mandates are signed."""


class ThreeDsTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a channel authenticates its shoppers."""

    test_url: str | None = None
    """The directory server's own test system, for requests in EXTERNAL test mode."""
    live_url: str | None = None
    acquirer_bin: str = "000000"
    acquirer_merchant_id: str = ""
    requestor_id: str = ""
    requestor_name: str = ""
    requestor_url: str = ""
    mcc: str = ""
    """The category of what the merchant sells, where a payment names no other."""
    country: str = ""
    server_reference: str = ""
    """The number under which the schemes certified this installation."""
    is_required: bool = False
    """Whether a card payment without authentication is refused as a soft decline."""


class TokenTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a channel gets the network tokens of its stored cards."""

    test_url: str | None = None
    """The token vault's own test system, for what is stored in EXTERNAL test mode."""
    live_url: str | None = None
    requestor_id: str = ""
    """The merchant's number there."""


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """One entity id: the settings under which a merchant's requests are read and routed."""

    id: ChannelId
    merchant_id: MerchantId
    name: str
    created_at: Instant
    is_lenient: bool = False
    requires_cvv: bool = False
    is_closed: bool = False
    test_url: str | None = None
    """The processor's own test system, for requests in EXTERNAL test mode."""
    live_url: str | None = None
    """The acquirer of a live host."""
    rebills_max: int = 98
    """How often one payment may be rebilled."""
    creditor: Creditor | None = None
    three_ds: ThreeDsTerms | None = None
    reuses_registrations: bool = False
    """Whether an account that is stored already is answered with its registration instead of a new one."""
    uses_network_tokens: bool = False
    """Whether stored cards are charged by a number that their network issues for this merchant."""
    token_terms: TokenTerms | None = None
    return_schemes: tuple[str, ...] = ()
    """The schemes of the merchant's apps, to which shoppers may return beside the web."""


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """An access token as it is stored: hashed to be found, sealed to be shown."""

    id: str
    merchant_id: MerchantId
    user_id: str
    token_hash: bytes
    sealed_token: bytes
    created_at: Instant
    revoked_at: Instant | None = None
