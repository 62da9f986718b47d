"""Addresses as shoppers type them into the payment form, written as the parameters take them. Pure.

What a merchant's server sends is not touched.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from tollgate.catalog import find_state_code

_NO_POSTCODE = re.compile(r"[^A-Z0-9]")
_NO_STATE = re.compile(r"[^A-Za-z0-9.]")


def spell_address(said: Mapping[str, str], country: str, *, is_lenient: bool) -> dict[str, str]:
    """Returns what changes: states by their codes; on a strict channel nothing but what the parameter's shape takes.

    What would leave nothing stays as it was typed, so that the fault names its field.
    """
    changed = {}
    if "billing.state" in said:
        typed = said["billing.state"]
        plain = typed if is_lenient else _NO_STATE.sub("", unicodedata.normalize("NFKD", typed))
        changed["billing.state"] = find_state_code(country, typed) or plain or typed
    if "billing.postcode" in said and not is_lenient:
        typed = said["billing.postcode"]
        changed["billing.postcode"] = _NO_POSTCODE.sub("", unicodedata.normalize("NFKC", typed).upper()) or typed
    return changed
