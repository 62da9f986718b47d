"""Splits: how an amount is shared out among the sellers of a marketplace, to the last unit of its currency.

Which payments have a split, and what a seller has left of one, is decided in `chain`.
"""

from collections.abc import Mapping, Sequence

import msgspec

from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.sellers import make_seller_names
from tollgate.values import Money, render_hundredths


class Share(msgspec.Struct, frozen=True, array_like=True):
    """The part of a payment that belongs to one seller, in whole hundredths."""

    seller_id: str
    amount: int


Split = tuple[Share, ...]
"""The shares of a payment, each of another seller; they add up to its amount. Empty where no sellers were named."""


def sum_split(split: Split) -> int:
    return sum(share.amount for share in split)


def render_split(split: Split) -> dict[str, str]:
    """Returns the parameters by which a merchant would have sent these shares."""
    fields: dict[str, str] = {}
    for index, share in enumerate(split):
        seller_id, amount = make_seller_names(index)
        fields |= {seller_id: share.seller_id, amount: render_hundredths(share.amount)}
    return fields


def share_out(count: int, weights: Sequence[int]) -> list[int]:
    """Shares units out in proportion to weights, by largest remainder; of equal remainders the first gets the unit.

    No share is larger than its weight as long as there are no more units than weights in all.
    """
    total = sum(weights)
    if not total:
        return share_out(count, [1] * len(weights))
    shares = [count * weight // total for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda place: -(count * weights[place] % total))
    for place in by_remainder[: count - sum(shares)]:
        shares[place] += 1
    return shares


def split_money(money: Money, left: Mapping[str, int], whole: Split) -> Split:
    """Splits an amount in proportion to what each seller has left; sellers whose share is nothing are left out.

    A chargeback may be larger than all that is left. Its excess is split in proportion to the whole payment.
    """
    # Half a yen cannot be paid out.
    unit = 1 if CURRENCIES[money.currency].exponent else 100
    count = money.hundredths // unit
    weights = [max(0, left.get(share.seller_id, 0)) // unit for share in whole]
    within = min(count, sum(weights))
    shares = share_out(within, weights) if within else [0] * len(weights)
    if count > within:
        excess = share_out(count - within, [share.amount for share in whole])
        shares = [one + other for one, other in zip(shares, excess, strict=True)]
    return tuple(Share(share.seller_id, part * unit) for share, part in zip(whole, shares, strict=True) if part)
