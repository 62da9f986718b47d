"""The older parameters of a series as the newer ones that they mean. Nothing is decided about a series here."""

from collections.abc import Mapping

FIRST, REPEATED = "INITIAL", "REPEATED"
"""The modes of a payment of a series."""
BY_SHOPPER, BY_MERCHANT = "CIT", "MIT"
"""The sources of a payment: the shopper is present, or agreed to it earlier."""

_MODE, _SOURCE, _TYPE = "standingInstruction.mode", "standingInstruction.source", "standingInstruction.type"

OLDER_WORDS: Mapping[str, Mapping[str, str]] = {
    "INITIAL": {_MODE: FIRST, _SOURCE: BY_SHOPPER, _TYPE: "RECURRING"},
    "REPEATED": {_MODE: REPEATED, _SOURCE: BY_MERCHANT, _TYPE: "RECURRING"},
    # The shopper is present and chooses a stored card.
    "REGISTRATION_BASED": {_MODE: REPEATED, _SOURCE: BY_SHOPPER, _TYPE: "UNSCHEDULED"},
}
"""The values of `recurringType`, and what they mean."""


def translate_older(values: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the values with what the newer parameters leave open filled from the older ones."""
    older = OLDER_WORDS.get(values.get("recurringType", ""))
    count = values.get("recurring.numberOfInstallments")
    if older is None and count is None:
        return values
    # A newer mode that contradicts the older one makes all of the older one void.
    is_void = older is None or values.get(_MODE) not in (None, older[_MODE])
    filled = {} if is_void or older is None else dict(older)
    if count is not None:
        # A series with a number of parts consists of instalments; the number alone is a plan of the acquirer.
        filled |= {_TYPE: "INSTALLMENT"} if filled else {}
        filled["standingInstruction.numberOfInstallments"] = count
    return {**filled, **values}
