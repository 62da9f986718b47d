"""Finds a brand by its code or by a card number, and checks numbers. The rows are in `brand_rows` and
`provider_rows`.
"""

from bisect import bisect_right
from collections.abc import Mapping
from types import MappingProxyType

from tollgate.catalog.brand_rows import CARD_ROWS, AccountType, Brand
from tollgate.catalog.provider_rows import PROVIDER_ROWS

_KEY_DIGITS = 8
"""No published range needs more digits than the eight of a modern issuer number."""

ROWS = (*CARD_ROWS, *PROVIDER_ROWS)

BRANDS: Mapping[str, Brand] = MappingProxyType({row.code: row for row in ROWS})

_ALIASES: Mapping[str, Brand] = {alias: row for row in ROWS for alias in row.aliases}


def find_brand(code: str, *, lenient: bool = False) -> Brand | None:
    """Finds a brand by its code; a lenient channel also takes other spellings, in any case."""
    brand = BRANDS.get(code)
    if brand is not None or not lenient:
        return brand
    upper = code.upper().replace("-", "_").replace(" ", "_")
    return BRANDS.get(upper) or _ALIASES.get(upper)


def detect_brand(number: str) -> Brand | None:
    """Finds the brand whose own range contains the number; a co-brand has none, so its network is found."""
    if not number.isdecimal():
        return None
    return _OWNERS[bisect_right(_STARTS, _key(number))]


def accepts_number(brand: Brand, number: str) -> bool:
    """Checks length, range and, where the brand uses it, the check digit."""
    if brand.lengths and len(number) not in brand.lengths:
        return False
    if not _is_in_range(brand, number):
        return False
    return not brand.luhn or passes_luhn(number)


def fits_any_brand(number: str) -> bool:
    """Returns True if a brand with a range of its own has numbers of this prefix and length."""
    key = _key(number)
    return any(
        len(number) in row.lengths and any(start <= key < end for start, end in _RANGES[row.code])
        for row in ROWS
        if row.prefixes
    )


def passes_luhn(number: str) -> bool:
    text = number.encode()
    doubled = text[-2::-2].translate(_DOUBLED)
    kept = text[-1::-2].translate(_KEPT)
    return (sum(doubled) + sum(kept)) % 10 == 0


def _digit_table(values: tuple[int, ...]) -> bytes:
    return bytes(values[code - 48] if 48 <= code <= 57 else 0 for code in range(256))


_DOUBLED = _digit_table((0, 2, 4, 6, 8, 1, 3, 5, 7, 9))
_KEPT = _digit_table((0, 1, 2, 3, 4, 5, 6, 7, 8, 9))


def _key(number: str) -> int:
    return int(number[:_KEY_DIGITS].ljust(_KEY_DIGITS, "0"))


def _is_in_range(brand: Brand, number: str) -> bool:
    """Own ranges count even around a longer prefix of another brand, because brands lend each other numbers."""
    ranges = _RANGES[brand.code]
    if not ranges:
        return True
    key = _key(number)
    # Nearly every number is of the brand that it shows; others are looked for among what brands lend each other.
    if _OWNERS[bisect_right(_STARTS, key)] is brand:
        return True
    return any(start <= key < end for start, end in ranges)


def _key_range(prefix: str) -> tuple[int, int]:
    """Turns `51-55` into the first key inside and the first key after."""
    low, _, high = prefix.partition("-")
    width = 10 ** (_KEY_DIGITS - len(low))
    return int(low) * width, (int(high or low) + 1) * width


def _build_owners() -> tuple[list[int], list[Brand | None]]:
    """Cuts the numbers at the ends of every range and gives each piece to the longest prefix that covers it."""
    ranges = sorted(
        ((len(prefix.partition("-")[0]), *_key_range(prefix), row) for row in ROWS for prefix in row.prefixes),
        key=lambda entry: entry[0],
        reverse=True,
    )
    starts = sorted({edge for _, start, end, _ in ranges for edge in (start, end)})
    owners: list[Brand | None] = [None]
    for start in starts:
        owners.append(next((row for _, low, end, row in ranges if low <= start < end), None))
    return starts, owners


_STARTS, _OWNERS = _build_owners()

_RANGES: Mapping[str, tuple[tuple[int, int], ...]] = {
    row.code: tuple(_key_range(prefix) for code in (row.code, *row.shares) for prefix in BRANDS[code].prefixes)
    for row in ROWS
}

CARD_BRANDS = tuple(row for row in ROWS if row.account is AccountType.CARD)
