"""Reviews: a person decides about a payment that was approved with a doubt. Decisions are written in `flows`."""

from enum import IntEnum, StrEnum

import msgspec

from tollgate.catalog import codes, results
from tollgate.payments.following import GIVES_BACK
from tollgate.payments.payment import Payment, State
from tollgate.payments.risk import RiskFinding
from tollgate.values import ChannelId, Instant, MerchantId, PaymentId


class ReviewState(IntEnum):
    """The state of a review. The numbers are stored."""

    OPEN = 0
    ACCEPTED = 1
    REJECTED = 2
    CLOSED = 3
    """The merchant gave money back before anybody decided."""


class Decision(StrEnum):
    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    """The payment is reversed, or refunded where that is too late."""


ENDS = {Decision.ACCEPT: ReviewState.ACCEPTED, Decision.REJECT: ReviewState.REJECTED}


class Review(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: PaymentId
    """The payment."""
    channel_id: ChannelId
    state: ReviewState = ReviewState.OPEN
    opened_at: Instant
    decided_at: Instant | None = None
    decided_by: str = ""
    note: str = ""


def awaits_decision(payment: Payment) -> bool:
    """Tells whether the result of a payment asks for a review; one that was closed without a decision says so too."""
    return payment.state is State.APPROVED and payment.is_charge and results.awaits_decision(payment.result_code)


def is_decided(payment: Payment) -> bool:
    """Tells whether somebody accepted or rejected a payment."""
    return payment.risk is not None and payment.risk.decided_at is not None


def is_rejected(payment: Payment) -> bool:
    """Tells whether somebody rejected a payment: its money goes back, and nothing more is taken."""
    return is_decided(payment) and payment.result_code == codes.REVIEW_REJECTED


def closes_review(completed: Payment) -> bool:
    """Tells whether a follow-up gave money back, which closes the review of the payment that it names."""
    return completed.action in GIVES_BACK and completed.state is State.APPROVED


def open_review(payment: Payment) -> Review | None:
    """Returns the review that the completion of a payment opens, if it opens one."""
    if payment.completed_at is None or not awaits_decision(payment):
        return None
    return Review(
        merchant_id=payment.merchant_id, id=payment.id, channel_id=payment.channel_id, opened_at=payment.completed_at
    )


def decide(payment: Payment, decision: Decision, accepted_code: str, now: Instant) -> Payment:
    """Returns a payment as a decision leaves it, to be signed again."""
    # Two events of one payment have different times, because their ids are made of them.
    decided_at = max(now, (payment.completed_at or 0) + 1)
    finding = msgspec.structs.replace(
        payment.risk or RiskFinding(), reviewed_code=payment.result_code, decided_at=decided_at
    )
    code = accepted_code if decision is Decision.ACCEPT else codes.REVIEW_REJECTED
    return msgspec.structs.replace(payment, result_code=code, risk=finding, events=payment.events + 1)
