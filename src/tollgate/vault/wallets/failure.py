"""Why a wallet's token or key is not taken. A token's failure has no reason, because a reason would be an oracle."""

from __future__ import annotations


class WalletTokenError(Exception):
    """The token does not open; or it did, authentically, and its time is over."""

    def __init__(self, *, is_expired: bool = False) -> None:
        super().__init__("the wallet's token is expired" if is_expired else "the wallet's token does not open")
        self.is_expired = is_expired


class WalletKeyError(Exception):
    """What an operator gave as a wallet's key cannot be used; the message says why, never what it holds."""
