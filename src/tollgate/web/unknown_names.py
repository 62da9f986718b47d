"""Names parameters that a request sent and nobody reads, for the header and the log of a test host.

Unknown parameters are ignored, as the interface promises; a mistyped one would never be noticed without this.
"""

from __future__ import annotations

import logging
import re

from tollgate.catalog.suggestions import suggest_name
from tollgate.contract.fields import Pairs, list_unknown
from tollgate.web.request import Access, RouteRow
from tollgate.web.visit import Visit

HEADER = b"tollgate-warning"
_log = logging.getLogger("tollgate.parameters")

_NAMES_MAX = 5
_NAME_LENGTH_MAX = 64
_DIGITS_MAX = 4
"""A name with more digits may hold the number of an account, so it is shown without them."""
_UNSAFE_REST = re.compile(r"[^A-Za-z0-9._\[\]-].*", re.DOTALL)
_DIGIT = re.compile(r"\d")


def warn_of_unknown(pairs: Pairs, row: RouteRow, visit: Visit) -> bytes:
    """Returns the value of the header, empty if every name is known, and writes the log line."""
    if row.access is not Access.ENTITY and not row.takes_parameters:
        return b""
    unknown = [name for name in list_unknown(pairs) if name not in row.also_takes]
    if not unknown:
        return b""
    names = list(dict.fromkeys(unknown))
    described = [_describe(name) for name in names[:_NAMES_MAX]]
    if len(names) > _NAMES_MAX:
        described.append(f"and {len(names) - _NAMES_MAX} more")
    warning = f"unknown parameters ignored: {', '.join(described)}"
    _log.warning(
        "unknown parameters ignored", extra={"ndc": visit.ndc, "operation": visit.operation, "parameters": described}
    )
    return warning.encode("ascii")


def _describe(name: str) -> str:
    nearest = suggest_name(name)
    return f"{_clean(name)} (did you mean {nearest}?)" if nearest else _clean(name)


def _clean(name: str) -> str:
    """Shows the name up to the first character that no parameter has.

    A body of another format, JSON for one, arrives as one long name, and what follows such a character may be a value.
    """
    start = _UNSAFE_REST.sub("", name)[:_NAME_LENGTH_MAX]
    if len(_DIGIT.findall(name)) > _DIGITS_MAX:
        start = _DIGIT.sub("#", start)
    return start if start == name else f"{start}..."
