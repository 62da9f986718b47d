"""IBANs and BICs: their structure, and the bank of an IBAN, by the registries of schwifty.
Whether an account may be charged is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tollgate.catalog.countries import COUNTRIES

if TYPE_CHECKING:
    from schwifty import IBAN

# schwifty takes a tenth of a second to import and reads its registries from disk, and most requests have no bank
# account, so it is imported where it is used.


_BANKS_OWN_CHECKS = frozenset({"HU", "SE"})
"""Countries whose banks compute the last digits in ways of their own, so that they cannot be checked."""


_JOINED_LATELY = frozenset({"AL", "MD", "ME", "MK", "RS"})
"""Countries that the single euro payments area has admitted and the registry does not know as such yet."""


def is_in_sepa(country: str) -> bool:
    """Returns True if accounts of the country can be reached by SEPA; many others have IBANs as well."""
    from schwifty import IBAN
    from schwifty.exceptions import SchwiftyException

    try:
        return country in _JOINED_LATELY or IBAN(f"{country}00", allow_invalid=True).in_sepa_zone
    except SchwiftyException:
        return False


@lru_cache(maxsize=1)
def list_sepa_lengths() -> Mapping[str, int]:
    """Lists how long an IBAN is in each country that SEPA reaches."""
    from schwifty.registry import get_iban_spec

    return {country: get_iban_spec(country).iban_length for country in COUNTRIES if is_in_sepa(country)}


def is_iban(text: str) -> bool:
    """Checks country, length, structure and checksum; only the bank knows whether the account exists."""
    from schwifty import IBAN

    # schwifty takes blanks, which the interface does not.
    return text.isalnum() and IBAN(text, allow_invalid=True).is_valid


def is_bic(text: str) -> bool:
    from schwifty import BIC

    return text.isalnum() and BIC(text, allow_invalid=True).is_valid


def find_bic(iban: str) -> str | None:
    """Returns None where the country has no public list of its banks, or this bank is not on it."""
    from schwifty import IBAN

    bic = IBAN(iban, allow_invalid=True).bic
    return None if bic is None else str(bic)


def build_iban(country: str, bank_code: str, number: str) -> str | None:
    """Returns None where the country does not write accounts like this, or needs more than these parts."""
    from schwifty import IBAN
    from schwifty.exceptions import SchwiftyException

    if country in _BANKS_OWN_CHECKS:
        return None
    try:
        built = IBAN.generate(country, bank_code, number)
    except (SchwiftyException, ValueError, LookupError):
        # It computes check digits before it checks that there are only digits.
        return None
    return str(built) if _is_complete(built, bank_code, number) else None


def _is_complete(built: IBAN, bank_code: str, number: str) -> bool:
    """Returns False where schwifty filled a missing part (a branch, a type) with zeros: that is another account.

    Leading zeros may be lost, except where a check digit is computed: a number that is too short may end in it already.
    """
    bban = built.bban
    bank, check = bban.bank_code + bban.branch_code, bban.national_checksum_digits
    if bank != bank_code.upper().zfill(len(bban.bank_code)) or len(bank + bban.account_code + check) != len(bban):
        return False
    return not check or len(number) == len(bban.account_code)


def fits_bank(iban: str, bic: str | None = None, bank_code: str | None = None) -> bool:
    """Tells whether BIC and bank code fit the IBAN. What is not known cannot contradict it."""
    from schwifty import BIC, IBAN

    account = IBAN(iban, allow_invalid=True)
    if bank_code is not None:
        bank, branch = account.bank_code, account.branch_code
        # A country may call any of these parts a bank code; a sort code names the branch.
        if _strip(bank_code) not in {_strip(bank), _strip(branch), _strip(bank + branch)}:
            return False
    if bic is None:
        return True
    named_bank = BIC(bic, allow_invalid=True)
    if named_bank.country_code != account.country_code:
        return False
    own = find_bic(iban)
    # One bank has many BICs, and all of them begin with the same four characters.
    return own is None or not named_bank.domestic_bank_codes or own[:4] == str(named_bank)[:4]


def _strip(code: str) -> str:
    """Removes leading zeros, which are often left out."""
    return code.upper().lstrip("0")
