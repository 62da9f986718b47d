"""The check digits of tax numbers: CPF (persons) and CNPJ (companies) of Brazil. Rules are elsewhere."""

import re

_MARKS = str.maketrans("", "", ".-/ ")
_PERSON = re.compile("[0-9]{11}")
# Companies that registered after July 2026 may have letters before the check digits.
_COMPANY = re.compile("[0-9A-Z]{12}[0-9]{2}")


def is_brazilian_tax_number(text: str) -> bool:
    number = text.translate(_MARKS).upper()
    if len(set(number)) == 1:
        return False
    if _PERSON.fullmatch(number):
        return _ends_in_check_digits(number, weight_max=11)
    return _COMPANY.fullmatch(number) is not None and _ends_in_check_digits(number, weight_max=9)


def _ends_in_check_digits(number: str, *, weight_max: int) -> bool:
    """Checks two digits modulo 11; the weights count from 2, from right to left, and begin again after the largest."""
    for end in (len(number) - 2, len(number) - 1):
        weights = (2 + place % (weight_max - 1) for place in range(end))
        total = sum(
            (ord(digit) - ord("0")) * weight for digit, weight in zip(reversed(number[:end]), weights, strict=True)
        )
        if int(number[end]) != (11 - total % 11) % 11 % 10:
            return False
    return True
