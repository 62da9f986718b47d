"""The parameters of requests that name a person, as opposed to the goods, the merchant or the message.

How they are removed from stored rows is decided in `flows`.
"""

from tollgate.catalog.parameters.names import first_word, resolve
from tollgate.catalog.parameters.row import Secrecy

PERSONAL_WORDS = frozenset({"customer", "shipping", "merchantMemo"})
"""Groups whose parameters all go, also those that may be logged: browsers, ways of delivery, notes about an order."""

PERSONAL_NAMES = frozenset({"threeDSecure.deviceInfo"})

KEPT_WORDS = frozenset({"merchant", "threeDSecure", "recurringMigration", "notificationUrl", "redirect", "source"})
"""Groups that stay though their values are masked in logs, or are none of a request: they are about the merchant, its
addresses and the proofs of a payment."""

KEPT_NAMES = frozenset({"card.expiryMonth", "card.expiryYear", "tokenAccount.expiryMonth", "tokenAccount.expiryYear"})

EMAIL = "email"
"""The last word of the names of all e-mail addresses."""
CUSTOMER_ID = "merchantCustomerId"
"""The last word of the names under which a merchant says which of its customers it is."""


def names_person(name: str) -> bool:
    """Tells whether a stored parameter goes when a person is erased; one that nobody has decided about goes."""
    word = first_word(name)
    if name in PERSONAL_NAMES or word in PERSONAL_WORDS:
        return True
    if name in KEPT_NAMES or word in KEPT_WORDS:
        return False
    row = getattr(resolve(name), "parameter", None)
    return row is None or row.secrecy is not Secrecy.OPEN


def last_word(name: str) -> str:
    return name.rpartition(".")[2]
