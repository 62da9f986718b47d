"""The simulated wallet provider's secrets, and a request for one of its tokens. Tokens are made elsewhere."""

import msgspec

from tollgate.catalog.wallets import Wallet
from tollgate.values import Instant

MERCHANT_IDENTIFIER = "merchant.tollgate-sandbox"
GATEWAY_IDENTIFIER = "gateway:tollgate-sandbox"


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The number is that of a test card, so it is no secret."""

    wallet: Wallet
    made_at: Instant
    number: str
    expiry_month: str
    expiry_year: str
    amount_hundredths: int
    currency: str


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """The secrets of the simulated provider, and the public halves of the channels' keys."""

    roots: tuple[str, ...]
    """Root certificates as PEM, which the channels trust."""
    certificates: tuple[bytes, bytes]
    """Leaf and intermediate."""
    leaf_key: bytes
    signing_key: bytes
    recipients: dict[str, bytes]
    """The public keys, by wallet, to which tokens are encrypted."""
