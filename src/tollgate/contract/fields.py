"""Pairs to checked fields: every value against its catalogue row, every cross-field rule.

All faults are found, not the first.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from tollgate.catalog import Secrecy, Situation, check_rules, get_result, resolve
from tollgate.contract.form import Pairs
from tollgate.values import Fault, InvalidParameters

# A tuple, because finding a member in two by identity is quicker than hashing it.
_STORABLE = (Secrecy.OPEN, Secrecy.MASK)
NAMES_KEPT = 4096
"""How many names of past requests are remembered in pieces: shops send the same few again and again."""


class Fields(msgspec.Struct, frozen=True):
    """What was sent and is acceptable, by canonical name."""

    values: dict[str, str]
    groups: frozenset[str]
    """The first words of the names present, such as `card` or `customer`."""
    echo: dict[str, str]
    """The part that may be stored in clear and answered again."""

    def get(self, name: str) -> str | None:
        return self.values.get(name)


def read_fields(pairs: Pairs, situation: Situation) -> Fields:
    """Unknown names are ignored, empty values count as absent, repeated ones are refused (lenient: the last counts)."""
    values: dict[str, str] = {}
    echo: dict[str, str] = {}
    groups: set[str] = set()
    faults: list[Fault] = []
    lenient = situation.is_lenient
    for sent_name, value in pairs:
        if not value:
            continue
        resolved = resolve(sent_name)
        if resolved is None:
            continue
        if isinstance(resolved, Fault):
            faults.append(resolved)
            continue
        parameter, name = resolved.parameter, resolved.canonical_name
        fault = parameter.check_value(sent_name, value, is_lenient=lenient)
        if fault is None and name in values and not lenient:
            fault = Fault(sent_name, "must not be repeated", parameter.show(value))
        # A faulty field was still sent: rules that ask whether a group is there must not miss it.
        groups.add(first_word(name))
        if fault is not None:
            faults.append(fault)
            continue
        values[name] = value
        if parameter.secrecy in _STORABLE:
            echo[name] = value
    # A rule speaks of fields that are each acceptable; one already found faulty would be complained about twice.
    faulty = {fault.name for fault in faults}
    faults += [fault for fault in check_rules(values, situation, groups) if fault.name not in faulty]
    if faults:
        raise InvalidParameters(get_result("200.300.404"), faults)
    return Fields(values, frozenset(groups), echo)


@lru_cache(NAMES_KEPT)
def first_word(name: str) -> str:
    """`cart` of `cart.items[0].name`, `customParameters` of `customParameters[key]`."""
    return name.partition(".")[0].partition("[")[0]


def is_never_stored(name: str) -> bool:
    resolved = resolve(name)
    return resolved is None or isinstance(resolved, Fault) or resolved.parameter.secrecy is Secrecy.NEVER
