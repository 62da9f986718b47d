"""Pairs to checked fields: every value against its catalogue row, every cross-field rule.

All faults are found, not the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import msgspec

from tollgate.catalog import IGNORED_BESIDE, LIMITS, Parameter, Secrecy, Situation, check_rules, get_result, resolve
from tollgate.contract.account_numbers import (
    can_hold_card,
    clean_fault,
    find_cards,
    find_own_numbers,
    has_key,
    hide_cards,
    may_expose_card,
)
from tollgate.contract.form import Pairs
from tollgate.values import Fault, InvalidParameters, TooLarge

_ADDRESSES = frozenset(name.partition(".")[0] for name in IGNORED_BESIDE)
"""The first words of names under which a field may be ignored; most requests have none of them."""
_STORABLE = frozenset({Secrecy.OPEN, Secrecy.MASK})
_Place = tuple[Parameter, Callable[[str], bool], str, str, bool, bool, bool]
"""A parameter's row, its test of a value, its canonical name, that name's first word, whether its value may be
stored in clear, whether that value may have the number of a card in it, and whether the name may."""
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
    searched: list[str] = []
    keys: list[str] = []
    faults: list[Fault] = []
    lenient = situation.is_lenient
    for sent_name, value in pairs:
        place = _find_place(sent_name, lenient) if value else None
        if place is None:
            continue
        if isinstance(place, Fault):
            faults.append(place)
            continue
        parameter, accepts, name, group, is_storable, may_hold_card, is_keyed = place
        # A faulty field was still sent: rules that ask whether a group is there must not miss it.
        groups.add(group)
        if accepts(value) and (lenient or name not in values):
            values[name] = value
            if is_storable:
                echo[name] = value
            if may_hold_card:
                searched.append(value)
            if is_keyed:
                keys.append(name)
            continue
        fault = parameter.check_value(sent_name, value, is_lenient=lenient)
        faults.append(fault or Fault(sent_name, "must not be repeated", parameter.show(value)))
    present = frozenset(groups)
    if not _ADDRESSES.isdisjoint(present):
        faults = _drop_ignored(values, echo, faults)
    faults += find_own_numbers(values, echo, keys)
    if (searched or keys) and may_expose_card(searched, keys):
        if lenient:
            values, echo = hide_cards(values), hide_cards(echo)
        else:
            named = {fault.name for fault in faults}
            faults += [fault for fault in find_cards(echo) if fault.name not in named]
    broken = check_rules(values, situation, present)
    if faults or broken:
        # A rule speaks of fields that are each acceptable; one already found faulty would be complained about twice.
        faulty = {fault.name for fault in faults}
        # Two rules may miss the same field.
        faults += dict.fromkeys(fault for fault in broken if fault.name not in faulty)
        raise InvalidParameters(get_result("200.300.404"), [clean_fault(fault, values) for fault in faults])
    return Fields(values, present, echo)


def _drop_ignored(values: dict[str, str], echo: dict[str, str], faults: list[Fault]) -> list[Fault]:
    """Removes what another field takes the place of, and the faults found in it."""
    ignored = {name for name, other in IGNORED_BESIDE.items() if other in values}
    for name in ignored:
        values.pop(name, None)
        echo.pop(name, None)
    return [fault for fault in faults if fault.name not in ignored]


def merge_echo(kept: Mapping[str, str], sent: Mapping[str, str]) -> dict[str, str]:
    """What was stored of earlier requests with that of a later one; together they have the bounds of a single one.

    Or else a row to which every request adds names of its own would grow for ever.
    """
    merged = {**kept, **sent}
    for name, other in IGNORED_BESIDE.items():
        if other in merged:
            merged.pop(name, None)
    length = sum(len(name) + len(text) for name, text in merged.items())
    if len(merged) > LIMITS.parameters_max or length > LIMITS.body_bytes_max:
        raise TooLarge(get_result("200.100.103"), "more than can be stored in one place")
    return merged


def list_unknown(pairs: Pairs) -> list[str]:
    """Lists the names that were sent with a value and have no row in the catalogue."""
    return [name for name, value in pairs if value and _find_place(name, False) is None]


@lru_cache(NAMES_KEPT)
def _find_place(sent_name: str, is_lenient: bool) -> _Place | Fault | None:
    """All that depends on the name alone, and on how strict the channel is."""
    resolved = resolve(sent_name)
    if resolved is None or isinstance(resolved, Fault):
        return resolved
    parameter, name = resolved.parameter, resolved.canonical_name
    accepts = parameter.shape_for(is_lenient=is_lenient).accepts
    is_storable = parameter.secrecy in _STORABLE
    may_hold_card = is_storable and can_hold_card(parameter)
    return parameter, accepts, name, first_word(name), is_storable, may_hold_card, is_storable and has_key(name)


@lru_cache(NAMES_KEPT)
def first_word(name: str) -> str:
    """`cart` of `cart.items[0].name`, `customParameters` of `customParameters[key]`."""
    return name.partition(".")[0].partition("[")[0]


def is_never_stored(name: str) -> bool:
    resolved = resolve(name)
    return resolved is None or isinstance(resolved, Fault) or resolved.parameter.secrecy is Secrecy.NEVER
