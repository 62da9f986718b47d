"""The quick path of reading a request, for names that were sent before: it accepts a request whole or not at all.

`fields.py` has the plain path. It reads what this file returns None for, and finds every fault; no fault is made here.
"""

from collections.abc import Callable, Iterator, KeysView, Sequence
from functools import lru_cache
from itertools import compress
from operator import call
from typing import NoReturn, overload

import msgspec

from tollgate.catalog.parameters.names import IGNORED_BESIDE, PLAIN_NAMES
from tollgate.catalog.rule import Check, Situation
from tollgate.catalog.rules import choose_checks
from tollgate.contract import account_numbers
from tollgate.contract.sent_names import find_name

Accepted = tuple[dict[str, str], frozenset[str], dict[str, str]]
"""The members of `Fields`."""

_PLANS_KEPT = 512
_CHOICES_KEPT = 1024
_PLANNED_MAX = 100
"""A plan has at most so many names, so that the plans of a client that tries all orders of names stay small."""
_DECIDING = ("paymentType", "paymentBrand")
"""The values that most rules ask for, and the only ones of which there are few."""


class _Plan(msgspec.Struct, frozen=True, eq=False):
    """All that the names of a request and the leniency of its channel decide, in the order of the names."""

    names: tuple[str, ...]
    """The canonical names; no two are the same."""
    groups: frozenset[str]
    tests: tuple[Callable[[str], object], ...]
    are_storable: tuple[bool, ...]
    may_hold_card: tuple[bool, ...]


def accept(pairs: Sequence[tuple[str, str]], situation: Situation) -> Accepted | None:
    """Returns the fields of a request without any fault; None for a request with a fault, or one that has no plan."""
    if not 0 < len(pairs) <= _PLANNED_MAX:
        return None
    names, values = zip(*pairs, strict=True)
    if "" in values:
        are_sent = list(map(bool, values))
        names, values = tuple(compress(names, are_sent)), tuple(compress(values, are_sent))
    # The check is repeated for every request, so that names of a client's own are never in the cache.
    plan = _find_plan(names, situation.is_lenient) if PLAIN_NAMES.issuperset(names) else None
    if plan is None:
        return None
    if not all(map(call, plan.tests, values)):
        return None
    fields = dict(zip(plan.names, values, strict=True))
    echo = dict(compress(fields.items(), plan.are_storable))
    if account_numbers.check_own_numbers(fields, echo):
        return None
    if account_numbers.may_expose_card(tuple(compress(values, plan.may_hold_card)), ()):
        return None
    payment_type, brand = map(fields.get, _DECIDING)
    for check in _choose_checks(plan, situation, payment_type, brand):
        for _ in check(fields, situation):
            return None
    return fields, plan.groups, echo


@lru_cache(_PLANS_KEPT)
def _find_plan(sent_names: tuple[str, ...], is_lenient: bool) -> _Plan | None:
    """Returns None if a name is repeated, in whatever spelling, or takes the place of another."""
    found = [row for name in sent_names if (row := find_name(name, is_lenient)) is not None]
    names = tuple(row.name for row in found)
    sent = frozenset(names)
    if len(sent) < len(sent_names) or any(name in sent and other in sent for name, other in IGNORED_BESIDE.items()):
        return None
    return _Plan(
        names,
        frozenset(row.group for row in found),
        tuple(row.accepts for row in found),
        tuple(row.is_storable for row in found),
        tuple(row.may_hold_card for row in found),
    )


@lru_cache(_CHOICES_KEPT)
def _choose_checks(plan: _Plan, situation: Situation, payment_type: str | None, brand: str | None) -> tuple[Check, ...]:
    """Leaves out the checks of rules that find nothing in any request with these names, this type and this brand.

    A rule depends on nothing but what it asks for. If it asked for no other value, its answer is always the same.
    """
    known = dict(zip(_DECIDING, (payment_type, brand), strict=True))
    fields = _KnownFields(plan.names, {name: value for name, value in known.items() if value is not None})
    return tuple(check for check in choose_checks(situation, plan.groups) if _may_fault(check, fields, situation))


def _may_fault(check: Check, fields: "_KnownFields", situation: Situation) -> bool:
    try:
        return any(True for _ in check(fields, situation))
    except _UnknownValueError:
        return True


class _UnknownValueError(Exception):
    """A rule has asked for a value that differs between requests."""


class _KnownFields:
    """The fields of all requests with the same names, of which only a few values are known."""

    def __init__(self, names: Sequence[str], known: dict[str, str]) -> None:
        self._names = dict.fromkeys(names, "")
        self._known = known

    @overload
    def get(self, name: str, /) -> str | None: ...
    @overload
    def get(self, name: str, default: str, /) -> str: ...
    def get(self, name: str, default: str | None = None, /) -> str | None:
        if name in self._known:
            return self._known[name]
        if name in self._names:
            raise _UnknownValueError
        return default

    def items(self) -> NoReturn:
        raise _UnknownValueError

    def keys(self) -> KeysView[str]:
        return self._names.keys()

    def __contains__(self, name: object, /) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)
