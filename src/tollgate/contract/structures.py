"""Fields to the typed structures of `payments`.

One small reader fills them all, because their members carry the interface's names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from typing import Any, TypeVar

import msgspec

from tollgate.catalog import MANDATORY_BROWSER_FIELDS
from tollgate.contract.fields import Fields
from tollgate.contract.standing import translate_older
from tollgate.payments import (
    NO_DETAILS,
    Acceptor,
    Address,
    Authentication,
    Browser,
    CartItem,
    Customer,
    Details,
    InitialDetails,
    Party,
    StandingInstruction,
)
from tollgate.values import Money, read_hundredths

_Structure = TypeVar("_Structure", bound=msgspec.Struct)
_Reader = Callable[[str, str], Any]

_CART_ITEM = re.compile(r"cart\.items\[([0-9]+)\]\.(.+)")
_WORD_START = re.compile("_([a-z])")

# How a member's type reads its text; the second argument is the currency that amounts are in.
_READERS: dict[Any, _Reader] = {
    str | None: lambda text, _currency: text,
    date | None: lambda text, _currency: date.fromisoformat(text),
    Money | None: lambda text, currency: Money(read_hundredths(text), currency),
}

# Groups whose presence makes it worth building details at all; a plain card payment has none of them.
_DETAILED = frozenset(
    {
        "taxAmount",
        "discountAmount",
        "transactionPurposeCode",
        "transactionBai",
        "transactionTti",
        "forex",
        "customer",
        "billing",
        "shipping",
        "sender",
        "recipient",
        "merchant",
        "threeDSecure",
        "standingInstruction",
        "recurringType",
        "recurring",
        "recurringMigration",
        "cart",
    }
)

_GROUPS: tuple[tuple[str, str, type[msgspec.Struct], str], ...] = (
    ("customer", "customer", Customer, "customer."),
    ("billing", "billing", Address, "billing."),
    ("shipping", "shipping", Address, "shipping."),
    ("sender", "sender", Party, "sender."),
    ("recipient", "recipient", Party, "recipient."),
    ("merchant", "acceptor", Acceptor, "merchant."),
    ("threeDSecure", "authentication", Authentication, "threeDSecure."),
    ("recurringMigration", "initial_payment", InitialDetails, "recurringMigration."),
)
"""A group of fields, the detail it becomes, and how its fields' names begin."""
_STANDING = frozenset({"standingInstruction", "recurringType", "recurring"})


def read_details(fields: Fields, currency: str) -> Details:
    if fields.groups.isdisjoint(_DETAILED):
        return NO_DETAILS
    values = fields.values
    return Details(
        tax_amount=_read_money(values.get("taxAmount"), currency),
        discount_amount=_read_money(values.get("discountAmount"), currency),
        shipping_cost=_read_money(values.get("shipping.cost"), currency),
        forex=_read_money(values.get("forex.amount"), values.get("forex.currency", currency)),
        standing_instruction=_read_standing(fields, currency),
        cart=_read_cart(fields, currency),
        purpose_code=values.get("transactionPurposeCode"),
        business_application_id=values.get("transactionBai"),
        transaction_type_id=values.get("transactionTti"),
        **_read_groups(fields, currency),
    )


def _read_groups(fields: Fields, currency: str) -> dict[str, Any]:
    """Of the many groups there are, most requests have two or three."""
    return {
        member: _read_structure(structure, prefix, fields.values, currency)
        for group, member, structure, prefix in _GROUPS
        if group in fields.groups
    }


def _read_standing(fields: Fields, currency: str) -> StandingInstruction | None:
    if fields.groups.isdisjoint(_STANDING):
        return None
    sent = _read_structure(StandingInstruction, "standingInstruction.", fields.values, currency)
    return translate_older(sent, fields.values)


def read_browser(fields: Fields) -> Browser | None:
    # The size of a window alone tells nothing of a browser.
    if fields.values.keys().isdisjoint(MANDATORY_BROWSER_FIELDS):
        return None
    members = _read_structure(Browser, "customer.browser.", fields.values, "")
    return None if members is None else msgspec.structs.replace(members, ip=fields.get("customer.ip"))


def to_camel_case(member: str) -> str:
    return _WORD_START.sub(lambda match: match[1].upper(), member)


@cache
def _plan(structure: type[msgspec.Struct], prefix: str) -> tuple[tuple[str, str, _Reader], ...]:
    """Each member, the name it is sent by and how it is read."""
    annotations = {field.name: field.type for field in msgspec.structs.fields(structure)}
    return tuple((member, prefix + to_camel_case(member), _READERS[kind]) for member, kind in annotations.items())


def _read_structure(
    structure: type[_Structure], prefix: str, values: Mapping[str, str], currency: str
) -> _Structure | None:
    members = {
        member: read(text, currency)
        for member, name, read in _plan(structure, prefix)
        if (text := values.get(name)) is not None
    }
    return structure(**members) if members else None


def _read_cart(fields: Fields, currency: str) -> tuple[CartItem, ...]:
    if "cart" not in fields.groups:
        return ()
    lines: dict[int, dict[str, str]] = {}
    for name, value in fields.values.items():
        if match := _CART_ITEM.fullmatch(name):
            lines.setdefault(int(match[1]), {})[match[2]] = value
    items = (_read_structure(CartItem, "", line, line.get("currency", currency)) for _, line in sorted(lines.items()))
    return tuple(item for item in items if item is not None)


def _read_money(text: str | None, currency: str) -> Money | None:
    return None if text is None else Money(read_hundredths(text), currency)
