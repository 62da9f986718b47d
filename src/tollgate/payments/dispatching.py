"""Dispatching: the rows by which a request that names a merchant is given to one of its channels.

Reading the request, and refusing what fits no row, is left to `flows`.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from tollgate.values import DAY, HOUR, ChannelId, Instant, MerchantId

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FIRST_WEEKDAY = 3
"""The first day of 1970 was a Thursday."""
_HOURS = 24


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
    """Hours of the day in UTC, such as 08-20; the second is not included, and 22-06 goes past midnight."""
    weekdays: tuple[str, ...] = ()


class DispatchRow(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    position: int
    """The first row that fits counts."""
    channel_id: ChannelId
    conditions: Conditions = Conditions()


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """The facts by which a request is dispatched; what is not known meets no condition."""

    at: Instant
    brand: str = ""
    currency: str = ""
    amount: int | None = None
    bin: str = ""
    """The first digits of the card number, as many as are known."""
    country: str = ""
    payment_type: str = ""


class Ground(StrEnum):
    """The kinds of conditions, in the order in which the first that fails is told."""

    PAYMENT_TYPE = "payment type"
    BRAND = "brand"
    CURRENCY = "currency"
    COUNTRY = "country"
    BIN = "first digits of the card number"
    AMOUNT = "amount"
    TIME = "time"


class Misfit(msgspec.Struct, frozen=True):
    """The row that came nearest to a request that fits none, its place from 1, and what it asks for in vain."""

    row: DispatchRow
    place: int
    grounds: tuple[Ground, ...]


def choose_row(rows: Sequence[DispatchRow], traits: Traits) -> DispatchRow | Misfit:
    """Returns the first row whose conditions are all met, or else the one with the fewest that are not."""
    misfits = []
    for place, row in enumerate(rows, start=1):
        grounds = list_unmet(row.conditions, traits)
        if not grounds:
            return row
        misfits.append(Misfit(row, place, grounds))
    return min(misfits, key=lambda misfit: len(misfit.grounds))


def list_unmet(conditions: Conditions, traits: Traits) -> tuple[Ground, ...]:
    met = {
        Ground.PAYMENT_TYPE: not conditions.payment_types or traits.payment_type in conditions.payment_types,
        Ground.BRAND: not conditions.brands or traits.brand in conditions.brands,
        Ground.CURRENCY: not conditions.currencies or traits.currency in conditions.currencies,
        Ground.COUNTRY: not conditions.countries or traits.country in conditions.countries,
        Ground.BIN: not conditions.bins or traits.bin.startswith(conditions.bins),
        Ground.AMOUNT: _is_amount_met(conditions, traits.amount),
        Ground.TIME: _is_hour_met(conditions.hours, traits.at) and _is_weekday_met(conditions.weekdays, traits.at),
    }
    return tuple(ground for ground, is_met in met.items() if not is_met)


def _is_amount_met(conditions: Conditions, amount: int | None) -> bool:
    least, most = conditions.amount_min, conditions.amount_max
    if least is None and most is None:
        return True
    return amount is not None and (least is None or least <= amount) and (most is None or amount <= most)


def _is_hour_met(hours: str, at: Instant) -> bool:
    if not hours:
        return True
    first, end = map(int, hours.split("-"))
    return (at // HOUR - first) % _HOURS < (end - first) % _HOURS


def _is_weekday_met(weekdays: tuple[str, ...], at: Instant) -> bool:
    return not weekdays or WEEKDAYS[(at // DAY + _FIRST_WEEKDAY) % len(WEEKDAYS)] in weekdays
