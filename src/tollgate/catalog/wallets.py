"""The mobile wallets of the interface, and their sheets in the browser. Their tokens are opened in the vault."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec


class Wallet(StrEnum):
    """The value is the prefix of its parameters."""

    A = "walletA"
    B = "walletB"
    C = "walletC"


class WalletSheet(msgspec.Struct, frozen=True):
    """The way in which a payment form asks a wallet for a token."""

    name: str
    """The form's options and the parameters of the wallet begin with this name."""
    script_url: str
    """The wallet's own script, which a form loads on a live host."""


WALLET_SHEETS: Mapping[str, WalletSheet] = MappingProxyType(
    {
        "APPLEPAY": WalletSheet("applePay", "https://applepay.cdn-apple.com/jsapi/1.latest/apple-pay-sdk.js"),
        "GOOGLEPAY": WalletSheet("googlePay", "https://pay.google.com/gp/p/js/pay.js"),
    }
)
"""Each row is found by the code of its brand."""
