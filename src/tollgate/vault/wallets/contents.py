"""The code that all wallets share: their errors, the owner of a sealed key, and the card in a token.

No token is opened here.
"""

import re

from tollgate.catalog import brands, wallets
from tollgate.catalog.limits import LIMITS
from tollgate.payments.accounts import CardAccount, OpenedCard, OpenedWallet, make_card_summary
from tollgate.values import ChannelId, Instant, Secret

_NUMBER = re.compile("[0-9]{8,19}")
_MONTH = re.compile("0[1-9]|1[0-2]")
_YEAR = re.compile("20[0-9]{2}")
_ECI = re.compile("[0-9]{1,2}")


class WalletTokenError(Exception):
    """The token does not open, or it opened and has expired. No other reason is given: it would help a forger."""

    def __init__(self, *, is_expired: bool = False) -> None:
        super().__init__("the wallet's token is expired" if is_expired else "the wallet's token does not open")
        self.is_expired = is_expired


class WalletKeyError(Exception):
    """The key of a wallet that an operator imports cannot be used; the message says why, never what the key is."""


def get_wallet_key_owner(channel_id: ChannelId, key_id: str) -> str:
    """Returns the owner that a wallet key is sealed for, so that it opens in its own row only."""
    return f"wallet_key/{channel_id}/{key_id}"


def make_opened(
    wallet: wallets.Wallet,
    *,
    number: str,
    expiry: tuple[str, str],
    unique: str,
    number_type: str = "DPAN",
    cryptogram: str | None = None,
    eci: str | None = None,
    holder: str | None = None,
) -> OpenedWallet:
    """expiry: the month and the year with its century."""
    month, year = expiry
    shapes = ((_NUMBER, number), (_MONTH, month), (_YEAR, year), (_ECI, eci or "00"))
    if not unique or any(shape.fullmatch(text) is None for shape, text in shapes):
        raise ValueError("the token holds no card")
    account = CardAccount(
        number=Secret(number),
        expiry_month=month,
        expiry_year=year,
        holder=holder or None,
        number_type=number_type,
        cryptogram=Secret(cryptogram) if cryptogram else None,
        wallet=wallet,
    )
    brand = brands.detect_brand(number)
    card = OpenedCard(
        account=account,
        card_summary=make_card_summary(number, account),
        network=brand.code if brand else None,
        # Some devices leave out the leading zero, which acquirers expect.
        eci=eci.zfill(2) if eci else None,
    )
    return OpenedWallet(card, unique)


def check_age(made_at: Instant, now: Instant) -> None:
    """Refuses a token that is too old, or from the future: a clock is wrong, or it was made in advance."""
    if abs(now - made_at) > LIMITS.wallet_token_age:
        raise WalletTokenError(is_expired=True)
