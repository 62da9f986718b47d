"""Finds what a sent name says about its value: the test that it must pass, and where it may be stored.

No value is read here.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from tollgate.catalog.parameters.names import NAMES_KEPT, first_word, resolve
from tollgate.catalog.parameters.row import Parameter, Secrecy
from tollgate.contract import account_numbers
from tollgate.values import Fault

_STORABLE = frozenset({Secrecy.OPEN, Secrecy.MASK})


class SentName(NamedTuple):
    parameter: Parameter | Fault
    """The row; a name with a wrong index or key has a fault instead, and no value of it is acceptable."""
    accepts: Callable[[str], object]
    name: str
    """The canonical name."""
    group: str
    """The first word of that name."""
    is_storable: bool
    """The value may be stored in clear."""
    may_hold_card: bool
    """A stored value may have the number of a card in it."""
    is_keyed: bool
    """A stored name has a key of the merchant's own in it, which may be such a number too."""


@lru_cache(NAMES_KEPT)
def find_name(sent_name: str, is_lenient: bool) -> SentName | None:
    """Returns all facts that depend on the name and on the leniency of the channel alone; None for an unknown name."""
    resolved = resolve(sent_name)
    if resolved is None:
        return None
    if isinstance(resolved, Fault):
        return SentName(resolved, lambda _: False, "", "", False, False, False)
    parameter, name = resolved.parameter, resolved.canonical_name
    is_storable = parameter.secrecy in _STORABLE
    return SentName(
        parameter,
        parameter.shape_for(is_lenient=is_lenient).make_test(),
        name,
        first_word(name),
        is_storable,
        may_hold_card=is_storable and account_numbers.can_hold_card(parameter),
        is_keyed=is_storable and account_numbers.has_key(name),
    )
