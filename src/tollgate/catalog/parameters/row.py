"""The row of a parameter, and how rows are mounted under a prefix. The rows are in the files of the groups."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, Flag, auto
from types import MappingProxyType
from typing import TypeAlias

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.shape import BOOLEAN, LOOSE_BOOLEAN, RETURN_URL, URL, Shape, amount, exact_amount, pattern, text
from tollgate.values import Fault


class Need(Enum):
    REQUIRED = "required"
    CONDITIONAL = "conditional"
    OPTIONAL = "optional"


class Secrecy(Enum):
    """The places in which a value may appear; a row without this column is masked."""

    OPEN = "open"
    """The value may be stored, echoed and logged."""
    MASK = "mask"
    """The value may be stored and echoed to its owner, and is masked in logs and in faults."""
    SEAL = "seal"
    """The value is stored only encrypted."""
    NEVER = "never"
    """The value is never stored."""


class Use(Flag):
    """Uses of a parameter besides reading it; most rows have none of these."""

    NONE = 0
    ACCOUNT = auto()
    """It belongs to an account that can be charged and stored."""
    WALLET = auto()
    """It belongs to a wallet, which gives a card for one payment."""
    IDENTITY = auto()
    """It identifies the account, so an update cannot change it."""
    FORM = auto()
    """The shopper's form may send it, whatever was prepared."""
    FORM_ADDITION = auto()
    """The shopper's form may send it where the merchant prepared nothing."""
    NOT_FORM = auto()
    """The shopper's form may not send it: the server knows it, or it could avoid an authentication."""
    FORM_QUESTION = auto()
    """The form asks for it, unless it was prepared."""
    CHECKOUT = auto()
    """It describes a checkout, and is not part of its payment."""
    LINK = auto()
    """It describes a payment link, and is not part of its checkout."""
    REGISTRATION = auto()
    """It is stored with a registration and answered again."""
    ONE_PAYMENT = auto()
    """It is good for one payment, for one day, or while a shopper is present, so a schedule does not repeat it."""
    AUTHENTICATION = auto()
    """It may change whether and how the shopper is authenticated."""
    CHAIN = auto()
    """Acquirers need it with every follow-up, so one that does not send it takes it from the first payment."""
    IF_NEEDED = auto()
    """It is forwarded for brands that need it, and for no others."""


REQUIRED, CONDITIONAL, OPTIONAL = Need
OPEN, MASK, SEAL, NEVER = Secrecy

Places: TypeAlias = Mapping[ConnectorName, str]
"""The place of a value for each connector to which it is forwarded. Holes such as `[n]` are filled as in its name.

The place is a path in the `details` of a JSON message (`json`, `redirect`), a data element, a part of one or a tag of
the private data (`iso8583`: `18`, `43.1`, `48.01`), or the name of a form field (`stripe`).
"""

OWN = "="
"""Stands for the parameter's own name in snake case, under the path of its group."""


def sent(details: str = OWN, *, iso8583: str = "", stripe: str = "") -> Places:
    """Returns the places of a value that both JSON protocols have at the same path; an empty place is none."""
    return {
        ConnectorName.JSON: details,
        ConnectorName.REDIRECT: details,
        ConnectorName.ISO8583: iso8583,
        ConnectorName.STRIPE: stripe,
    }


NOT_SENT = sent("")
"""Keeps a row of a forwarded group from every acquirer."""
TO_PROVIDERS = {ConnectorName.JSON: "", ConnectorName.REDIRECT: OWN}
"""Forwards a row of a group to the providers of redirect brands only."""

_CAPITAL = re.compile("[A-Z]")


def to_snake_case(name: str) -> str:
    return _CAPITAL.sub(lambda match: f"_{match[0].lower()}", name)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One row: what the interface calls it, what it must look like and who may see it."""

    name: str
    shape: Shape
    need: Need = OPTIONAL
    secrecy: Secrecy = MASK
    lenient: Shape | None = None
    """The shape on a lenient channel; None when it is the same."""
    note: str = ""
    group: str = ""
    """The prefix, which is a section of the reference."""
    ignored_beside: str = ""
    """The parameter that takes its place; where that is sent too, this one is not read, stored or forwarded."""
    holds_code: bool = False
    """Its digits are a number of another kind, such as a reference or a phone, and never a card number."""
    use: Use = Use.NONE
    to: Places = field(default_factory=dict, hash=False)
    """The places to which its value goes; a value without a place is not forwarded."""

    @property
    def is_amount(self) -> bool:
        return self.shape in _AMOUNTS

    def shape_for(self, *, is_lenient: bool) -> Shape:
        return self.lenient if is_lenient and self.lenient is not None else self.shape

    def show(self, value: str) -> str:
        """Returns the value as a fault or a log line may show it."""
        return value if self.secrecy is OPEN else "***"

    def check_value(self, name: str, value: str, *, is_lenient: bool) -> Fault | None:
        """`name` is the name as the client sent it."""
        shape = self.lenient if is_lenient and self.lenient is not None else self.shape
        return None if shape.accepts(value) else Fault(name, shape.message, self.show(value))


AMOUNT = amount()
EXACT_AMOUNT = exact_amount()
MERCHANT_REFERENCE = text(8, 255)
PHONE = pattern(r"[+0-9][0-9 .()/-]{0,24}", 1, 25)
LONG_PHONE = pattern(r"[+0-9][0-9 .()/-]{5,25}", 6, 26)
RECIPIENT_PHONE = pattern(r"[+0-9][0-9 .()/-]{7,25}", 8, 26)
POSTCODE = pattern("[A-Za-z0-9]{1,16}", 1, 16)
HYPHEN_POSTCODE = pattern("[A-Za-z0-9-]{1,16}", 1, 16)
STATE = pattern("[a-zA-Z0-9.]{1,50}", 1, 50)
LETTERS_CITY = pattern(
    "([^\\W\\d_]|[ '\u2019-])+",
    1,
    80,
    message="must have 1 to 80 letters, blanks, hyphens or apostrophes",
    notation="AN80, letters, blanks, hyphens, apostrophes",
)

_LOOSE_AMOUNT = amount(12)
_AMOUNTS = frozenset({AMOUNT, EXACT_AMOUNT, amount(8), amount(9)})
_CODES = _AMOUNTS | {PHONE, LONG_PHONE, RECIPIENT_PHONE, URL, RETURN_URL}
"""The digits in these shapes are never a card number."""

RELAXED: Mapping[Shape, Shape] = MappingProxyType(
    {
        **dict.fromkeys(_AMOUNTS, _LOOSE_AMOUNT),
        BOOLEAN: LOOSE_BOOLEAN,
        MERCHANT_REFERENCE: text(1, 255),
        PHONE: text(1, 25),
        LONG_PHONE: text(1, 26),
        RECIPIENT_PHONE: text(1, 26),
        POSTCODE: text(1, 16),
        HYPHEN_POSTCODE: text(1, 16),
        STATE: text(1, 50),
        LETTERS_CITY: text(1, 80),
    }
)
"""The shapes of a lenient channel, unless a row has its own: public clients break these every day."""


def plain(
    name: str,
    shape: Shape,
    need: Need = OPTIONAL,
    note: str = "",
    *,
    lenient: Shape | None = None,
    holds_code: bool = False,
    use: Use = Use.NONE,
    to: Places = MappingProxyType({}),
) -> Parameter:
    """Makes the row of a parameter whose value may be stored, echoed and logged."""
    return Parameter(name, shape, need, OPEN, lenient, note, holds_code=holds_code, use=use, to=to)


def several(
    names: str,
    shape: Shape,
    need: Need = OPTIONAL,
    secrecy: Secrecy = MASK,
    *,
    holds_code: bool = False,
    use: Use = Use.NONE,
    to: Places = MappingProxyType({}),
) -> tuple[Parameter, ...]:
    """Makes rows that differ in nothing but their name."""
    return tuple(Parameter(name, shape, need, secrecy, holds_code=holds_code, use=use, to=to) for name in names.split())


def mount(
    prefix: str,
    rows: Iterable[Parameter],
    without: Iterable[str] = (),
    *,
    holds_code: bool = False,
    use: Use = Use.NONE,
    details: str | None = None,
    to: Mapping[str, Places] = MappingProxyType({}),
) -> tuple[Parameter, ...]:
    """Puts rows under a prefix; `without` names rows, or branches ending in a dot, that are not offered there.

    details: the path under which JSON messages have the rows; None if only rows with places of their own are sent.
    to: places of single rows, by their names under this prefix.
    """
    left_out = tuple(without)
    branches = tuple(name for name in left_out if name.endswith("."))
    mounted = tuple(row for row in rows if row.name not in left_out and not row.name.startswith(branches))
    if unknown := to.keys() - {row.name for row in mounted}:
        raise ValueError(f"{prefix} has no {', '.join(sorted(unknown))}")
    return tuple(
        replace(
            row,
            name=f"{prefix}.{row.name}" if prefix else row.name,
            group=prefix,
            lenient=row.lenient or RELAXED.get(row.shape),
            ignored_beside=f"{prefix}.{row.ignored_beside}" if row.ignored_beside else "",
            holds_code=holds_code or row.holds_code or row.shape in _CODES,
            use=row.use | use,
            to=_choose_places(row, details, to.get(row.name, {})),
        )
        for row in mounted
    )


def _choose_places(row: Parameter, details: str | None, more: Places) -> Places:
    own = to_snake_case(row.name)
    places = {**({} if details is None else sent()), **row.to, **more}
    return {
        connector: place if place != OWN else f"{details}.{own}" if details else own
        for connector, place in places.items()
        if place
    }
