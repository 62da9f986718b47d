"""Opens the token of a mobile wallet with the first of a channel's keys that fits.

All tokens that do not open fail alike, so that nobody learns how far a forgery came.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType

import msgspec
from cryptography.exceptions import InvalidSignature, InvalidTag, UnsupportedAlgorithm
from joserfc.errors import JoseError

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, WalletKey
from tollgate.values import Instant, Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets import contents, wallet_a, wallet_b, wallet_c
from tollgate.vault.wallets.keys import UnsealedKey, unseal_wallet_key

_Open = Callable[[str, UnsealedKey, Instant], OpenedWallet]

_OPENERS: Mapping[Wallet, _Open] = MappingProxyType(
    {Wallet.A: wallet_a.open_with, Wallet.B: wallet_b.open_with, Wallet.C: wallet_c.open_with}
)

_UNOPENED = (
    # Parsers raise ValueError, and RecursionError over JSON that is nested too deeply.
    ValueError,
    RecursionError,
    msgspec.MsgspecError,
    InvalidSignature,
    InvalidTag,
    UnsupportedAlgorithm,
    JoseError,
    # Libraries warn of odd certificates and old algorithms, and a host may have made warnings errors.
    Warning,
)
"""The exceptions that parsing and cryptography raise over a token that is not genuine; others are bugs."""


def open_token(
    wallet: Wallet, token: Secret, keys: Iterable[WalletKey], keyring: Keyring, now: Instant
) -> OpenedWallet:
    text = token.reveal()
    if len(text) <= LIMITS.wallet_token_length_max:
        for key in keys:
            unsealed = unseal_wallet_key(key, keyring)
            # Only a token that opened can be expired; one that does not open may open with the next key.
            with suppress(*_UNOPENED):
                return _OPENERS[wallet](text, unsealed, now)
    raise contents.WalletTokenError
