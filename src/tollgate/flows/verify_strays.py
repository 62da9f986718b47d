"""The audit of rows that refer to payments and registrations: ledger entries, events, jobs, idempotency records.

That none is missing is checked with the chains; here it is that none is too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import RESULTS, is_pending
from tollgate.flows.verify_tables import Flaw, Table, read_by_ids
from tollgate.operations.idempotency import open_stored_answer
from tollgate.payments.audit import Proof
from tollgate.payments.completion import list_entries
from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.payments.registration import RegistrationEvent
from tollgate.store import audit
from tollgate.store.idempotency import NO_PAYMENT, IdempotencyRecord
from tollgate.store.jobs import PAYMENT_COMPLETED, Event, Job
from tollgate.values import make_timed_id
from tollgate.vault.keyring import Keyring

AuditedPayments = Mapping[str, audit.AuditedPayment]

_RECOVERY_TASKS = frozenset(RecoveryTask)
_REGISTRATION_EVENTS = frozenset(RegistrationEvent)


def check_entry(_keyring: Keyring, entry: Entry, payments: AuditedPayments) -> Iterator[Flaw]:
    row = payments.get(entry.payment_id)
    if row is None:
        yield Proof.LEDGER, f"there is no payment {entry.payment_id}"
    elif row.payment is not None and entry.id not in {each.id for each in list_entries(row.payment)}:
        # Whether an entry with the right id says the right things is checked with its chain.
        yield Proof.LEDGER, f"payment {entry.payment_id} posts no such line"


def check_event(
    _keyring: Keyring, event: Event, payments: AuditedPayments, registration_ids: set[str]
) -> Iterator[Flaw]:
    if event.topic in _REGISTRATION_EVENTS and event.subject_id not in registration_ids:
        yield Proof.EVENT, f"there is no registration {event.subject_id}"
    if event.topic != PAYMENT_COMPLETED:
        return
    row = payments.get(event.subject_id)
    if row is None:
        yield Proof.EVENT, f"there is no payment {event.subject_id}"
    elif row.payment is not None and not _may_announce(event, row.payment):
        is_started = row.payment.state is State.STARTED
        text = "has no result yet" if is_started else "never had this result"
        yield Proof.EVENT, f"payment {event.subject_id} {text}"


def _may_announce(event: Event, payment: Payment) -> bool:
    """Tells whether an event is about the result (checked with the chain), or about an earlier time of waiting."""
    is_whole = event.id == make_timed_id(event.created_at, payment.id)
    was_open = event.result_code in RESULTS and is_pending(event.result_code)
    if payment.state is State.STARTED or payment.completed_at is None:
        # The shopper it waited for is back, so its money message is on the way.
        return is_whole and was_open
    if event.id == make_timed_id(payment.completed_at, payment.id):
        return True
    return is_whole and was_open and event.created_at <= payment.completed_at


def check_job(_keyring: Keyring, job: Job, payments: AuditedPayments) -> Iterator[Flaw]:
    is_recovery = job.topic in _RECOVERY_TASKS
    if is_recovery and job.subject_id not in payments:
        yield Proof.JOB, f"there is no payment {job.subject_id}"
    elif is_recovery and job.id != f"{job.topic}.{job.subject_id}":
        yield Proof.JOB, "its name is not that of its recovery task"
    elif job.failures > LIMITS.job_failures_max:
        yield Proof.JOB, f"{job.topic} of {job.subject_id} has failed {job.failures} times in a row"


def check_idempotency_record(keyring: Keyring, record: IdempotencyRecord, payments: AuditedPayments) -> Iterator[Flaw]:
    row = payments.get(record.payment_id)
    is_answered = record.status is not None or record.body is not None
    if record.payment_id != NO_PAYMENT and row is None:
        yield Proof.IDEMPOTENCY_KEY, f"there is no payment {record.payment_id}"
    elif row is not None and row.payment is not None and row.payment.channel_id != record.channel_id:
        yield Proof.IDEMPOTENCY_KEY, "its payment belongs to another channel"
    elif is_answered and open_stored_answer(record, keyring) is None:
        yield Proof.IDEMPOTENCY_KEY, "the answer kept for it is not the one that was given"


_subjects = read_by_ids(audit.PAYMENTS.list_by_ids, lambda row: [row.subject_id])

TABLES = (
    Table(
        name="ledger_entries",
        walk=audit.ENTRIES.walk,
        reads=(read_by_ids(audit.PAYMENTS.list_by_ids, lambda entry: [entry.payment_id]),),
        check=check_entry,
    ),
    Table(
        name="outbox",
        walk=audit.EVENTS.walk,
        reads=(_subjects, read_by_ids(audit.REGISTRATIONS.list_ids, lambda event: [event.subject_id])),
        check=check_event,
    ),
    Table(name="jobs", walk=audit.JOBS.walk, reads=(_subjects,), check=check_job),
    Table(
        name="idempotency_keys",
        walk=audit.IDEMPOTENCY_RECORDS.walk,
        reads=(read_by_ids(audit.PAYMENTS.list_by_ids, lambda record: [record.payment_id]),),
        check=check_idempotency_record,
        get_row_id=lambda record: f"{record.channel_id}/{record.key}",
    ),
)
