"""Fingerprints of accounts: the same instrument of one merchant is recognised, though nobody can read its number.

What follows from that is decided elsewhere.
"""

from __future__ import annotations

from tollgate.payments import (
    BankAccount,
    CardAccount,
    CardSummary,
    Instrument,
    TokenAccount,
    VirtualAccount,
    make_card_summary,
)
from tollgate.values import MerchantId, Secret
from tollgate.vault.fingerprint import fingerprint
from tollgate.vault.keyring import Keyring


def fingerprint_account(account: Instrument, brand: str, merchant_id: MerchantId, keyring: Keyring) -> bytes | None:
    """None where there is nothing to recognise it by. Merchants share none, or else they could compare customers."""
    parts = _name(account, brand)
    return None if parts is None else fingerprint("registration", [merchant_id, *parts], keyring)


def shows_face(account: Instrument, card_summary: CardSummary | None, *, is_renewed: bool) -> bool:
    """Whether this is what may be seen of that account; of a card that was renewed since, only its first digits are."""
    if not isinstance(account, CardAccount) or card_summary is None:
        return not isinstance(account, CardAccount) and card_summary is None
    shown = make_card_summary(account.number.reveal(), account)
    return shown.bin == card_summary.bin if is_renewed else shown == card_summary


def _name(account: Instrument, brand: str) -> list[str] | None:
    match account:
        case CardAccount():
            return ["card", account.number.reveal()]
        case TokenAccount():
            return ["token", account.type, account.number.reveal()]
        case BankAccount(iban=Secret() as iban):
            return ["iban", iban.reveal()]
        case BankAccount(number=Secret() as number):
            return ["bank", account.country or "", account.bank_code or account.bic or "", number.reveal()]
        case VirtualAccount(account_id=str() as account_id):
            return ["virtual", brand, account_id]
        case _:
            return None
