"""Groups of parameters as the structures of an order. No rule about their content is checked here."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache, lru_cache
from typing import Any, TypeVar

import msgspec

from tollgate.catalog.postal_codes import find_state_code
from tollgate.catalog.rule_rows.people import MANDATORY_BROWSER_FIELDS
from tollgate.catalog.series import translate_older
from tollgate.contract.fields import Fields
from tollgate.payments import order
from tollgate.payments.authentication import Browser

_Structure = TypeVar("_Structure", bound=msgspec.Struct)
_Reader = Callable[[str], Any]

_WORD_START = re.compile("_([a-z])")

# The reader of each type of member.
_READERS: dict[Any, _Reader] = {str | None: str, date | None: date.fromisoformat}

_GROUPS: dict[str, tuple[str, type[msgspec.Struct]]] = {
    "customer": ("customer", order.Customer),
    "billing": ("billing", order.Address),
    "shipping": ("shipping", order.Address),
    "merchant": ("acceptor", order.Acceptor),
    "threeDSecure": ("authentication", order.Authentication),
    "standingInstruction": ("standing_instruction", order.StandingInstruction),
}
"""A group of fields, the member of the details that it becomes, and its structure."""
_OLDER = frozenset({"recurringType", "recurring"})
_Planned = tuple[str, type[msgspec.Struct], tuple[tuple[str, str, _Reader], ...]]
"""A member of the details, its structure, and the names that were sent, each with the member that it becomes."""
_CHOICES_KEPT = 512
# Details are built only if one of these groups was sent; a plain card payment has none of them.
_DETAILED = _OLDER | _GROUPS.keys()


def read_details(fields: Fields) -> order.Details:
    if fields.groups.isdisjoint(_DETAILED):
        return order.NO_DETAILS
    values = translate_older(fields.values)
    members: dict[str, Any] = {}
    for member, structure, sent in _choose_structures(_list_names().intersection(values)):
        members[member] = structure(**{name: read(values[sent_name]) for sent_name, name, read in sent})
    return order.Details(**members)


def read_browser(fields: Fields) -> Browser | None:
    # The size of a window alone does not describe a browser.
    if fields.values.keys().isdisjoint(MANDATORY_BROWSER_FIELDS):
        return None
    members = _read_structure(Browser, "customer.browser.", fields.values)
    return None if members is None else msgspec.structs.replace(members, ip=fields.get("customer.ip"))


def to_camel_case(member: str) -> str:
    return _WORD_START.sub(lambda match: match[1].upper(), member)


@cache
def _plan(structure: type[msgspec.Struct], prefix: str) -> dict[str, tuple[str, _Reader]]:
    """Maps the name by which a member is sent to the member and its reader."""
    annotations = {field.name: field.type for field in msgspec.structs.fields(structure)}
    return {prefix + to_camel_case(member): (member, _READERS[kind]) for member, kind in annotations.items()}


@cache
def _list_names() -> frozenset[str]:
    return frozenset(name for group, (_, structure) in _GROUPS.items() for name in _plan(structure, f"{group}."))


@lru_cache(_CHOICES_KEPT)
def _choose_structures(names: frozenset[str]) -> tuple[_Planned, ...]:
    """Is cached, because a shop's requests differ in their values and hardly ever in their names."""
    planned: list[_Planned] = []
    for group, (member, structure) in _GROUPS.items():
        plan = _plan(structure, f"{group}.")
        if sent := tuple((name, *plan[name]) for name in plan.keys() & names):
            planned.append((member, structure, sent))
    return tuple(planned)


def _read_structure(structure: type[_Structure], prefix: str, values: Mapping[str, str]) -> _Structure | None:
    plan = _plan(structure, prefix)
    members = {}
    for name in plan.keys() & values.keys():
        member, read = plan[name]
        members[member] = read(values[name])
    return structure(**members) if members else None


_NO_POSTCODE = re.compile(r"[^A-Z0-9]")
_NO_STATE = re.compile(r"[^A-Za-z0-9.]")


def spell_address(sent: Mapping[str, str], country: str, *, is_lenient: bool) -> dict[str, str]:
    """Returns the changed fields: states by their codes, and on a strict channel only characters of the shape.

    A text that would become empty stays as it was typed, so that the fault names its field.
    """
    changed = {}
    if "billing.state" in sent:
        typed = sent["billing.state"]
        plain = typed if is_lenient else _NO_STATE.sub("", unicodedata.normalize("NFKD", typed))
        changed["billing.state"] = find_state_code(country, typed) or plain or typed
    if "billing.postcode" in sent and not is_lenient:
        typed = sent["billing.postcode"]
        changed["billing.postcode"] = _NO_POSTCODE.sub("", unicodedata.normalize("NFKC", typed).upper()) or typed
    return changed
