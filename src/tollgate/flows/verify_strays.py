"""The second part of an audit: whatever speaks of a payment or registration speaks of one that exists.

That nothing is missing was proven by the first part; here it is that nothing is too much.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TypeVar

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import RESULTS, is_pending
from tollgate.flows.verify_report import Audit, Owned, group_by_merchant
from tollgate.operations.idempotency import open_stored_answer
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.completion import list_entries
from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.payments.registration import RegistrationEvent
from tollgate.store.audit import (
    AuditedPayment,
    find_audited_payments,
    walk_events,
    walk_idempotency_records,
    walk_jobs,
    walk_ledger,
)
from tollgate.store.audit_stored import find_registration_ids
from tollgate.store.database import Database
from tollgate.store.idempotency import NO_PAYMENT, IdempotencyRecord
from tollgate.store.jobs import PAYMENT_COMPLETED, Event, Job
from tollgate.values import MerchantId, make_timed_id
from tollgate.vault.keyring import Keyring

_Row = TypeVar("_Row", bound=Owned)


async def check_strays(audit: Audit) -> None:
    database = audit.database
    await _check(audit, "book", walk_ledger(database), lambda entry: entry.payment_id, check_entry)
    await _check_events(audit)
    await _check(audit, "jobs", walk_jobs(database), lambda job: job.subject_id, judge_job)
    judge_kept = partial(check_idempotency_record, audit.keyring)
    await _check(
        audit,
        "claims",
        walk_idempotency_records(database),
        lambda idempotency_key: idempotency_key.payment_id,
        judge_kept,
    )


async def _check(
    audit: Audit,
    table: str,
    pages: AsyncIterator[list[_Row]],
    name_subject: Callable[[_Row], str],
    judge: Callable[[_Row, AuditedPayment | None], Finding | None],
) -> None:
    """No second look is needed: what speaks of a payment is read before the payment, and shared its commit."""
    async for page in pages:
        audit.report.add(await _judge_page(audit.database, page, name_subject, judge))
        audit.walk(table, len(page))


async def _check_events(audit: Audit) -> None:
    async for page in walk_events(audit.database):
        of_payments = [event for event in page if event.topic == PAYMENT_COMPLETED]
        of_registrations = [event for event in page if event.topic in set(RegistrationEvent)]
        audit.report.add(await _judge_page(audit.database, of_payments, lambda event: event.subject_id, judge_event))
        audit.report.add(await _judge_registration_events(audit.database, of_registrations))
        audit.walk("outbox", len(page))


async def _judge_registration_events(database: Database, page: Sequence[Event]) -> list[Finding]:
    """A registration leaves a trace for good, so each of its events has one."""
    findings = []
    for merchant_id, events in group_by_merchant(page).items():
        known = await find_registration_ids(database, merchant_id, sorted({event.subject_id for event in events}))
        findings += [
            _find(Proof.EVENT, "outbox", merchant_id, event.id, f"there is no registration {event.subject_id}")
            for event in events
            if event.subject_id not in known
        ]
    return findings


async def _judge_page(
    database: Database,
    page: Sequence[_Row],
    name_subject: Callable[[_Row], str],
    judge: Callable[[_Row, AuditedPayment | None], Finding | None],
) -> list[Finding]:
    findings = []
    for merchant_id, rows in group_by_merchant(page).items():
        found = await find_audited_payments(database, merchant_id, sorted({name_subject(row) for row in rows}))
        findings += [judge(row, found.get(name_subject(row))) for row in rows]
    return [finding for finding in findings if finding is not None]


def check_entry(entry: Entry, payment_row: AuditedPayment | None) -> Finding | None:
    if payment_row is not None and (
        payment_row.payment is None or entry.id in {each.id for each in list_entries(payment_row.payment)}
    ):
        # One that cannot be read is told of by itself, and that a line of the right id fits was proven with its chain.
        return None
    text = _say_absent(entry.payment_id) if payment_row is None else f"payment {entry.payment_id} posts no such line"
    return _find(Proof.LEDGER, "book", entry.merchant_id, entry.id, text)


def judge_event(event: Event, payment_row: AuditedPayment | None) -> Finding | None:
    if payment_row is None:
        text = _say_absent(event.subject_id)
    elif payment_row.payment is None or _may_say(event, payment_row.payment):
        return None
    elif payment_row.payment.state is State.STARTED:
        text = f"payment {event.subject_id} has no result yet"
    else:
        text = f"payment {event.subject_id} never had this result"
    return _find(Proof.EVENT, "outbox", event.merchant_id, event.id, text)


def _may_say(event: Event, payment: Payment) -> bool:
    """The result it has (proven with its chain), or that it was still open at an earlier time."""
    is_whole = event.id == make_timed_id(event.created_at, payment.id)
    was_open = event.result_code in RESULTS and is_pending(event.result_code)
    if payment.state is State.STARTED or payment.completed_at is None:
        # It waited for its shopper, who is back, so its money message is on the way.
        return is_whole and was_open
    if event.id == make_timed_id(payment.completed_at, payment.id):
        return True
    return is_whole and was_open and event.created_at <= payment.completed_at


def judge_job(job: Job, payment_row: AuditedPayment | None) -> Finding | None:
    return _find_stray_job(job, payment_row) or _find_failing_job(job)


def _find_failing_job(job: Job) -> Finding | None:
    """Names work of any kind that is tried in vain again and again, which nobody would notice otherwise."""
    if job.failures <= LIMITS.job_failures_max:
        return None
    text = f"{job.topic} of {job.subject_id} has failed {job.failures} times in a row"
    return _find(Proof.JOB, "jobs", job.merchant_id, job.id, text)


def _find_stray_job(job: Job, payment_row: AuditedPayment | None) -> Finding | None:
    if job.topic not in set(RecoveryTask):
        return None
    if payment_row is not None and job.id == f"{job.topic}.{job.subject_id}":
        return None
    text = _say_absent(job.subject_id) if payment_row is None else "its name is not that of its recovery task"
    return _find(Proof.JOB, "jobs", job.merchant_id, job.id, text)


def check_idempotency_record(
    keyring: Keyring, idempotency_key: IdempotencyRecord, payment_row: AuditedPayment | None
) -> Finding | None:
    is_kept = idempotency_key.status is not None or idempotency_key.body is not None
    if idempotency_key.payment_id != NO_PAYMENT and payment_row is None:
        text = _say_absent(idempotency_key.payment_id)
    elif (
        payment_row is not None
        and payment_row.payment is not None
        and payment_row.payment.channel_id != idempotency_key.channel_id
    ):
        text = "its payment belongs to another channel"
    elif is_kept and open_stored_answer(idempotency_key, keyring) is None:
        text = "the answer kept for it is not the one that was given"
    else:
        return None
    return _find(
        Proof.IDEMPOTENCY_KEY,
        "claims",
        idempotency_key.merchant_id,
        f"{idempotency_key.channel_id}/{idempotency_key.key}",
        text,
    )


def _say_absent(payment_id: str) -> str:
    return f"there is no payment {payment_id}"


def _find(proof: Proof, table: str, merchant_id: MerchantId, row_id: str, text: str) -> Finding:
    return Finding(proof=proof, table=table, merchant_id=merchant_id, row_id=row_id, text=text)
