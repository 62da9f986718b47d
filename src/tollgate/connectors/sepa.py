"""The SEPA connector: instructions to the SEPA queue, and what its answers mean.

The files of the banks are in sepa_files and sepa_returns.
"""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import partial

import msgspec

from tollgate.catalog import codes, payment_types
from tollgate.connectors import acquiring
from tollgate.connectors.exchange import Exchange, WireRequest, make_request
from tollgate.payments.accounts import BankAccount
from tollgate.payments.order import Order, Sequence
from tollgate.payments.payment import Outcome, Payment, Verdict

INSTRUCTIONS = "/sepa-queue/instructions"
CANCELLATIONS = "/sepa-queue/cancellations"
REVERSALS = "/sepa-queue/reversals"
INQUIRIES = "/sepa-queue/inquiries"

PURPOSE_MAX = 140
"""The number of characters that banks print on the statement."""


class Direction(StrEnum):
    DEBIT = "debit"
    """Money comes from the account."""
    CREDIT = "credit"
    """Money goes to it."""
    CHECK = "check"
    """The queue notes the mandate; no money moves."""
    CANCEL = "cancel"
    """An earlier instruction is taken back."""


class Response(StrEnum):
    """The reason of a refusal."""

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
    """The amount in cents."""
    currency: str
    account_of: str
    """The payment whose sealed account it is; no account travels in a message."""
    purpose: str
    due_on: date | None = None
    """An instruction without a date is due as soon as possible; a capture when its authorization was due."""
    sequence: Sequence | None = None
    """An instruction without one has that of the first payment."""
    mandate_id: str | None = None
    signed_on: date | None = None


class CancellationMessage(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    """The key of the cancellation itself."""
    original: str
    account_of: str
    amount: int
    currency: str
    purpose: str


class QueueReply(acquiring.AcquirerReply, frozen=True, kw_only=True, omit_defaults=True):
    due_on: acquiring.ShortText = ""
    mandate_id: acquiring.ShortText = ""


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
"""Other follow-ups have the sequence of their first payment."""

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


RESPONSES: dict[str, str] = {
    Response.LATE: codes.REVERSAL_TOO_LATE,
    Response.CREDITOR: codes.NO_CONTRACT,
    Response.CURRENCY: codes.CURRENCY_NOT_CONFIGURED,
    Response.AMOUNT: codes.AMOUNT_TOO_LARGE,
    Response.MANDATE: codes.INVALID_MANDATE_ID,
    Response.SIGNATURE: codes.INVALID_MANDATE_DATE,
    Response.ERASED: codes.ACCOUNT_ERASED,
}
"""The result code of each refusal of the queue."""


def read_verdict(reply: QueueReply, approved_code: str) -> Verdict:
    verdict = acquiring.read_verdict(reply, approved_code)
    if verdict.outcome is Outcome.DECLINED:
        return msgspec.structs.replace(verdict, code=RESPONSES.get(reply.response_code, verdict.code))
    described = {"DueDate": reply.due_on, "MandateId": reply.mandate_id}
    return msgspec.structs.replace(
        verdict, details={**verdict.details, **{name: value for name, value in described.items() if value}}
    )


QUEUE = acquiring.Dialect(REVERSALS, INQUIRIES, QueueReply, read_verdict)
reverse = partial(acquiring.reverse, QUEUE)
inquire = partial(acquiring.inquire, QUEUE)


def charge(order: Order, attempt: Payment, approved_code: str, **_: object) -> Exchange:
    """Debits or credits an account, or notes its mandate."""
    request = _compose(make_charge(order, attempt.id), order.simulator_overrides)
    return acquiring.perform(QUEUE, request, approved_code, attempt.money)


def follow_up(
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    simulator_overrides: Mapping[str, str] = {},
    **_: object,
) -> Exchange:
    """Debits or credits the account of the first payment again, or cancels an instruction that no file has."""
    request = _compose(make_follow_up(attempt, action), simulator_overrides)
    return acquiring.perform(QUEUE, request, approved_code, attempt.money)


def repeat(
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    was_accepted: bool = False,
    **_: object,
) -> Exchange:
    """Finishes a follow-up that stayed silent."""
    request = _compose(make_follow_up(attempt, action), {})
    return acquiring.send_again(QUEUE, request, approved_code, attempt.money, was_accepted=was_accepted)


def _compose(message: InstructionMessage | CancellationMessage, simulator_overrides: Mapping[str, str]) -> WireRequest:
    path = CANCELLATIONS if isinstance(message, CancellationMessage) else INSTRUCTIONS
    return make_request(path, message, message.key, simulator_overrides)
