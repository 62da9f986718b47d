"""The fourth part of an audit: stored accounts. What is kept opens where it lies and is what it is shown as.

Whatever ended holds nothing any more, and whatever can be paid with came to be as it should.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence

from tollgate.flows.verify_chains import EVENTS_KEPT_SINCE
from tollgate.flows.verify_report import Audit, group_by_merchant
from tollgate.operations.network_tokens import name_token_owner
from tollgate.operations.registrations import name_registration_owner
from tollgate.payments.accounts import Instrument
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.payment import OPEN_STATES, State
from tollgate.payments.registration import WIPED, Registration, RegistrationEvent, RegistrationState
from tollgate.store import audit_stored
from tollgate.store.audit import AuditedPayment, find_audited_payments, find_events
from tollgate.store.database import Database
from tollgate.store.opening import get_setting
from tollgate.values import Instant, MerchantId, make_timed_id
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_account
from tollgate.vault.signing import fingerprint_account, shows_face

_UNDECIDED = frozenset({State.STARTED, *OPEN_STATES})

AuditedPayments = Mapping[str, AuditedPayment]


async def check_registrations(audit: Audit) -> None:
    events_kept_since = int(await get_setting(audit.database, EVENTS_KEPT_SINCE, "0"))
    async for page in audit_stored.walk_registrations(audit.database):
        for merchant_id, rows in group_by_merchant(page).items():
            audit.report.add(await judge_registrations(audit, merchant_id, rows))
            active = [row for row in rows if row.registration and row.registration.state is RegistrationState.ACTIVE]
            audit.report.add(await check_announced(audit.database, merchant_id, active, events_kept_since))
        audit.walk("registrations", len(page))


async def judge_registrations(
    audit: Audit, merchant_id: MerchantId, rows: Sequence[audit_stored.AuditedRegistration]
) -> list[Finding]:
    """What looks wrong is read again, and then its payment: one that was decided in between looks right by now."""
    doubtful = await _list_doubtful(audit, merchant_id, rows)
    again = await audit_stored.find_audited_registrations(
        audit.database, merchant_id, [finding.row_id for finding in doubtful]
    )
    return await _list_doubtful(audit, merchant_id, again)


async def _list_doubtful(
    audit: Audit, merchant_id: MerchantId, rows: Sequence[audit_stored.AuditedRegistration]
) -> list[Finding]:
    makers = sorted({row.registration.made_by for row in rows if row.registration and row.registration.made_by})
    payment_rows = await find_audited_payments(audit.database, merchant_id, makers)
    findings = [judge_registration(row, payment_rows, audit.keyring) for row in rows]
    return [finding for finding in findings if finding is not None]


def judge_registration(
    row: audit_stored.AuditedRegistration, payment_rows: AuditedPayments, keyring: Keyring
) -> Finding | None:
    registration = row.registration
    if registration is None:
        return _find(Proof.ROW, row, "it cannot be read: a word, a number or a text in it is none of ours")
    text = doubt_end(registration, row) or doubt_maker(registration, payment_rows) or doubt_account(row, keyring)
    return None if text is None else _find(Proof.REGISTRATION, row, text)


def doubt_end(registration: Registration, row: audit_stored.AuditedRegistration) -> str | None:
    if registration.state in (RegistrationState.PENDING, RegistrationState.ACTIVE):
        return None
    if row.sealed_account is not None or row.sealed_token is not None or registration.fingerprint is not None:
        return "it has ended, and its account is still there"
    holder = registration.card.holder if registration.card else None
    if registration.state in WIPED and (registration.echo or holder):
        return "it has ended, and what was known of its holder is still there"
    return None


def doubt_maker(registration: Registration, payment_rows: AuditedPayments) -> str | None:
    """A payment that made it decides about it, in one commit with its own end."""
    if registration.made_by is None:
        return None
    payment_row = payment_rows.get(registration.made_by)
    if payment_row is None:
        return f"there is no payment {registration.made_by}, which made it"
    if payment_row.payment is None:
        return None
    state = payment_row.payment.state
    if registration.state is RegistrationState.PENDING and state not in _UNDECIDED:
        return f"payment {payment_row.id}, which made it, is decided, and it still waits"
    if registration.state is RegistrationState.ACTIVE and state is not State.APPROVED:
        return f"payment {payment_row.id}, which made it, did not succeed, and it can be paid with"
    return None


def doubt_account(row: audit_stored.AuditedRegistration, keyring: Keyring) -> str | None:
    registration = row.registration
    if registration is None or row.sealed_account is None:
        return None if registration is None or registration.fingerprint is None else "its account is gone"
    try:
        account = open_account(row.sealed_account, owner=name_registration_owner(registration), keyring=keyring)
        if row.sealed_token is not None:
            open_account(row.sealed_token, owner=name_token_owner(registration), keyring=keyring)
    except (EnvelopeError, KeyringError):
        return "what is sealed in it does not open there with the keys at hand"
    return _doubt_card_summary(registration, account, keyring)


def _doubt_card_summary(registration: Registration, account: Instrument, keyring: Keyring) -> str | None:
    # A network that renewed a card behind its token tells the last digits of the new one, and never its number.
    is_renewed = registration.network_token is not None
    if not shows_face(account, registration.card, is_renewed=is_renewed):
        return "what is shown of it is not the account that is sealed in it"
    found = fingerprint_account(account, registration.brand, registration.merchant_id, keyring)
    if not hmac.compare_digest(found or b"", registration.fingerprint or b""):
        return "it is not known again by the account that is sealed in it"
    return None


async def check_announced(
    database: Database,
    merchant_id: MerchantId,
    active: Sequence[audit_stored.AuditedRegistration],
    events_kept_since: Instant,
) -> list[Finding]:
    """Most were announced when they were stored or when their payment ended; where none was, it is looked for."""
    owed = [row.registration for row in active if row.registration]
    owed = [each for each in owed if each.created_at >= events_kept_since]
    payment_rows = await find_audited_payments(
        database, merchant_id, sorted({each.made_by for each in owed if each.made_by})
    )
    expected = {each.id: expect_event(each, payment_rows) for each in owed}
    events = await find_events(database, merchant_id, sorted(expected.values()))
    found = {(event.id, event.subject_id) for event in events if event.topic == RegistrationEvent.CREATED}
    missing = [each for each in owed if (expected[each.id], each.id) not in found]
    text = "it can be paid with, and nobody was told that it was made"
    return [
        Finding(proof=Proof.EVENT, table="registrations", merchant_id=merchant_id, row_id=each.id, text=text)
        for each in missing
        if not await audit_stored.is_announced(database, each)
    ]


def expect_event(registration: Registration, payment_rows: AuditedPayments) -> str:
    payment_row = payment_rows.get(registration.made_by or "")
    if payment_row is None or payment_row.payment is None or payment_row.payment.completed_at is None:
        return make_timed_id(registration.created_at, f"{registration.id}.0")
    return make_timed_id(payment_row.payment.completed_at, f"{registration.id}.1")


def _find(proof: Proof, row: audit_stored.AuditedRegistration, text: str) -> Finding:
    return Finding(proof=proof, table="registrations", merchant_id=row.merchant_id, row_id=row.id, text=text)
