"""What the tokens of all wallets hold, in one shape. Whether a token is authentic was decided before."""

from __future__ import annotations

import re

from tollgate.catalog.brands import detect_brand
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import CardAccount, OpenedCard, OpenedWallet, make_card_summary
from tollgate.values import Instant, Secret
from tollgate.vault.wallets.failure import WalletTokenError

_NUMBER = re.compile("[0-9]{8,19}")
_MONTH = re.compile("0[1-9]|1[0-2]")
_YEAR = re.compile("20[0-9]{2}")
_ECI = re.compile("[0-9]{1,2}")


def make_opened(
    wallet: Wallet,
    *,
    number: str,
    expiry: tuple[str, str],
    unique: str,
    number_type: str = "DPAN",
    cryptogram: str | None = None,
    eci: str | None = None,
    holder: str | None = None,
) -> OpenedWallet:
    """The expiry is (month, year with its century)."""
    month, year = expiry
    shapes = ((_NUMBER, number), (_MONTH, month), (_YEAR, year), (_ECI, eci or "00"))
    if not unique or any(shape.fullmatch(text) is None for shape, text in shapes):
        raise ValueError("what was opened is no card")
    account = CardAccount(
        number=Secret(number),
        expiry_month=month,
        expiry_year=year,
        holder=holder or None,
        number_type=number_type,
        cryptogram=Secret(cryptogram) if cryptogram else None,
        wallet=wallet,
    )
    brand = detect_brand(number)
    card = OpenedCard(
        account=account,
        card_summary=make_card_summary(number, account),
        network=brand.code if brand else None,
        # Some devices leave out the leading zero, which acquirers expect.
        eci=eci.zfill(2) if eci else None,
    )
    return OpenedWallet(card, unique)


def check_age(made_at: Instant, now: Instant) -> None:
    """A token from the future is as wrong as an old one: somebody's clock is, or it was made in advance."""
    if abs(now - made_at) > LIMITS.wallet_token_age:
        raise WalletTokenError(is_expired=True)
