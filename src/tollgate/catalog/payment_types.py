"""The payment types of the interface as rows. Moves of state are decided in `payments`."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from types import MappingProxyType


class Role(Enum):
    STARTS = "starts a chain"
    FOLLOWS = "follows an earlier payment"
    SYSTEM = "follows an earlier payment, made by the system only"
    REGISTERS = "acts on a registration"
    SCHEDULES = "acts on a schedule"
    AUTHENTICATES = "authenticates the shopper"


class Direction(Enum):
    """The direction of the money, seen from the shopper's account."""

    NONE = "moves no money"
    HOLD = "holds money"
    TAKE = "takes money"
    GIVE = "gives money"
    UNDO = "undoes what it names"


class Reconciliation(StrEnum):
    """The parts of a settlement report, in the order the interface lists them."""

    SETTLED = "SETTLED"
    FEE = "FEE"
    """This gateway charges no fees, so no payment type belongs to it."""
    CHARGEBACK = "CHARGEBACK"
    CHARGEBACK_REVERSAL = "CHARGEBACK REVERSAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The result codes by which a follow-up of one type is refused, each for its own reason."""

    misfit: str
    """The payment referred to is of a type that it cannot follow."""
    excess: str
    """The amount is more than is left."""
    rejected: str
    """The payment referred to did not succeed."""
    closed: str
    """The payment referred to was closed by `sequence=FINAL` or by a reversal."""
    late: str = "700.300.400"
    too_many: str = "700.400.100"
    disputed: str = "700.300.600"


def _refuse(misfit: str, excess: str, *, rejected: str = "", closed: str = "", **others: str) -> Refusals:
    """Makes the refusals of a type.

    A payment that failed is by default as unfit as one of another type, and a closed one has too little left.
    """
    return Refusals(misfit=misfit, excess=excess, rejected=rejected or misfit, closed=closed or excess, **others)


@dataclass(frozen=True, slots=True)
class PaymentType:
    code: str
    label: str
    role: Role
    direction: Direction
    follows: tuple[str, ...] = ()
    """The types it may name as its reference."""
    methods: frozenset[str] = frozenset()
    """The payment methods that know it; brand rows explain them."""
    refusals: Refusals | None = None
    """A type that never follows another has none."""
    unknown_when_lenient: str | None = None
    """The code by which a lenient channel refuses it for an unknown payment, where that is a code of its own."""
    merchant_refusal: str | None = None
    """The code for a merchant who asks for what only the system makes."""
    reconciliation: Reconciliation | None = None
    """Its part of the settlement report, if it changes the merchant's balance."""
    can_be_zero: bool = False
    is_combined: bool = False
    """It is two messages in one, so it is not accepted for payments that are only announced, as in a schedule."""
    event: str = "payment.succeeded"
    """The name of the event that announces its approval."""

    @property
    def starts_with_shopper_money(self) -> bool:
        """Is true if it begins a chain by taking or holding the shopper's money."""
        return self.role is Role.STARTS and self.direction is not Direction.GIVE

    @property
    def can_authenticate(self) -> bool:
        return self.starts_with_shopper_money or self.role is Role.AUTHENTICATES

    @property
    def is_taken(self) -> bool:
        """Is true if a merchant takes the shopper's money by it."""
        return self.direction is Direction.TAKE and self.role is not Role.SYSTEM

    @property
    def needs_amount_as_follow_up(self) -> bool:
        """A reversal undoes all that is left, and the system's own types are not asked for."""
        return bool(self.refusals) and self.role is not Role.SYSTEM and self.direction is not Direction.UNDO


AUTHENTICATION = "3D"
"""The type of an authentication without a payment."""

_CARDS = frozenset({"CC", "DC"})
_DEBITS = _CARDS | {"DD"}
_ACCOUNTS = _DEBITS | {"VA"}
_ALL = _ACCOUNTS | {"OT", "PP"}
# A prepayment is authorized for the expected amount, and its receipt says what has come.
_ACCOUNTS_AND_PREPAYMENT = _ALL - {"OT"}
_SETTLED = Reconciliation.SETTLED

_ROWS = (
    PaymentType(
        "PA",
        "pre-authorisation",
        Role.STARTS,
        Direction.HOLD,
        ("PA",),
        methods=_ACCOUNTS_AND_PREPAYMENT,
        refusals=_refuse("700.100.700", "700.400.100", rejected="700.300.200"),
        can_be_zero=True,
        event="payment.authorized",
    ),
    PaymentType("DB", "debit", Role.STARTS, Direction.TAKE, methods=_ALL - {"PP"}, reconciliation=_SETTLED),
    PaymentType(
        "CD",
        "credit",
        Role.STARTS,
        Direction.GIVE,
        methods=_DEBITS,
        reconciliation=_SETTLED,
        event="payment.credited",
    ),
    PaymentType(
        "PA.CP",
        "pre-authorisation with automatic capture",
        Role.STARTS,
        Direction.TAKE,
        methods=_CARDS | {"VA"},
        reconciliation=_SETTLED,
        is_combined=True,
    ),
    PaymentType(
        "CP",
        "capture",
        Role.FOLLOWS,
        Direction.TAKE,
        ("PA",),
        methods=_ACCOUNTS,
        refusals=_refuse("700.400.510", "700.400.100"),
        unknown_when_lenient="700.400.510",
        reconciliation=_SETTLED,
        event="payment.captured",
    ),
    PaymentType(
        "RV",
        "reversal",
        Role.FOLLOWS,
        Direction.UNDO,
        ("PA", "DB", "PA.CP", "CP", "RB"),
        methods=_ACCOUNTS_AND_PREPAYMENT,
        refusals=_refuse("700.400.530", "700.400.300", late="700.300.700"),
        unknown_when_lenient="700.400.530",
        reconciliation=_SETTLED,
        event="payment.reversed",
    ),
    PaymentType(
        "RF",
        "refund",
        Role.FOLLOWS,
        Direction.GIVE,
        ("DB", "PA.CP", "CP", "RB", "RC"),
        methods=_ALL,
        refusals=_refuse("700.400.520", "700.400.200"),
        unknown_when_lenient="600.200.500",
        reconciliation=_SETTLED,
        event="payment.refunded",
    ),
    PaymentType(
        "RB",
        "rebill",
        Role.FOLLOWS,
        Direction.TAKE,
        ("DB", "PA.CP", "CP"),
        methods=_DEBITS,
        refusals=_refuse(
            "700.100.700", "700.100.300", rejected="700.300.200", closed="700.300.300", too_many="700.500.001"
        ),
        reconciliation=_SETTLED,
        event="payment.rebilled",
    ),
    PaymentType(
        "RC",
        "receipt",
        Role.SYSTEM,
        Direction.TAKE,
        ("PA",),
        methods=_ACCOUNTS_AND_PREPAYMENT,
        refusals=_refuse("700.400.560", "700.400.100"),
        merchant_refusal="700.400.562",
        reconciliation=_SETTLED,
        event="payment.received",
    ),
    PaymentType(
        "CB",
        "chargeback",
        Role.SYSTEM,
        Direction.GIVE,
        ("DB", "PA.CP", "CP", "RB", "RF", "CR"),
        methods=_ALL,
        refusals=_refuse("700.400.550", "700.400.400", disputed="700.400.400"),
        merchant_refusal="700.400.402",
        reconciliation=Reconciliation.CHARGEBACK,
        event="payment.charged_back",
    ),
    PaymentType(
        "CR",
        "chargeback reversal",
        Role.SYSTEM,
        Direction.TAKE,
        ("CB",),
        methods=_ALL,
        refusals=_refuse("700.400.420", "700.400.410"),
        merchant_refusal="700.400.402",
        reconciliation=Reconciliation.CHARGEBACK_REVERSAL,
        event="payment.chargeback_reversed",
    ),
    PaymentType("RG", "registration", Role.REGISTERS, Direction.NONE),
    PaymentType("DR", "deregistration", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("CF", "confirmation of a registration", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("RR", "update of a registration", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("TE", "extension of a registration's life", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("SD", "schedule", Role.SCHEDULES, Direction.NONE, ("RG",)),
    PaymentType("RS", "reschedule", Role.SCHEDULES, Direction.NONE, ("SD", "RS")),
    PaymentType("DS", "deschedule", Role.SCHEDULES, Direction.NONE, ("SD", "RS")),
    PaymentType(
        AUTHENTICATION,
        "3D Secure authentication",
        Role.AUTHENTICATES,
        Direction.NONE,
        can_be_zero=True,
        event="payment.authenticated",
    ),
)

PAYMENT_TYPES: Mapping[str, PaymentType] = MappingProxyType({row.code: row for row in _ROWS})

INITIAL_PAYMENT_TYPES = tuple(row.code for row in _ROWS if row.role is Role.STARTS)
"""The types of initial payments, in the order of the interface."""

ANNOUNCED_PAYMENT_TYPES = tuple(row.code for row in _ROWS if row.role is Role.STARTS and not row.is_combined)
"""The types that can be announced before the payment: by a schedule, or for one brand of a checkout."""

FOLLOW_UP_PAYMENT_TYPES = tuple(
    row.code for row in sorted(_ROWS, key=lambda row: row.role is Role.STARTS) if row.refusals
)
"""The types that may refer to an earlier payment; those that also begin a chain come last."""

AUTHENTICATION_PAYMENT_TYPES = tuple(row.code for row in _ROWS if row.role is Role.AUTHENTICATES)
"""The types of an authentication without a payment."""
