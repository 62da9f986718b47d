"""The audit of checkouts and payment links, and of payments that a checkout should name.

It reads and changes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping

from tollgate.flows import auditing
from tollgate.operations import checkouts as operations_checkouts
from tollgate.operations.signing import has_signature
from tollgate.payments.audit import Finding, Proof, make_finding
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState, PaymentLink
from tollgate.payments.payment import NATURES, Nature, State
from tollgate.payments.registration import RegistrationState
from tollgate.store import audit as audited
from tollgate.vault.keyring import Keyring

_NEVER_STORED = frozenset({RegistrationState.PENDING, RegistrationState.REJECTED})
_UNPAID = (CheckoutState.OPEN, CheckoutState.CANCELLED)
"""The states in which no attempt has locked or paid the checkout."""


def check_checkout(
    keyring: Keyring,
    row: audited.AuditedRow[Checkout],
    payments: auditing.AuditedPayments,
    registrations: Mapping[str, audited.AuditedRegistration],
) -> Iterator[auditing.Flaw]:
    checkout = row.value
    if checkout is None:
        yield Proof.ROW, auditing.UNREADABLE
        return
    text = None
    if checkout.state not in _UNPAID:
        is_payment = checkout.kind is CheckoutKind.PAYMENT
        text = _check_payment(checkout, payments) if is_payment else _check_registration(checkout, registrations)
    owner = operations_checkouts.make_checkout_owner(checkout.merchant_id, checkout.id)
    if text is not None or not auditing.opens(checkout.sealed_fields, owner, keyring):
        yield Proof.CHECKOUT, text or auditing.UNOPENED


def _check_payment(checkout: Checkout, payments: auditing.AuditedPayments) -> str | None:
    row = payments.get(checkout.subject_id or "")
    if row is None:
        return f"there is no payment {checkout.subject_id}, which has it"
    payment = row.payment
    if payment is None:
        return None
    if payment.checkout_id != checkout.id:
        return f"payment {payment.id} was not made for it"
    if checkout.state is CheckoutState.LOCKED:
        # A lock needs a payment that may move money now; one that waits releases it, unless it pays out.
        waits = payment.state is State.WAITING and NATURES.get(payment.payment_type) is Nature.GIVES
        may_hold = waits or payment.state in (State.STARTED, State.UNRESOLVED)
        return None if may_hold else f"payment {payment.id}, which holds it, has ended"
    return None if payment.state is State.APPROVED else f"payment {payment.id} did not pay it"


def _check_registration(checkout: Checkout, registrations: Mapping[str, audited.AuditedRegistration]) -> str | None:
    if checkout.state is CheckoutState.LOCKED:
        # Storing takes one commit, so no registration ever locks a checkout.
        return "it is held, and nothing is being stored"
    row = registrations.get(checkout.subject_id or "")
    if row is None:
        return f"there is no registration {checkout.subject_id}, which was stored for it"
    is_stored = row.value is None or row.value.state not in _NEVER_STORED
    return None if is_stored else f"registration {row.id} was never good to be paid with"


def check_link(
    keyring: Keyring, row: audited.AuditedRow[PaymentLink], checkouts: Mapping[str, audited.AuditedRow[Checkout]]
) -> Iterator[auditing.Flaw]:
    link = row.value
    if link is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif not has_signature(link, keyring):
        yield Proof.SIGNATURE, "its signature is wrong"
    elif link.checkout_id is not None and link.checkout_id not in checkouts:
        yield Proof.LINK, "there is no checkout of the name that it has"
    elif not auditing.opens(
        link.sealed_fields, operations_checkouts.make_link_owner(link.merchant_id, link.id), keyring
    ):
        yield Proof.LINK, auditing.UNOPENED


async def list_unnamed_payments(audit: auditing.Audit, page: Iterable[audited.AuditedPayment]) -> list[Finding]:
    """Lists approved payments that their checkouts do not name; a checkout names one, so no two of them pass.

    The payments are read before the checkouts, which never forget who paid them.
    """
    findings = []
    read = [row.payment for row in page if row.payment is not None]
    approved = [payment for payment in read if payment.state is State.APPROVED and payment.checkout_id is not None]
    for merchant_id, payments in auditing.group_by_merchant(approved).items():
        ids = sorted({payment.checkout_id or "" for payment in payments})
        checkouts = {row.id: row.value for row in await audited.CHECKOUTS.list_by_ids(audit.database, merchant_id, ids)}
        for payment in payments:
            checkout = checkouts.get(payment.checkout_id or "")
            if checkout is not None and not (checkout.is_paid and checkout.subject_id == payment.id):
                text = f"it is approved, and checkout {checkout.id} was not paid by it"
                findings.append(make_finding(payment, Proof.CHECKOUT, text))
    return findings


def _list_subjects(kind: CheckoutKind, row: audited.AuditedRow[Checkout]) -> list[str | None]:
    return [row.value.subject_id] if row.value is not None and row.value.kind is kind else []


TABLES = (
    auditing.Table(
        name="checkouts",
        walk=audited.CHECKOUTS.walk,
        reads=(
            auditing.read_by_ids(audited.PAYMENTS.list_by_ids, lambda row: _list_subjects(CheckoutKind.PAYMENT, row)),
            auditing.read_by_ids(
                audited.REGISTRATIONS.list_by_ids, lambda row: _list_subjects(CheckoutKind.REGISTRATION, row)
            ),
        ),
        check=check_checkout,
        read_again=audited.CHECKOUTS.list_by_ids,
    ),
    auditing.Table(
        name="payment_links",
        walk=audited.LINKS.walk,
        reads=(auditing.read_by_ids(audited.CHECKOUTS.list_by_ids, lambda row: [row.value and row.value.checkout_id]),),
        check=check_link,
        read_again=audited.LINKS.list_by_ids,
    ),
)
