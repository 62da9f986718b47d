"""The audit of checkouts and payment links. It reads and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest

from tollgate.flows.verify_report import Audit, group_by_merchant
from tollgate.operations.checkouts import make_link_mac, name_checkout_owner, name_link_owner
from tollgate.payments.audit import Finding, Proof, find_on
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState, PaymentLink
from tollgate.payments.payment import NATURES, Nature, Payment, State
from tollgate.payments.registration import RegistrationState
from tollgate.store.audit import AuditedPayment, find_audited_payments
from tollgate.store.audit_checkouts import AuditedCheckout, find_audited_checkouts, walk_checkouts
from tollgate.store.audit_links import AuditedLink, find_audited_links, walk_links
from tollgate.store.audit_stored import AuditedRegistration, find_audited_registrations
from tollgate.values import MerchantId, find_checkout_id
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed

_NEVER_STORED = frozenset({RegistrationState.PENDING, RegistrationState.REJECTED})

AuditedPayments = Mapping[str, AuditedPayment]
Stored = Mapping[str, AuditedRegistration]

_UNPAID = (CheckoutState.OPEN, CheckoutState.CANCELLED)
"""States in which no attempt has the checkout, whatever was tried before."""


async def check_checkouts(audit: Audit) -> None:
    async for page in walk_checkouts(audit.database):
        for merchant_id, rows in group_by_merchant(page).items():
            audit.report.add(await judge_checkouts(audit, merchant_id, rows))
        audit.walk("checkouts", len(page))


async def judge_checkouts(audit: Audit, merchant_id: MerchantId, rows: Sequence[AuditedCheckout]) -> list[Finding]:
    """What looks wrong is read again, and then its attempt: one that ended in between looks right by now."""
    doubtful = await _list_doubtful(audit, merchant_id, rows)
    again = await find_audited_checkouts(audit.database, merchant_id, [finding.row_id for finding in doubtful])
    return await _list_doubtful(audit, merchant_id, again)


async def _list_doubtful(audit: Audit, merchant_id: MerchantId, rows: Sequence[AuditedCheckout]) -> list[Finding]:
    checkouts = [row.checkout for row in rows if row.checkout]
    paid, stored = [
        sorted({each.subject_id for each in checkouts if each.kind is kind and each.subject_id})
        for kind in (CheckoutKind.PAYMENT, CheckoutKind.REGISTRATION)
    ]
    payment_rows = await find_audited_payments(audit.database, merchant_id, paid)
    kept = {each.id: each for each in await find_audited_registrations(audit.database, merchant_id, stored)}
    findings = [judge_checkout(row, payment_rows, kept, audit.keyring) for row in rows]
    return [finding for finding in findings if finding is not None]


def judge_checkout(
    row: AuditedCheckout, payment_rows: AuditedPayments, kept: Stored, keyring: Keyring
) -> Finding | None:
    checkout = row.checkout
    if checkout is None:
        return _find(Proof.ROW, row, "it cannot be read: a word or a number in it is none of ours")
    is_payment = checkout.kind is CheckoutKind.PAYMENT
    text = doubt_attempt(checkout, payment_rows) if is_payment else doubt_registration(checkout, kept)
    text = text or doubt_fields(checkout, keyring)
    return None if text is None else _find(Proof.CHECKOUT, row, text)


def doubt_attempt(checkout: Checkout, payment_rows: AuditedPayments) -> str | None:
    if checkout.state in _UNPAID:
        return None
    payment_row = payment_rows.get(checkout.subject_id or "")
    if payment_row is None:
        return f"there is no payment {checkout.subject_id}, which has it"
    payment = payment_row.payment
    if payment is None:
        return None
    if payment.ndc != checkout.id or payment.chain_id is not None:
        return f"payment {payment.id} was not made for it"
    if checkout.state is CheckoutState.LOCKED:
        return None if _may_hold(payment) else f"payment {payment.id}, which holds it, has ended"
    return None if payment.state is State.APPROVED else f"payment {payment.id} did not pay it"


def _may_hold(payment: Payment) -> bool:
    """Only what may move money this moment; what has to wait lets others try, unless it pays out."""
    waits = payment.state is State.WAITING and NATURES.get(payment.payment_type) is Nature.GIVES
    return waits or payment.state in (State.STARTED, State.UNRESOLVED)


def doubt_registration(checkout: Checkout, kept: Stored) -> str | None:
    """Storing takes one commit, so nobody ever holds it."""
    if checkout.state in _UNPAID:
        return None
    if checkout.state is CheckoutState.LOCKED:
        return "it is held, and nothing is being stored"
    row = kept.get(checkout.subject_id or "")
    if row is None:
        return f"there is no registration {checkout.subject_id}, which was stored for it"
    is_stored = row.registration is None or row.registration.state not in _NEVER_STORED
    return None if is_stored else f"registration {row.id} was never good to be paid with"


def doubt_fields(checkout: Checkout, keyring: Keyring) -> str | None:
    if checkout.sealed_fields is None:
        return None
    try:
        open_sealed(
            checkout.sealed_fields, owner=name_checkout_owner(checkout.merchant_id, checkout.id), keyring=keyring
        )
    except (EnvelopeError, KeyringError):
        return "what is sealed in it does not open there with the keys at hand"
    return None


def _find(proof: Proof, row: AuditedCheckout, text: str) -> Finding:
    return Finding(proof=proof, table="checkouts", merchant_id=row.merchant_id, row_id=row.id, text=text)


# ---- from the side of payments ----


async def find_paid_beside(audit: Audit, page: Iterable[AuditedPayment]) -> list[Finding]:
    """Approved payments that their checkouts do not name. Each checkout names one, so no two stand beside each other.

    Read before the checkouts, which never forget who paid them.
    """
    approved = [each.payment for each in page if each.payment and _pays_for_checkout(each.payment)]
    findings = []
    for merchant_id, payments in group_by_merchant(approved).items():
        ids = sorted({payment.ndc for payment in payments})
        rows = {row.id: row.checkout for row in await find_audited_checkouts(audit.database, merchant_id, ids)}
        findings += [doubt_paid(payment, rows.get(payment.ndc)) for payment in payments]
    return [finding for finding in findings if finding is not None]


def _pays_for_checkout(payment: Payment) -> bool:
    is_first = payment.state is State.APPROVED and payment.chain_id is None
    return is_first and find_checkout_id(payment.ndc) is not None


def doubt_paid(payment: Payment, checkout: Checkout | None) -> Finding | None:
    if checkout is None or (checkout.is_paid and checkout.subject_id == payment.id):
        return None
    text = f"it is approved, and checkout {checkout.id} was not paid by it"
    return find_on(payment, Proof.CHECKOUT, text)


async def check_links(audit: Audit) -> None:
    async for page in walk_links(audit.database):
        for merchant_id, rows in group_by_merchant(page).items():
            audit.report.add(await judge_links(audit, merchant_id, rows))
        audit.walk("payment_links", len(page))


async def judge_links(audit: Audit, merchant_id: MerchantId, rows: Sequence[AuditedLink]) -> list[Finding]:
    """Reads a suspect link again: one that was given a checkout or was purged in between looks right by now."""
    doubtful = await _list_doubtful_links(audit, merchant_id, rows)
    again = await find_audited_links(audit.database, merchant_id, [finding.row_id for finding in doubtful])
    return await _list_doubtful_links(audit, merchant_id, again)


async def _list_doubtful_links(audit: Audit, merchant_id: MerchantId, rows: Sequence[AuditedLink]) -> list[Finding]:
    named = sorted({row.link.checkout_id for row in rows if row.link and row.link.checkout_id})
    there = {row.id for row in await find_audited_checkouts(audit.database, merchant_id, named)}
    findings = [_judge(row, there, audit.keyring) for row in rows]
    return [finding for finding in findings if finding is not None]


def _judge(row: AuditedLink, checkouts: set[str], keyring: Keyring) -> Finding | None:
    if row.link is None:
        return _find_on_link(Proof.ROW, row, "it cannot be read: a word or a number in it is none of ours")
    if not compare_digest(row.link.mac, make_link_mac(row.link, keyring)):
        return _find_on_link(Proof.SEAL, row, "its seal does not fit")
    if row.link.checkout_id is not None and row.link.checkout_id not in checkouts:
        return _find_on_link(Proof.LINK, row, "there is no checkout of the name that it has")
    if not _opens(row.link, keyring):
        return _find_on_link(Proof.LINK, row, "what is sealed in it does not open there with the keys at hand")
    return None


def _opens(link: PaymentLink, keyring: Keyring) -> bool:
    if link.sealed_fields is None:
        return True
    try:
        open_sealed(link.sealed_fields, owner=name_link_owner(link.merchant_id, link.id), keyring=keyring)
    except (EnvelopeError, KeyringError):
        return False
    return True


def _find_on_link(proof: Proof, row: AuditedLink, text: str) -> Finding:
    return Finding(proof=proof, table="payment_links", merchant_id=row.merchant_id, row_id=row.id, text=text)
