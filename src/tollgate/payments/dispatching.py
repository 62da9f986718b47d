"""Dispatching: the rows by which a request that names a merchant is given to one of its channels.

Reading the request, and refusing what fits no row, is left to `flows`.
"""

import msgspec

from tollgate.values import ChannelId, MerchantId


class Conditions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The conditions that a payment must meet; an empty one is met by all."""

    brands: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    amount_min: int | None = None
    """The smallest amount, in hundredths as the largest is; both are included."""
    amount_max: int | None = None
    bins: tuple[str, ...] = ()
    """First digits of card numbers."""
    countries: tuple[str, ...] = ()
    """Countries of the billing address, or else of the shipping address."""
    payment_types: tuple[str, ...] = ()
    hours: str = ""
    """Hours of the day in UTC, such as 08-20; the second is not included."""
    weekdays: tuple[str, ...] = ()


class DispatchRow(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    position: int
    """The first row that fits counts."""
    channel_id: ChannelId
    conditions: Conditions = Conditions()
