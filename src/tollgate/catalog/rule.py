"""The row of a cross-field rule, the situation of a request, and checks that many rules share. No rule is here."""

from collections.abc import Callable, Iterable, Iterator, KeysView
from dataclasses import dataclass
from typing import NamedTuple, Protocol, overload

from tollgate.values import Fault


class Fields(Protocol):
    """Maps a canonical name to its value; every value has passed its own shape and is not empty.

    A rule is asked about groups that were sent, and a value that failed its own check is not here. So there is no
    `fields[name]`: every lookup has an answer for a name that is missing.
    """

    @overload
    def get(self, name: str, /) -> str | None: ...
    @overload
    def get(self, name: str, default: str, /) -> str: ...
    def items(self) -> Iterable[tuple[str, str]]: ...
    def keys(self) -> KeysView[str]: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...


MISSING = "may not be empty"


class Situation(NamedTuple):
    """The facts about a request that are not in its fields."""

    operation: str
    payment_type: str | None
    """The payment type as it was sent."""
    is_lenient: bool = False
    host_is_live: bool = False
    return_schemes: tuple[str, ...] = ()
    """The schemes of apps to which the channel lets shoppers return."""
    domains: tuple[str, ...] = ()
    """The only domains of web addresses in the request; empty for all."""


Check = Callable[[Fields, Situation], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    text: str
    """One sentence for the reference."""
    check: Check
    groups: frozenset[str] = frozenset()
    """The first words of names; the rule is asked if one of them was sent, or always if there are none."""
    operations: frozenset[str] = frozenset()
    """A rule without any is for all operations."""
    binds_lenient: bool = True


def fault_missing(names: Iterable[str], fields: Fields) -> list[Fault]:
    return [Fault(name, MISSING) for name in names if name not in fields]


def all_or_none(*names: str) -> Check:
    """Faults the missing ones as soon as one is sent."""

    def check(fields: Fields, _situation: Situation) -> Iterable[Fault]:
        return () if fields.keys().isdisjoint(names) else fault_missing(names, fields)

    return check


def needs(dependent: str, *names: str) -> Check:
    """Faults the others if the first is sent without them."""

    def check(fields: Fields, _situation: Situation) -> Iterable[Fault]:
        return fault_missing(names, fields) if dependent in fields else ()

    return check


def required(*names: str) -> Check:
    """Faults every missing one; the groups and operations of the rule say when it applies."""

    def check(fields: Fields, _situation: Situation) -> Iterable[Fault]:
        return fault_missing(names, fields)

    return check


def not_after(earlier: str, later: str) -> Check:
    """Compares dates, which are written so that they sort as text."""

    def check(fields: Fields, _situation: Situation) -> Iterable[Fault]:
        first, last = fields.get(earlier), fields.get(later)
        # A bare date means its whole day, so only what both wrote is compared.
        if first is None or last is None or first[: len(last)] <= last[: len(first)]:
            return ()
        return (Fault(later, f"must not be before {earlier}", last),)

    return check
