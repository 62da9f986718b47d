"""How an IBAN is built: its length by country and its checksum.
Which bank it names, and whether a BIC fits it, is not judged here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# One row per length, because that is how the registry is most easily proof-read.
_COUNTRIES_BY_LENGTH = (
    (15, "NO"),
    (16, "BE BI"),
    (18, "DK FI FK FO GL NL SD"),
    (19, "MK SI"),
    (20, "AT BA EE KZ LT LU MN XK"),
    (21, "CH HR LI LV"),
    (22, "BG BH CR DE GB GE IE ME RS VA"),
    (23, "AE GI IL IQ OM SO TL"),
    (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
    (25, "LY PT ST"),
    (26, "IS TR"),
    (27, "BF BJ CF CG CI CM DJ DZ FR GA GQ GR IT KM MC MG MR SM"),
    (28, "AL AZ BY CY DO GT HN HU LB ML NE NI PL SN SV TD TG"),
    (29, "BR EG PS QA UA"),
    (30, "JO KW MU YE"),
    (31, "MT SC"),
)

IBAN_LENGTHS: Mapping[str, int] = MappingProxyType(
    {country: length for length, countries in _COUNTRIES_BY_LENGTH for country in countries.split()}
)


def is_iban(text: str) -> bool:
    """A country outside the registry is judged by its checksum alone, so that a new member needs no release."""
    upper = text.upper()
    if IBAN_LENGTHS.get(upper[:2], len(upper)) != len(upper):
        return False
    # Letters count as 10 to 35, which is exactly how base 36 reads them.
    rearranged = "".join(str(int(character, 36)) for character in upper[4:] + upper[:4])
    return int(rearranged) % 97 == 1
