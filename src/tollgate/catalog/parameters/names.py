"""The one table of parameters, and how a sent name finds its row. Values are not checked here."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.accounts import BANK_ACCOUNT, CARD, TOKEN_ACCOUNT, VIRTUAL_ACCOUNT, WALLETS
from tollgate.catalog.parameters.basic import ACCESS, ASYNC, BASIC, FOREX, REGISTRATION, REPORTING
from tollgate.catalog.parameters.cart import AIRLINE, CART_ITEMS, CART_PAYMENTS
from tollgate.catalog.parameters.links import LINKS
from tollgate.catalog.parameters.merchant import MARKETPLACE, MERCHANT
from tollgate.catalog.parameters.people import CUSTOMERS, RECIPIENT, SENDER
from tollgate.catalog.parameters.places import ADDRESSES, CORPORATE
from tollgate.catalog.parameters.repeated import DATES, JOB, OLDER_RECURRING, RECURRING_MIGRATION, STANDING_INSTRUCTION
from tollgate.catalog.parameters.risk import CUSTOM, RISK, THREE_D_SECURE
from tollgate.catalog.parameters.row import Parameter, Use
from tollgate.values import Fault

NAMES_KEPT = 4096
"""The number of parsed names in the cache; shops send the same few again and again."""


@lru_cache(NAMES_KEPT)
def first_word(name: str) -> str:
    """Returns `cart` for `cart.items[0].name` and `customParameters` for `customParameters[key]`."""
    return name.partition(".")[0].partition("[")[0]


_ROWS = tuple(
    chain(
        ACCESS,
        BASIC,
        FOREX,
        CARD,
        WALLETS,
        VIRTUAL_ACCOUNT,
        BANK_ACCOUNT,
        TOKEN_ACCOUNT,
        CUSTOMERS,
        ADDRESSES,
        CORPORATE,
        SENDER,
        RECIPIENT,
        MERCHANT,
        CART_ITEMS,
        CART_PAYMENTS,
        MARKETPLACE,
        AIRLINE,
        REGISTRATION,
        LINKS,
        STANDING_INSTRUCTION,
        OLDER_RECURRING,
        RECURRING_MIGRATION,
        THREE_D_SECURE,
        RISK,
        CUSTOM,
        JOB,
        ASYNC,
        DATES,
        REPORTING,
    )
)

PARAMETERS: Mapping[str, Parameter] = MappingProxyType({row.name: row for row in _ROWS})

IGNORED_BESIDE: Mapping[str, str] = MappingProxyType(
    {row.name: row.ignored_beside for row in _ROWS if row.ignored_beside}
)
"""A parameter to the one beside which it is ignored."""

WORDS: Mapping[Use, frozenset[str]] = MappingProxyType(
    {use: frozenset(first_word(row.name) for row in _ROWS if use in row.use) for use in Use}
)
"""The first words of the parameters that have a use."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {"applePay": "walletA", "googlePay": "walletB", "samsungPay": "walletC", "authentication.entityId": "entityId"}
)
"""The canonical name of each alias; it also replaces the beginning of longer names."""


@dataclass(frozen=True, slots=True)
class Resolved:
    parameter: Parameter
    canonical_name: str
    """The catalog's spelling with the holes filled: alias and quotes are gone."""


@dataclass(frozen=True, slots=True)
class Hole:
    """The content that is accepted between brackets."""

    pattern: re.Pattern[str]
    message: str
    index_max: int | None = None

    def accepts(self, content: str) -> bool:
        if self.pattern.fullmatch(content) is None:
            return False
        return self.index_max is None or int(content) <= self.index_max


def _index(index_max: int) -> Hole:
    # Without leading zeros, so that two spellings never name one item.
    return Hole(re.compile("0|[1-9][0-9]{0,3}"), f"index must be a number from 0 to {index_max}", index_max)


def _key(regex: str) -> Hole:
    return Hole(re.compile(regex), f"key must match ^{regex}$")


_CUSTOM_KEY = _key("[a-zA-Z0-9._]{3,64}")

HOLES: Mapping[str, Hole] = MappingProxyType(
    {
        "airline.passengers": _index(LIMITS.passenger_index_max),
        "airline.passengers[n].legs": _index(LIMITS.leg_index_max),
        "cart.items": _index(LIMITS.item_index_max),
        "cart.payments": _index(LIMITS.cart_payment_index_max),
        "customParameters": _CUSTOM_KEY,
        "marketPlace.sellers": _index(LIMITS.seller_index_max),
        "merchant.data": _CUSTOM_KEY,
        "overridePaymentType": _key("[a-zA-Z0-9_]{1,32}"),
        "registrations": _index(LIMITS.registration_index_max),
        "risk.parameters": _CUSTOM_KEY,
        # Schemes hyphenate their own field names.
        "threeDSecure.schemeData": _key("[a-zA-Z0-9._-]{3,64}"),
    }
)
"""The key is the text before the bracket."""

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_TEMPLATE_HOLE = re.compile(r"\[(?:n|key|brand)\]")


def _spellings(name: str) -> Iterator[str]:
    yield name
    for alias, canonical in ALIASES.items():
        if name == canonical:
            yield alias
        elif name.startswith(f"{canonical}."):
            yield alias + name[len(canonical) :]


_PLAIN: Mapping[str, Resolved] = {
    spelling: Resolved(row, row.name)
    for row in _ROWS
    if _TEMPLATE_HOLE.search(row.name) is None
    for spelling in _spellings(row.name)
}

PLAIN_NAMES = frozenset(_PLAIN)
"""All names without brackets, in every spelling; only so many can be sent."""

_SKELETONS: Mapping[str, tuple[Parameter, tuple[Hole, ...]]] = {
    _TEMPLATE_HOLE.sub("[]", row.name): (
        row,
        tuple(HOLES[row.name[: match.start()]] for match in _TEMPLATE_HOLE.finditer(row.name)),
    )
    for row in _ROWS
    if _TEMPLATE_HOLE.search(row.name) is not None
}


def resolve(name: str) -> Resolved | Fault | None:
    """Returns the row of a sent name, None for an unknown name, or a fault if only its index or key is wrong."""
    found = _PLAIN.get(name)
    if found is not None or "[" not in name:
        return found
    return _resolve_holes(name)


def _resolve_holes(name: str) -> Resolved | Fault | None:
    template = _SKELETONS.get(_BRACKETS.sub("[]", name))
    if template is None:
        return None
    parameter, holes = template
    canonical = _BRACKETS.sub(_without_quotes, name)
    for hole, content in zip(holes, _BRACKETS.findall(canonical), strict=True):
        if not hole.accepts(content):
            return Fault(name, hole.message)
    return Resolved(parameter, canonical)


def fill_holes(place: str, name: str) -> str:
    """Puts the indices and keys of a canonical name into the holes of a place, in their order."""
    contents = iter(_BRACKETS.findall(name))
    return _TEMPLATE_HOLE.sub(lambda _: f"[{next(contents)}]", place)


@lru_cache(NAMES_KEPT)
def find_currency_name(name: str) -> str | None:
    """Returns the parameter that names the currency of a forwarded amount, whether or not it exists or was sent.

    An amount without one is in the currency of the payment. None means that the name is not that of such an amount.
    """
    resolved = resolve(name)
    if not isinstance(resolved, Resolved) or not (resolved.parameter.is_amount and resolved.parameter.to):
        return None
    return f"{name.rpartition('.')[0]}.currency"


def _without_quotes(match: re.Match[str]) -> str:
    content = match[1]
    if len(content) >= 2 and content[0] == content[-1] and content[0] in "\"'":
        content = content[1:-1]
    return f"[{content}]"
