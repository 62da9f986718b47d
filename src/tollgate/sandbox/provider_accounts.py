"""The accounts of the simulated provider's world: where prepayments go, and what its shoppers pay from.

All are made up; none is anybody's.
"""

from __future__ import annotations

import hashlib

from tollgate.connectors import redirect
from tollgate.values import DAY, Instant, to_datetime

_BANK_CODE = "10000000"
_BIC = "MARKDEF1100"
_BANK_NAME = "Test Bank"
_HOLDER = "Test Holder"
_SHOPPERS_ID = "shopper@example.com"

SHOPPERS_BANK_ACCOUNT = redirect.ProviderAccount(
    holder=_HOLDER, iban="DE23100000001234567890", bic=_BIC, bank_name=_BANK_NAME
)

_ACCOUNT_DIGITS = 10
_DUE_AFTER = 7 * DAY

_BARCODE_LENGTHS = {"BOLETO": 47, "OXXO": 14}
"""Brands whose shoppers pay with a slip of paper, and how many digits it has."""


def make_collecting_account(key: str, brand: str, reference: str, created_at: Instant) -> redirect.ProviderAccount:
    """Always the same for one session, so that whoever asks again hears the same."""
    digits = _make_digits(key)
    return redirect.ProviderAccount(
        holder="Tollgate Simulator",
        iban=make_german_iban(_BANK_CODE, digits[:_ACCOUNT_DIGITS]),
        bic=_BIC,
        bank_name=_BANK_NAME,
        reference=reference,
        due=to_datetime(created_at + _DUE_AFTER).date().isoformat(),
        barcode=digits[_ACCOUNT_DIGITS:][: _BARCODE_LENGTHS.get(brand, 0)],
    )


def make_shoppers_account(account_id: str) -> redirect.ProviderAccount:
    """The shopper's account at the provider: the one the merchant named, or else the simulated shopper's own."""
    return redirect.ProviderAccount(holder=_HOLDER, account_id=account_id or _SHOPPERS_ID)


def make_german_iban(bank_code: str, number: str) -> str:
    """The check digits make the whole, moved to the end and read as a number, leave 1 when divided by 97."""
    rest = int(f"{bank_code}{number}131400") % 97
    return f"DE{98 - rest:02d}{bank_code}{number}"


def _make_digits(key: str) -> str:
    return str(int.from_bytes(hashlib.sha256(key.encode()).digest(), "big")).zfill(78)
