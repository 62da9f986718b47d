"""What a payment is and what may happen to it. Pure: no I/O, no clock, no chance."""

from tollgate.payments.account import CardAccount, CardFace, make_card_face
from tollgate.payments.attempt import Claim, Payment, Settlement, settle
from tollgate.payments.channel import Channel, Credential, Merchant
from tollgate.payments.details import (
    NO_DETAILS,
    Acceptor,
    Address,
    Authentication,
    CartItem,
    Customer,
    Details,
    Party,
    StandingInstruction,
    list_amounts,
)
from tollgate.payments.moves import MOVES, NATURES, OPEN_STATES, Errand, Move, Nature, State
from tollgate.payments.order import Order, ProcessingCode, TestMode
from tollgate.payments.verdict import Outcome, Verdict

__all__ = [
    "MOVES",
    "NATURES",
    "NO_DETAILS",
    "OPEN_STATES",
    "Acceptor",
    "Address",
    "Authentication",
    "CardAccount",
    "CardFace",
    "CartItem",
    "Channel",
    "Claim",
    "Credential",
    "Customer",
    "Details",
    "Errand",
    "Merchant",
    "Move",
    "Nature",
    "Order",
    "Outcome",
    "Party",
    "Payment",
    "ProcessingCode",
    "Settlement",
    "StandingInstruction",
    "State",
    "TestMode",
    "Verdict",
    "list_amounts",
    "make_card_face",
    "settle",
]
