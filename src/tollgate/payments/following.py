"""The table of follow-ups: the payments that each may name, and its effects on balances, ledger and closures.

The rows decide nothing by themselves; `chain` reads them.
"""

from enum import StrEnum

import msgspec

from tollgate.catalog.payment_types import FOLLOW_UP_PAYMENT_TYPES, PAYMENT_TYPES
from tollgate.payments.ledger import Closure, LedgerAccount


class Action(StrEnum):
    """The effect of a follow-up. The values are stored."""

    CAPTURE = "capture"
    VOID = "void"
    REVERSAL = "reversal"
    REFUND = "refund"
    REBILL = "rebill"
    INCREMENT = "increment"
    RENEWAL = "renewal"
    RECEIPT = "receipt"
    CHARGEBACK = "chargeback"
    RETURN = "return"
    REPEATED_CHARGEBACK = "repeated_chargeback"
    CHARGEBACK_REVERSAL = "chargeback_reversal"
    TECHNICAL_REVERSAL = "technical_reversal"


class Draw(StrEnum):
    """The amount that a follow-up takes of what is left on the payment named."""

    NOTHING = "nothing"
    PART = "up to what is left"
    REST = "exactly what is left"
    WHOLE = "all of it, untouched"


class Until(StrEnum):
    ANY_TIME = "any time"
    EXPIRY = "until the authorisation expires"
    DAY_END = "until the end of its day"


class Following(msgspec.Struct, frozen=True, kw_only=True):
    action: Action
    payment_type: str
    names: frozenset[str]
    """The payment types it may name."""
    draw: Draw = Draw.NOTHING
    is_counted: bool = False
    """There is a highest number of them."""
    until: Until = Until.ANY_TIME
    barred_by: Closure = Closure.NONE
    closes: Closure = Closure.NONE
    closes_when_final: Closure = Closure.NONE
    releases_when_final: bool = False
    """`sequence=FINAL` also gives back what is left."""
    is_barred_by_dispute: bool = False
    is_barred_by_review: bool = False
    """It waits until somebody has decided about the payment named, and never follows one that was rejected."""
    is_capped: bool = False
    """It may not be larger than the payment named, although it draws on nothing."""
    adds: bool = False
    """It raises the amount of the payment named."""
    net: int = 0
    """1 if the money that the chain has taken grows by it, -1 if it shrinks."""
    dispute: int = 0
    """1 if the disputed sum of the money source grows by it, -1 if it shrinks."""
    restores: bool = False
    """It gives back to the money source what the payment named had drawn."""
    source: LedgerAccount
    target: LedgerAccount
    wire_word: str | None = None
    """Its name in messages to the acquirer; None if nothing is sent."""


TAKEN = frozenset(code for code, row in PAYMENT_TYPES.items() if row.is_taken)
"""The payment types by which a merchant took money from the shopper."""
REFUNDABLE = frozenset(PAYMENT_TYPES["RF"].follows)

REFUSALS = {code: row for code in FOLLOW_UP_PAYMENT_TYPES if (row := PAYMENT_TYPES[code].refusals)}

SYSTEM_ONLY = {code: row.merchant_refusal for code, row in PAYMENT_TYPES.items() if row.merchant_refusal}
"""The payment types that only the system makes, with the code that refuses them to a merchant."""


_SHOPPER, _HELD, _EARNED = LedgerAccount.SHOPPER, LedgerAccount.HELD, LedgerAccount.EARNED
_NO_MORE_CAPTURES = Closure.CAPTURES | Closure.INCREMENTS

_ROWS = (
    Following(
        action=Action.CAPTURE,
        payment_type="CP",
        names=frozenset(PAYMENT_TYPES["CP"].follows),
        draw=Draw.PART,
        is_counted=True,
        until=Until.EXPIRY,
        barred_by=Closure.CAPTURES,
        is_barred_by_review=True,
        closes_when_final=_NO_MORE_CAPTURES,
        releases_when_final=True,
        net=1,
        source=_HELD,
        target=_EARNED,
        wire_word="capture",
    ),
    # No closure bars it, if something is left: a capture may fail, or an increment succeed, after another closed all.
    Following(
        action=Action.VOID,
        payment_type="RV",
        names=frozenset({"PA"}),
        draw=Draw.REST,
        until=Until.EXPIRY,
        closes=_NO_MORE_CAPTURES,
        source=_HELD,
        target=_SHOPPER,
        wire_word="reversal",
    ),
    Following(
        action=Action.REVERSAL,
        payment_type="RV",
        names=TAKEN,
        draw=Draw.WHOLE,
        until=Until.DAY_END,
        barred_by=Closure.REFUNDS,
        closes=Closure.REFUNDS | Closure.REBILLS,
        is_barred_by_dispute=True,
        net=-1,
        source=_EARNED,
        target=_SHOPPER,
        wire_word="reversal",
    ),
    Following(
        action=Action.REFUND,
        payment_type="RF",
        names=REFUNDABLE,
        draw=Draw.PART,
        barred_by=Closure.REFUNDS,
        closes_when_final=Closure.REFUNDS,
        is_barred_by_dispute=True,
        net=-1,
        source=_EARNED,
        target=_SHOPPER,
        wire_word="refund",
    ),
    Following(
        action=Action.REBILL,
        payment_type="RB",
        names=frozenset(PAYMENT_TYPES["RB"].follows),
        is_counted=True,
        is_capped=True,
        barred_by=Closure.REBILLS,
        is_barred_by_review=True,
        closes_when_final=Closure.REBILLS,
        is_barred_by_dispute=True,
        net=1,
        source=_SHOPPER,
        target=_EARNED,
        wire_word="rebill",
    ),
    Following(
        action=Action.INCREMENT,
        payment_type="PA",
        names=frozenset({"PA"}),
        until=Until.EXPIRY,
        barred_by=Closure.INCREMENTS,
        is_barred_by_review=True,
        closes_when_final=Closure.INCREMENTS,
        adds=True,
        source=_SHOPPER,
        target=_HELD,
        wire_word="increment",
    ),
    # A hold of its own, which is why nothing of the one it renews stands in its way.
    Following(
        action=Action.RENEWAL,
        payment_type="PA",
        names=frozenset({"PA"}),
        is_barred_by_review=True,
        source=_SHOPPER,
        target=_HELD,
        wire_word="renewal",
    ),
    Following(
        action=Action.RECEIPT,
        payment_type="RC",
        names=frozenset(PAYMENT_TYPES["RC"].follows),
        draw=Draw.PART,
        barred_by=Closure.CAPTURES,
        net=1,
        source=_HELD,
        target=_EARNED,
    ),
    Following(
        action=Action.CHARGEBACK,
        payment_type="CB",
        names=TAKEN,
        is_capped=True,
        is_barred_by_dispute=True,
        net=-1,
        dispute=1,
        source=_EARNED,
        target=_SHOPPER,
    ),
    # The bank sends a refund back: the merchant has the money again and may refund once more.
    Following(
        action=Action.RETURN,
        payment_type="CB",
        names=frozenset({"RF"}),
        draw=Draw.PART,
        net=1,
        restores=True,
        source=_SHOPPER,
        target=_EARNED,
    ),
    Following(
        action=Action.REPEATED_CHARGEBACK,
        payment_type="CB",
        names=frozenset({"CR"}),
        draw=Draw.PART,
        is_barred_by_dispute=True,
        net=-1,
        dispute=1,
        source=_EARNED,
        target=_SHOPPER,
    ),
    Following(
        action=Action.CHARGEBACK_REVERSAL,
        payment_type="CR",
        names=frozenset(PAYMENT_TYPES["CR"].follows),
        draw=Draw.WHOLE,
        net=1,
        dispute=-1,
        source=_SHOPPER,
        target=_EARNED,
    ),
)

FOLLOWINGS: dict[Action, Following] = {row.action: row for row in _ROWS}

GIVES_BACK = frozenset({Action.VOID, Action.REVERSAL, Action.REFUND})
"""The follow-ups by which a merchant gives the shopper's money back."""

INCREMENTAL_PRACTICE = "INCREMENTAL_AUTH"


def choose_following(payment_type: str, named_type: str, practice: str | None = None) -> Following | None:
    """Returns the row for a request, or None if this type may not follow the other."""
    for row in _ROWS:
        if (
            row.payment_type == payment_type
            and named_type in row.names
            and (payment_type != "PA" or row.action is get_practice_action(practice))
        ):
            return row
    return None


def get_practice_action(practice: str | None) -> Action:
    """Returns the action of an authorization that names another; only an incremental one raises it."""
    return Action.INCREMENT if practice == INCREMENTAL_PRACTICE else Action.RENEWAL
