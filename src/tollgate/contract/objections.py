"""Checks that a well-formed order can still fail before anything is sent, each with its own result code. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from tollgate.catalog import CURRENCIES, Brand, accepts_number, passes_luhn
from tollgate.values import Money

ZERO_ALLOWED_FOR = frozenset({"PA"})
"""An authorisation of nothing verifies an account; nothing else makes sense without an amount."""


def find_card_objection(
    number: str, brand: Brand, expiry: tuple[int, int], cvv: str | None, *, cvv_required: bool, today: date
) -> str | None:
    """`expiry` is (year, month); a card is good until the last day of its month."""
    if not accepts_number(brand, number):
        return "100.100.101" if brand.luhn and not passes_luhn(number) else "100.100.700"
    if expiry < (today.year, today.month):
        return "100.100.303"
    if cvv is None:
        return "100.100.600" if cvv_required else None
    return None if len(cvv) == brand.cvv_length else "100.100.601"


def find_amount_objection(kind: str, money: Money) -> str | None:
    if money.hundredths == 0 and kind not in ZERO_ALLOWED_FOR:
        return "100.550.300"
    return find_fraction_objection([money])


def find_fraction_objection(amounts: Iterable[Money]) -> str | None:
    """Money that its currency cannot write, such as half a yen, would reach no acquirer unchanged."""
    if any(CURRENCIES[money.currency].exponent == 0 and money.hundredths % 100 for money in amounts):
        return "100.550.303"
    return None
