"""Groups of parameters as the structures of an order. No rule about their content is checked here."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from typing import Any, TypeVar

import msgspec

from tollgate.catalog.postal_codes import find_state_code
from tollgate.catalog.rule_rows.people import MANDATORY_BROWSER_FIELDS
from tollgate.contract.fields import Fields
from tollgate.contract.standing import translate_older
from tollgate.payments import order
from tollgate.payments.authentication import Browser
from tollgate.values import Money, read_hundredths

_Structure = TypeVar("_Structure", bound=msgspec.Struct)
_Reader = Callable[[str, str], Any]

_CART_ITEM = re.compile(r"cart\.items\[([0-9]+)\]\.(.+)")
_WORD_START = re.compile("_([a-z])")

# The reader of each type of member; the second argument is the currency of amounts.
_READERS: dict[Any, _Reader] = {
    str | None: lambda text, _currency: text,
    date | None: lambda text, _currency: date.fromisoformat(text),
    Money | None: lambda text, currency: Money(read_hundredths(text), currency),
}

_GROUPS: dict[str, tuple[str, type[msgspec.Struct]]] = {
    "customer": ("customer", order.Customer),
    "billing": ("billing", order.Address),
    "shipping": ("shipping", order.Address),
    "sender": ("sender", order.Party),
    "recipient": ("recipient", order.Party),
    "merchant": ("acceptor", order.Acceptor),
    "threeDSecure": ("authentication", order.Authentication),
    "recurringMigration": ("initial_payment", order.InitialDetails),
}
"""A group of fields, the member of the details that it becomes, and its structure."""
_STANDING = frozenset({"standingInstruction", "recurringType", "recurring"})
# Details are built only if one of these groups was sent; a plain card payment has none of them.
_DETAILED = frozenset(
    {"taxAmount", "discountAmount", "forex", "transactionPurposeCode", "transactionBai", "transactionTti", "cart"}
    | _GROUPS.keys()
    | _STANDING
)


def read_details(fields: Fields, currency: str) -> order.Details:
    if fields.groups.isdisjoint(_DETAILED):
        return order.NO_DETAILS
    values = fields.values
    return order.Details(
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
    members: dict[str, Any] = {}
    for group in fields.groups & _GROUPS.keys():
        member, structure = _GROUPS[group]
        members[member] = _read_structure(structure, f"{group}.", fields.values, currency)
    return members


def _read_standing(fields: Fields, currency: str) -> order.StandingInstruction | None:
    if fields.groups.isdisjoint(_STANDING):
        return None
    sent = _read_structure(order.StandingInstruction, "standingInstruction.", fields.values, currency)
    return translate_older(sent, fields.values)


def read_browser(fields: Fields) -> Browser | None:
    # The size of a window alone does not describe a browser.
    if fields.values.keys().isdisjoint(MANDATORY_BROWSER_FIELDS):
        return None
    members = _read_structure(Browser, "customer.browser.", fields.values, "")
    return None if members is None else msgspec.structs.replace(members, ip=fields.get("customer.ip"))


def to_camel_case(member: str) -> str:
    return _WORD_START.sub(lambda match: match[1].upper(), member)


@cache
def _plan(structure: type[msgspec.Struct], prefix: str) -> dict[str, tuple[str, _Reader]]:
    """Maps the name by which a member is sent to the member and its reader."""
    annotations = {field.name: field.type for field in msgspec.structs.fields(structure)}
    return {prefix + to_camel_case(member): (member, _READERS[kind]) for member, kind in annotations.items()}


def _read_structure(
    structure: type[_Structure], prefix: str, values: Mapping[str, str], currency: str
) -> _Structure | None:
    plan = _plan(structure, prefix)
    members = {}
    for name in plan.keys() & values.keys():
        member, read = plan[name]
        members[member] = read(values[name], currency)
    return structure(**members) if members else None


def _read_cart(fields: Fields, currency: str) -> tuple[order.CartItem, ...]:
    if "cart" not in fields.groups:
        return ()
    lines: dict[int, dict[str, str]] = {}
    for name, value in fields.values.items():
        if match := _CART_ITEM.fullmatch(name):
            lines.setdefault(int(match[1]), {})[match[2]] = value
    items = (
        _read_structure(order.CartItem, "", line, line.get("currency", currency)) for _, line in sorted(lines.items())
    )
    return tuple(item for item in items if item is not None)


def _read_money(text: str | None, currency: str) -> Money | None:
    return None if text is None else Money(read_hundredths(text), currency)


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
