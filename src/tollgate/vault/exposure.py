"""Compares an opened account with texts that are about to be stored in clear. Only names leave this module."""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import contains_number, normalize_iban, normalize_number
from tollgate.payments import BankAccount, CardAccount, Instrument, TokenAccount


def find_exposed(account: Instrument, texts: Mapping[str, str]) -> list[str]:
    """Lists the names of the texts that contain the number of the account, however it is spelled."""
    numbers = list(filter(None, _list_numbers(account)))
    return [name for name, text in texts.items() if any(contains_number(text, number) for number in numbers)]


def _list_numbers(account: Instrument) -> list[str]:
    """Returns the numbers of an account as they are looked for; one that is too short is empty."""
    match account:
        case CardAccount() | TokenAccount():
            return [normalize_number(account.number.reveal())]
        case BankAccount(iban=iban, number=number):
            known = [] if iban is None else [normalize_iban(iban.reveal())]
            return known if number is None else [*known, normalize_number(number.reveal())]
        case _:
            return []
