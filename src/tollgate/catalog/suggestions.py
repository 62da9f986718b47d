"""Suggests the known parameter that an unknown name probably means. Nothing is logged or answered here."""

import re
from difflib import get_close_matches
from functools import lru_cache

from tollgate.catalog.parameters.names import ALIASES, PARAMETERS

_NAME_LENGTH_MAX = 64
_LENGTH_DIFFERENCE_MAX = 3
_SIMILARITY_MIN = 0.6
_NAMES_KEPT = 1024
_INDEX = re.compile(r"\[[0-9]+\]")


@lru_cache(_NAMES_KEPT)
def suggest_name(name: str) -> str | None:
    """Returns the nearest name of the catalogue, or None if none is near."""
    if len(name) > _NAME_LENGTH_MAX:
        return None
    sent = _INDEX.sub("[n]", name)
    near = [known for known in (*PARAMETERS, *ALIASES) if abs(len(known) - len(sent)) <= _LENGTH_DIFFERENCE_MAX]
    found = get_close_matches(sent, near, n=1, cutoff=_SIMILARITY_MIN)
    return found[0] if found else None
