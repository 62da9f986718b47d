"""The values that are forwarded to acquirers, at the places that the rows of their parameters name.

How a protocol writes the value at a place is defined by its connector.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import msgspec

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.parameters import names
from tollgate.catalog.parameters.risk import THREE_D_SECURE
from tollgate.catalog.parameters.row import Use, to_snake_case
from tollgate.catalog.series import translate_older
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment
from tollgate.payments.splits import render_split

_NAMES_BY_MEMBER = {to_snake_case(row.name.removeprefix("threeDSecure.")): row.name for row in THREE_D_SECURE}
_ROW_NUMBERS = {name: number for number, name in enumerate(names.PARAMETERS)}
_IF_NEEDED = frozenset(row.name for row in names.PARAMETERS.values() if Use.IF_NEEDED in row.use)


_MAIL_ORDERS = frozenset({"MO", "TO", "MOTO"})


class Place(NamedTuple):
    row_number: int
    """The number of the parameter's row."""
    text: str
    """The place as the row names it, with its holes filled."""
    currency_name: str | None
    """The parameter with the currency of an amount; None for what is no amount."""


def _find_place(connector: ConnectorName, name: str) -> Place | None:
    resolved = names.resolve(name)
    if not isinstance(resolved, names.Resolved) or connector not in resolved.parameter.to:
        return None
    place = names.fill_holes(resolved.parameter.to[connector], name)
    return Place(_ROW_NUMBERS[resolved.parameter.name], place, names.find_currency_name(name))


# One cache for each connector: hashing the member of an enumeration takes longer than the rest of a look-up.
_FINDERS: Mapping[ConnectorName, Callable[[str], Place | None]] = {
    connector: lru_cache(names.NAMES_KEPT)(partial(_find_place, connector)) for connector in ConnectorName
}


def list_order_values(order: Order) -> Mapping[str, str]:
    """Lists what may be forwarded with a first payment, by the names of parameters."""
    values = {**order.echo, **order.hidden} if order.hidden else order.echo
    proof = order.details.authentication
    if proof is not None:
        # The result of an authentication made here, or by a wallet, replaces what the merchant sent.
        proven = {_NAMES_BY_MEMBER[member]: text for member, text in msgspec.structs.asdict(proof).items()}
        values = {name: text for name, text in {**values, **proven}.items() if text is not None}
    return _drop_unneeded(translate_older(values), order.brand)


def list_follow_up_values(attempt: Payment, first: Payment) -> Mapping[str, str]:
    """Lists what may be forwarded with a follow-up: its own values, and those that acquirers need of the first payment.

    Items of a list come from one request: those of the follow-up, if it has any of the same group.
    """
    own = translate_older(attempt.echo)
    if attempt.split and "marketPlace" not in map(names.first_word, own):
        # The merchant named no sellers, and the shares were made in proportion; the acquirer pays the sellers by them.
        own = {**own, **render_split(attempt.split)}
    words = frozenset(map(names.first_word, own))
    inherited = {
        name: text
        for name, text in translate_older(first.echo).items()
        if _is_chained(name) and not ("[" in name and names.first_word(name) in words)
    }
    return _drop_unneeded({**inherited, **own} if inherited else own, attempt.brand)


@lru_cache(names.NAMES_KEPT)
def _is_chained(name: str) -> bool:
    resolved = names.resolve(name)
    return isinstance(resolved, names.Resolved) and Use.CHAIN in resolved.parameter.use


def _drop_unneeded(values: Mapping[str, str], brand: str) -> Mapping[str, str]:
    if values.keys().isdisjoint(_IF_NEEDED):
        return values
    row = BRANDS[brand]
    dropped = _IF_NEEDED.difference(*row.needs, *row.strict_needs)
    return {name: text for name, text in values.items() if name not in dropped}


def list_places(connector: ConnectorName, values: Mapping[str, str]) -> list[tuple[Place, str]]:
    """Lists the values that a connector forwards, each with its place. Only names that were sent are looked up."""
    find = _FINDERS[connector]
    return [(place, text) for name, text in values.items() if (place := find(name)) is not None]


def collect(connector: ConnectorName, values: Mapping[str, str]) -> dict[str, str]:
    """Returns the values by their places, in the order of the rows; values that share a place are joined by a blank."""
    collected: dict[str, str] = {}
    for place, text in sorted(list_places(connector, values)):
        before = collected.get(place.text)
        collected[place.text] = text if before is None else f"{before} {text}"
    return collected


def is_mail_order(category: str) -> bool:
    """Tells whether an order came by mail or telephone, by its `transactionCategory`."""
    return category.upper() in _MAIL_ORDERS
