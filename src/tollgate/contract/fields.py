"""Pairs to checked fields: every value against its catalogue row, every cross-field rule.

All faults are found, not the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import msgspec

from tollgate.catalog import LIMITS, Parameter, Secrecy, Situation, check_rules, get_result, resolve
from tollgate.contract.form import Pairs
from tollgate.values import Fault, InvalidParameters, TooLarge

_STORABLE = frozenset({Secrecy.OPEN, Secrecy.MASK})
_Place = tuple[Parameter, Callable[[str], bool], str, str, bool]
"""A parameter's row, its test of a value, its canonical name, that name's first word, and whether its value may be
stored in clear."""
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
        place = _find_place(sent_name, lenient) if value else None
        if place is None:
            continue
        if isinstance(place, Fault):
            faults.append(place)
            continue
        parameter, accepts, name, group, is_storable = place
        # A faulty field was still sent: rules that ask whether a group is there must not miss it.
        groups.add(group)
        if accepts(value) and (lenient or name not in values):
            values[name] = value
            if is_storable:
                echo[name] = value
            continue
        fault = parameter.check_value(sent_name, value, is_lenient=lenient)
        faults.append(fault or Fault(sent_name, "must not be repeated", parameter.show(value)))
    present = frozenset(groups)
    broken = check_rules(values, situation, present)
    if faults or broken:
        # A rule speaks of fields that are each acceptable; one already found faulty would be complained about twice.
        faulty = {fault.name for fault in faults}
        faults += [fault for fault in broken if fault.name not in faulty]
        raise InvalidParameters(get_result("200.300.404"), faults)
    return Fields(values, present, echo)


def merge_echo(kept: Mapping[str, str], sent: Mapping[str, str]) -> dict[str, str]:
    """What was stored of earlier requests with that of a later one; together they have the bounds of a single one.

    Or else a row to which every request adds names of its own would grow for ever.
    """
    merged = {**kept, **sent}
    length = sum(len(name) + len(text) for name, text in merged.items())
    if len(merged) > LIMITS.parameters_max or length > LIMITS.body_bytes_max:
        raise TooLarge(get_result("200.100.103"), "more than can be stored in one place")
    return merged


@lru_cache(NAMES_KEPT)
def _find_place(sent_name: str, is_lenient: bool) -> _Place | Fault | None:
    """All that depends on the name alone, and on how strict the channel is."""
    resolved = resolve(sent_name)
    if resolved is None or isinstance(resolved, Fault):
        return resolved
    parameter, name = resolved.parameter, resolved.canonical_name
    accepts = parameter.shape_for(is_lenient=is_lenient).accepts
    return parameter, accepts, name, first_word(name), parameter.secrecy in _STORABLE


@lru_cache(NAMES_KEPT)
def first_word(name: str) -> str:
    """`cart` of `cart.items[0].name`, `customParameters` of `customParameters[key]`."""
    return name.partition(".")[0].partition("[")[0]


def is_never_stored(name: str) -> bool:
    resolved = resolve(name)
    return resolved is None or isinstance(resolved, Fault) or resolved.parameter.secrecy is Secrecy.NEVER
