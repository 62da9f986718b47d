"""The words between a payment and the bank desk: instructions with a key, their cancellation, and what is answered.

No decisions here.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from tollgate.catalog import payment_types
from tollgate.connectors.acquiring import AcquirerReply, ShortText
from tollgate.payments.accounts import BankAccount
from tollgate.payments.order import Order, Sequence
from tollgate.payments.payment import Payment

INSTRUCTIONS = "/desk/instructions"
CANCELLATIONS = "/desk/cancellations"
REVERSALS = "/desk/reversals"
INQUIRIES = "/desk/inquiries"

PURPOSE_MAX = 140
"""Characters that banks carry to the statement."""


class Direction(StrEnum):
    DEBIT = "debit"
    """Money comes from the account named."""
    CREDIT = "credit"
    """Money goes to it."""
    CHECK = "check"
    """The desk notes the mandate; no money moves."""
    CANCEL = "cancel"
    """Takes an earlier instruction back."""


class Response(StrEnum):
    """Why the desk says no."""

    LATE = "late"
    """A file has it already."""
    CREDITOR = "creditor"
    """The channel has no account of its own to collect to or to pay from."""
    CURRENCY = "currency"
    AMOUNT = "amount"
    MANDATE = "mandate"
    SIGNATURE = "signature"
    """A mandate that is signed in the future is none yet."""
    ERASED = "erased"
    """The account of the first payment was wiped when its time was over."""
    MESSAGE = "message"


class InstructionMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    direction: Direction
    amount: int
    """In cents."""
    currency: str
    account_of: str
    """The payment whose sealed account it is; no account travels in a message."""
    purpose: str
    due_on: date | None = None
    """None: as soon as may be, or for a capture, when its authorisation wanted it."""
    sequence: Sequence | None = None
    """None: that of the first payment."""
    mandate_id: str | None = None
    signed_on: date | None = None


class CancellationMessage(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    """That of the cancellation itself."""
    original: str
    account_of: str
    amount: int
    currency: str
    purpose: str


class QueueReply(AcquirerReply, frozen=True, kw_only=True, omit_defaults=True):
    due_on: ShortText = ""
    mandate_id: ShortText = ""


decode_reply = msgspec.json.Decoder(QueueReply).decode

_BY_MONEY = {
    payment_types.Direction.HOLD: Direction.CHECK,
    payment_types.Direction.TAKE: Direction.DEBIT,
    payment_types.Direction.GIVE: Direction.CREDIT,
}
CHARGE_DIRECTIONS = {
    code: _BY_MONEY[payment_types.PAYMENT_TYPES[code].direction] for code in payment_types.INITIAL_PAYMENT_TYPES
}

FOLLOW_UP_DIRECTIONS = {
    "capture": Direction.DEBIT,
    "rebill": Direction.DEBIT,
    "refund": Direction.CREDIT,
    "increment": Direction.CHECK,
    "renewal": Direction.CHECK,
}

FOLLOW_UP_SEQUENCES = {"rebill": Sequence.LATER}
"""Others are of the sequence of their first payment."""

CANCELLING = "reversal"


def make_charge(order: Order, key: str) -> InstructionMessage:
    account = order.account
    if not isinstance(account, BankAccount):
        raise ValueError(f"payment {key} is not paid from a bank account")
    return InstructionMessage(
        key=key,
        direction=CHARGE_DIRECTIONS[order.payment_type],
        amount=order.money.hundredths,
        currency=order.money.currency,
        account_of=key,
        purpose=order.statement[:PURPOSE_MAX],
        due_on=order.due_on,
        sequence=order.sequence,
        mandate_id=account.mandate_id or None,
        signed_on=account.signed_on,
    )


def make_follow_up(attempt: Payment, action: str) -> InstructionMessage | CancellationMessage:
    if attempt.referenced_id is None:
        raise ValueError(f"payment {attempt.id} follows nothing")
    amount, currency, purpose = attempt.money.hundredths, attempt.money.currency, attempt.descriptor[:PURPOSE_MAX]
    if action == CANCELLING:
        return CancellationMessage(
            key=attempt.id,
            original=attempt.referenced_id,
            account_of=attempt.first_id,
            amount=amount,
            currency=currency,
            purpose=purpose,
        )
    return InstructionMessage(
        key=attempt.id,
        direction=FOLLOW_UP_DIRECTIONS[action],
        amount=amount,
        currency=currency,
        account_of=attempt.first_id,
        purpose=purpose,
        sequence=FOLLOW_UP_SEQUENCES.get(action),
    )
