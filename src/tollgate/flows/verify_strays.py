"""The second part of an audit: whatever speaks of a payment or registration speaks of one that exists.

That nothing is missing was proven by the first part; here it is that nothing is too much.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TypeVar

from tollgate.catalog import LIMITS, RESULTS, is_pending
from tollgate.flows.verify_report import Audit, Owned, group_by_merchant
from tollgate.payments import Errand, Finding, Line, Payment, Proof, RegistrationEvent, State, list_lines
from tollgate.steps import open_kept_answer
from tollgate.store import (
    NO_PAYMENT,
    PAYMENT_SETTLED,
    Database,
    Entry,
    Event,
    Job,
    StoredClaim,
    find_entries,
    find_registration_ids,
    walk_book,
    walk_claims,
    walk_events,
    walk_jobs,
)
from tollgate.values import MerchantId, make_timed_id
from tollgate.vault import Keyring

_Row = TypeVar("_Row", bound=Owned)


async def check_strays(audit: Audit) -> None:
    database = audit.database
    await _check(audit, "book", walk_book(database), lambda line: line.payment_id, judge_line)
    await _check_events(audit)
    await _check(audit, "jobs", walk_jobs(database), lambda job: job.subject_id, judge_job)
    judge_kept = partial(judge_claim, audit.keyring)
    await _check(audit, "claims", walk_claims(database), lambda claim: claim.payment_id, judge_kept)


async def _check(
    audit: Audit,
    table: str,
    pages: AsyncIterator[list[_Row]],
    name_subject: Callable[[_Row], str],
    judge: Callable[[_Row, Entry | None], Finding | None],
) -> None:
    """No second look is needed: what speaks of a payment is read before the payment, and shared its commit."""
    async for page in pages:
        audit.report.add(await _judge_page(audit.database, page, name_subject, judge))
        audit.walk(table, len(page))


async def _check_events(audit: Audit) -> None:
    async for page in walk_events(audit.database):
        of_payments = [event for event in page if event.topic == PAYMENT_SETTLED]
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
    judge: Callable[[_Row, Entry | None], Finding | None],
) -> list[Finding]:
    findings = []
    for merchant_id, rows in group_by_merchant(page).items():
        found = await find_entries(database, merchant_id, sorted({name_subject(row) for row in rows}))
        findings += [judge(row, found.get(name_subject(row))) for row in rows]
    return [finding for finding in findings if finding is not None]


def judge_line(line: Line, entry: Entry | None) -> Finding | None:
    if entry is not None and (entry.payment is None or line.id in {each.id for each in list_lines(entry.payment)}):
        # One that cannot be read is told of by itself, and that a line of the right id fits was proven with its chain.
        return None
    text = _say_absent(line.payment_id) if entry is None else f"payment {line.payment_id} posts no such line"
    return _find(Proof.BOOK, "book", line.merchant_id, line.id, text)


def judge_event(event: Event, entry: Entry | None) -> Finding | None:
    if entry is None:
        text = _say_absent(event.subject_id)
    elif entry.payment is None or _may_say(event, entry.payment):
        return None
    elif entry.payment.state is State.STARTED:
        text = f"payment {event.subject_id} has no result yet"
    else:
        text = f"payment {event.subject_id} never had this result"
    return _find(Proof.EVENT, "outbox", event.merchant_id, event.id, text)


def _may_say(event: Event, payment: Payment) -> bool:
    """The result it has (proven with its chain), or that it was still open at an earlier time."""
    is_whole = event.id == make_timed_id(event.created_at, payment.id)
    was_open = event.result_code in RESULTS and is_pending(event.result_code)
    if payment.state is State.STARTED or payment.settled_at is None:
        # It waited for its shopper, who is back, so its money message is on the way.
        return is_whole and was_open
    if event.id == make_timed_id(payment.settled_at, payment.id):
        return True
    return is_whole and was_open and event.created_at <= payment.settled_at


def judge_job(job: Job, entry: Entry | None) -> Finding | None:
    return _find_stray_job(job, entry) or _find_failing_job(job)


def _find_failing_job(job: Job) -> Finding | None:
    """Names work of any kind that is tried in vain again and again, which nobody would notice otherwise."""
    if job.failures <= LIMITS.job_failures_max:
        return None
    text = f"{job.topic} of {job.subject_id} has failed {job.failures} times in a row"
    return _find(Proof.JOB, "jobs", job.merchant_id, job.id, text)


def _find_stray_job(job: Job, entry: Entry | None) -> Finding | None:
    if job.topic not in set(Errand):
        return None
    if entry is not None and job.id == f"{job.topic}.{job.subject_id}":
        return None
    text = _say_absent(job.subject_id) if entry is None else "its name is not that of its errand"
    return _find(Proof.JOB, "jobs", job.merchant_id, job.id, text)


def judge_claim(keyring: Keyring, claim: StoredClaim, entry: Entry | None) -> Finding | None:
    is_kept = claim.status is not None or claim.body is not None
    if claim.payment_id != NO_PAYMENT and entry is None:
        text = _say_absent(claim.payment_id)
    elif entry is not None and entry.payment is not None and entry.payment.channel_id != claim.channel_id:
        text = "its payment belongs to another channel"
    elif is_kept and open_kept_answer(claim, keyring) is None:
        text = "the answer kept for it is not the one that was given"
    else:
        return None
    return _find(Proof.CLAIM, "claims", claim.merchant_id, f"{claim.channel_id}/{claim.key}", text)


def _say_absent(payment_id: str) -> str:
    return f"there is no payment {payment_id}"


def _find(proof: Proof, table: str, merchant_id: MerchantId, row_id: str, text: str) -> Finding:
    return Finding(proof=proof, table=table, merchant_id=merchant_id, row_id=row_id, text=text)
