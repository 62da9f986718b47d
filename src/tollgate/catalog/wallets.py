"""The mobile wallets of the interface. How their tokens are opened is the vault's affair."""

from __future__ import annotations

from enum import StrEnum


class Wallet(StrEnum):
    """Named as the mount of its parameters."""

    A = "walletA"
    B = "walletB"
    C = "walletC"
