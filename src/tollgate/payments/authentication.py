"""The authentication of a card payment's shopper: the merchant's request, the stage and the result. No I/O.

In which messages it is asked for is known to the connector alone.
"""

from enum import IntEnum

import msgspec

from tollgate.values import Instant, MerchantId, PaymentId


class Browser(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The shopper's browser as it describes itself."""

    accept_header: str | None = None
    language: str | None = None
    screen_height: str | None = None
    screen_width: str | None = None
    timezone: str | None = None
    user_agent: str | None = None
    java_enabled: str | None = None
    javascript_enabled: str | None = None
    screen_color_depth: str | None = None
    challenge_window: str | None = None
    ip: str | None = None


class AuthenticationRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The merchant's request for an authentication; the gateway fills in empty members."""

    browser: Browser | None = None
    """The browser as the merchant described it; if None, the gateway's own page asks it."""
    device: str | None = None
    """The device data of an app."""
    challenge_indicator: str | None = None
    is_decoupled: bool = False
    requestor_reason: str | None = None
    """Set if the merchant asks while the shopper is not present."""
    is_unwanted: bool = False
    """The merchant switched it off for this payment; a channel may require it all the same."""


class Stage(IntEnum):
    """The stage of an authentication. The numbers are stored."""

    OPEN = 0
    """The shopper's browser has to open the gateway's page first."""
    CHALLENGED = 1
    """The issuer asks the shopper."""
    ANSWERED = 2
    """The result is known and not yet acted upon."""
    CLOSED = 3


class AuthenticationResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last result of the directory server, or of the issuer through it."""

    status: str
    """Y, A, N, U, R, I: as in the messages of the schemes. Other letters are never a result."""
    reason: str | None = None
    eci: str | None = None
    value: str | None = None
    """The proof that goes to the acquirer."""
    cancelled: str | None = None
    """The reason why a challenge ended without an answer."""


class AuthenticationCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One authentication as it is stored beside the payment that waits for it."""

    server_id: str
    version: str = "2.2.0"
    method_url: str | None = None
    is_method_done: bool = False
    """The issuer's hidden page has finished."""
    is_asked: bool = False
    """The issuer was asked; the stage shows whether it answered."""
    ds_id: str | None = None
    acs_id: str | None = None
    acs_url: str | None = None
    flow: str | None = None
    """challenge or frictionless"""
    is_mandated: str | None = None
    """Y if the issuer required a challenge."""
    card_holder_text: str | None = None
    category: str = "01"
    """02 if no payment was authenticated; there may be no proof then."""
    error: dict[str, str] = {}
    """The directory server's reasons for not asking the issuer, by the names of the answer."""
    results_hash: str = ""
    """The hash of the secret in the address to which the result is sent."""
    shopper_token_hash: str = ""
    """The hash of the key in the shopper's address; it is compared also after the sealed code was wiped."""
    result: AuthenticationResult | None = None


class AuthenticationRow(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: PaymentId
    stage: Stage
    created_at: Instant
    expires_at: Instant
    body: AuthenticationCase
    mac: bytes | None = None
    """The signature; a closed authentication has none."""
    sealed_secret: bytes | None = None
    """The security code, sealed under a key that is stored nowhere."""

    @property
    def is_closed(self) -> bool:
        return self.stage is Stage.CLOSED

    @property
    def facts(self) -> tuple[object, ...]:
        """Returns what the signature covers."""
        body = msgspec.to_builtins(self.body)
        return self.merchant_id, self.id, self.stage.value, self.created_at, self.expires_at, body
