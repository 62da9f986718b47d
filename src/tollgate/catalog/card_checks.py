"""The issuer's checks of a card's security code and address: the letters of their answers, and their place.

What a letter means for a payment is decided by the rules of risk.
"""

from collections.abc import Mapping
from types import MappingProxyType

AVS_MEMBER = "result.avsResponse"
CVV_MEMBER = "result.cvvResponse"
MEMBERS = (AVS_MEMBER, CVV_MEMBER)
"""The members of the answer, which are also the names of the details of a payment."""

AVS_LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "A": "only the street matches",
        "Z": "only the postcode matches",
        "N": "neither street nor postcode match",
        "U": "it is not known whether the address matches",
        "F": "street and postcode match",
    }
)
CVV_LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "M": "the security code matches",
        "N": "the security code does not match",
        "P": "the security code was not checked",
        "S": "the security code was not sent, although the card has one",
        "U": "the issuer cannot check it",
    }
)
_UNKNOWN = "U"


def read_letter(answered: str, letters: Mapping[str, str]) -> str:
    """Returns the letter of an acquirer's answer: another one than ours says nothing that is known; none stays none."""
    return answered if answered in letters or not answered else _UNKNOWN
