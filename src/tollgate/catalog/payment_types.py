"""The payment types of the interface: what each is called, whether it starts or follows, which way money moves.
Moves of state are decided in payments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Role(Enum):
    STARTS = "starts a chain"
    FOLLOWS = "follows an earlier payment"
    SYSTEM = "follows an earlier payment, made by the system only"
    REGISTERS = "acts on a registration"
    SCHEDULES = "acts on a schedule"
    AUTHENTICATES = "authenticates the shopper"


class Direction(Enum):
    """As the shopper's account sees it."""

    NONE = "moves no money"
    HOLD = "holds money"
    TAKE = "takes money"
    GIVE = "gives money"
    UNDO = "undoes what it names"


@dataclass(frozen=True, slots=True)
class PaymentType:
    code: str
    label: str
    role: Role
    direction: Direction
    follows: tuple[str, ...] = ()
    """The types it may name as its reference."""


AUTHENTICATION = "3D"
"""An authentication by itself, which no payment follows."""

_ROWS = (
    PaymentType("PA", "pre-authorisation", Role.STARTS, Direction.HOLD, ("PA",)),
    PaymentType("DB", "debit", Role.STARTS, Direction.TAKE),
    PaymentType("CD", "credit", Role.STARTS, Direction.GIVE),
    PaymentType("PA.CP", "pre-authorisation with automatic capture", Role.STARTS, Direction.TAKE),
    PaymentType("CP", "capture", Role.FOLLOWS, Direction.TAKE, ("PA",)),
    PaymentType("RV", "reversal", Role.FOLLOWS, Direction.UNDO, ("PA", "DB", "PA.CP", "CP", "RB")),
    PaymentType("RF", "refund", Role.FOLLOWS, Direction.GIVE, ("DB", "PA.CP", "CP", "RB", "RC")),
    PaymentType("RB", "rebill", Role.FOLLOWS, Direction.TAKE, ("DB", "PA.CP", "CP")),
    PaymentType("RC", "receipt", Role.SYSTEM, Direction.TAKE, ("PA",)),
    PaymentType("CB", "chargeback", Role.SYSTEM, Direction.GIVE, ("DB", "PA.CP", "CP", "RB", "RF", "CR")),
    PaymentType("CR", "chargeback reversal", Role.SYSTEM, Direction.TAKE, ("CB",)),
    PaymentType("RG", "registration", Role.REGISTERS, Direction.NONE),
    PaymentType("DR", "deregistration", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("CF", "confirmation of a registration", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("RR", "update of a registration", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("TE", "extension of a registration's life", Role.REGISTERS, Direction.NONE, ("RG",)),
    PaymentType("SD", "schedule", Role.SCHEDULES, Direction.NONE, ("RG",)),
    PaymentType("RS", "reschedule", Role.SCHEDULES, Direction.NONE, ("SD", "RS")),
    PaymentType("DS", "deschedule", Role.SCHEDULES, Direction.NONE, ("SD", "RS")),
    PaymentType(AUTHENTICATION, "3D Secure authentication", Role.AUTHENTICATES, Direction.NONE),
)

PAYMENT_TYPES: Mapping[str, PaymentType] = MappingProxyType({row.code: row for row in _ROWS})

INITIAL_PAYMENT_TYPES = tuple(row.code for row in _ROWS if row.role is Role.STARTS)
"""What a payment may begin with, in the order the interface lists them."""

FOLLOW_UP_PAYMENT_TYPES = (*(row.code for row in _ROWS if row.role in (Role.FOLLOWS, Role.SYSTEM)), "PA")
"""What may name an earlier payment; PA does so to raise or renew itself."""

AUTHENTICATION_PAYMENT_TYPES = tuple(row.code for row in _ROWS if row.role is Role.AUTHENTICATES)
"""What an authentication by itself may call itself."""
