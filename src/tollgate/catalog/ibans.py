"""What is known about bank accounts: how IBANs and BICs are built, and which bank an IBAN names.
The registries are those of schwifty; whether an account may be charged is not decided here.
"""

from __future__ import annotations

# schwifty takes a tenth of a second to import and reads its registries from disk, and most requests bring no account:
# it is imported where it is asked.


def is_iban(text: str) -> bool:
    """Country, length, structure and checksum; whether the account exists only its bank knows."""
    from schwifty import IBAN

    # schwifty forgives blanks, which the interface does not.
    return text.isalnum() and IBAN(text, allow_invalid=True).is_valid


def is_bic(text: str) -> bool:
    from schwifty import BIC

    return text.isalnum() and BIC(text, allow_invalid=True).is_valid


def find_bic(iban: str) -> str | None:
    """None where the country keeps no public list of its banks, or this bank is not on it."""
    from schwifty import IBAN

    bic = IBAN(iban, allow_invalid=True).bic
    return None if bic is None else str(bic)


def build_iban(country: str, bank_code: str, number: str) -> str | None:
    """None where the country does not write its accounts like this."""
    from schwifty import IBAN
    from schwifty.exceptions import SchwiftyException

    try:
        return str(IBAN.generate(country, bank_code, number))
    except SchwiftyException:
        return None


def fits_bank(iban: str, bic: str | None = None, bank_code: str | None = None) -> bool:
    """Only what is known can contradict: another country, another bank code, a BIC that is known as another bank's."""
    from schwifty import BIC, IBAN

    account = IBAN(iban, allow_invalid=True)
    if bank_code is not None and _strip(bank_code) not in _list_bank_codes(account.bank_code, account.branch_code):
        return False
    if bic is None:
        return True
    bank = BIC(bic, allow_invalid=True)
    if bank.country_code != account.country_code:
        return False
    own = find_bic(iban)
    # One bank has many BICs, and all of them begin with the same four characters.
    return own is None or not bank.domestic_bank_codes or own[:4] == str(bank)[:4]


def _list_bank_codes(bank_code: str, branch_code: str) -> set[str]:
    """What a country may mean by a bank code; sort codes and the like are that of the branch."""
    return {_strip(bank_code), _strip(branch_code), _strip(bank_code + branch_code)}


def _strip(code: str) -> str:
    """Leading zeros are lost easily."""
    return code.upper().lstrip("0")
