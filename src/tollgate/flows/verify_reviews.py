"""The audit of reviews: each belongs to a payment, and says what the result of that payment says.

A review is not signed, because the payment that it decides is signed again with the decision.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tollgate.flows import auditing
from tollgate.payments.audit import Finding, Proof, make_finding
from tollgate.payments.payment import Payment, RecoveryTask
from tollgate.payments.reviews import Review, ReviewState, awaits_decision, closes_review, is_decided, is_rejected
from tollgate.store import audit as audited
from tollgate.vault.keyring import Keyring

AuditedReviews = Mapping[str, audited.AuditedRow[Review]]


def list_reviewed(payments: Iterable[Payment]) -> list[Payment]:
    """Lists the payments that have a review."""
    return [payment for payment in payments if awaits_decision(payment) or is_decided(payment)]


def list_job_ids(payment: Payment) -> list[str]:
    """Lists the job that must exist until something follows a rejected payment."""
    return [f"{RecoveryTask.GIVE_BACK}.{payment.id}"] if is_rejected(payment) else []


def check_reviewed(members: Sequence[Payment], reviews: AuditedReviews, job_ids: set[str]) -> list[Finding]:
    findings: list[Finding] = []
    for payment in list_reviewed(members):
        row = reviews.get(payment.id)
        if row is None and payment.risk is not None:
            text = f"the review of {payment.payment_type} {payment.id} is missing"
            findings.append(make_finding(payment, Proof.REVIEW, text, table="reviews", row_id=payment.id))
        elif row is not None and row.value is not None and not _agrees(row.value, payment, members):
            text = f"it does not say what {payment.payment_type} {payment.id} says"
            findings.append(make_finding(payment, Proof.REVIEW, text, table="reviews", row_id=payment.id))
        if payment.balance.chain_length == 1 and not job_ids.issuperset(list_job_ids(payment)):
            text = f"{payment.payment_type} {payment.id} was rejected, and nothing gives its money back"
            findings.append(make_finding(payment, Proof.JOB, text, table="jobs", row_id=list_job_ids(payment)[0]))
    return findings


def _agrees(review: Review, payment: Payment, members: Sequence[Payment]) -> bool:
    if review.channel_id != payment.channel_id or review.opened_at != payment.completed_at:
        return False
    if payment.risk is not None and is_decided(payment):
        expected = ReviewState.REJECTED if is_rejected(payment) else ReviewState.ACCEPTED
        return (review.state, review.decided_at) == (expected, payment.risk.decided_at)
    # Whoever gave money back closed it; a review that was closed by hand would let a capture through.
    given_back = {each.completed_at for each in members if each.referenced_id == payment.id and closes_review(each)}
    if given_back:
        return review.state is ReviewState.CLOSED and review.decided_at in given_back and not review.decided_by
    return (review.state, review.decided_at, review.decided_by) == (ReviewState.OPEN, None, "")


def check_review(
    _keyring: Keyring, row: audited.AuditedRow[Review], payments: auditing.AuditedPayments
) -> Iterator[auditing.Flaw]:
    """Checks a row by itself; whether it agrees with its payment is checked with the chain."""
    payment_row = payments.get(row.id)
    if row.value is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif payment_row is None:
        yield Proof.REVIEW, f"there is no payment {row.id}"
    elif payment_row.payment is not None and not list_reviewed([payment_row.payment]):
        yield Proof.REVIEW, f"payment {row.id} was never under review"


TABLES = (
    auditing.Table(
        name="reviews",
        walk=audited.REVIEWS.walk,
        reads=(auditing.read_by_ids(audited.PAYMENTS.list_by_ids, lambda row: [row.id]),),
        check=check_review,
    ),
)
