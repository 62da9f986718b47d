"""`tollgate verify`: checks the whole store against its own rules, and here that no row refers to nothing.

It only reads. That no row is missing is checked with the chains.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import RESULTS, is_pending
from tollgate.flows import auditing, verify_checkouts, verify_methods, verify_registrations, verify_reviews
from tollgate.flows.verify_archives import check_archives
from tollgate.flows.verify_audit_log import check_audit_log
from tollgate.flows.verify_chains import check_chains, list_events
from tollgate.flows.verify_users import check_users
from tollgate.operations.idempotency import open_stored_answer
from tollgate.operations.signing import has_signature
from tollgate.operations.webhooks import make_webhook_owner
from tollgate.payments import registration, schedule, webhooks
from tollgate.payments.audit import Proof
from tollgate.payments.completion import list_entries
from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.store import audit as audited
from tollgate.store import idempotency, jobs
from tollgate.store.archives import list_archived_months
from tollgate.store.database import Database
from tollgate.store.events import Event
from tollgate.values import make_timed_id
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import sealing_key_id

SAMPLE = 50
FINDINGS_MAX = 100
_RECOVERY_TASKS = frozenset(RecoveryTask)
_REGISTRATION_EVENTS, _SCHEDULE_EVENTS = frozenset(registration.RegistrationEvent), frozenset(schedule.ScheduleEvent)


async def verify(
    database: Database,
    keyring: Keyring,
    report_progress: Callable[[str, int], None],
    findings_max: int = FINDINGS_MAX,
    pauses_s: Sequence[float] = auditing.PAUSES_S,
    archive: Path | None = None,
) -> auditing.AuditReport:
    """archive: the folder of archived months; without it they are not checked."""
    await refuse_wrong_keys(database, keyring)
    report = auditing.AuditReport(findings_max=findings_max)
    audit = auditing.Audit(
        database=database, keyring=keyring, report=report, report_progress=report_progress, pauses_s=pauses_s
    )
    archived_before = await list_archived_months(database)
    await check_chains(audit)
    for table in TABLES:
        await auditing.check_table(audit, table)
    await check_users(audit)
    await check_audit_log(audit)
    await check_archives(audit, archive, archived_before)
    return report


async def refuse_wrong_keys(database: Database, keyring: Keyring) -> None:
    """Refuses the key file of another store, with which every signature would look broken."""
    sample = await audited.sample_sealed(database, SAMPLE)
    if sample and not any(_is_ours(each, keyring) for each in sample):
        raise KeyringError(f"the key file is not that of this store: none of {len(sample)} seals was made with it")


def _is_ours(sample: audited.SealedSample, keyring: Keyring) -> bool:
    payment, sealed = sample.payment_row.payment, sample.sealed_account
    if payment is not None and payment.mac and has_signature(payment, keyring):
        return True
    # Where signatures were broken by hand, the account sealed beside them still names its key.
    return sealed is not None and sealing_key_id(sealed) in keyring.key_ids


def check_entry(_keyring: Keyring, entry: Entry, payments: auditing.AuditedPayments) -> Iterator[auditing.Flaw]:
    row = payments.get(entry.payment_id)
    if row is None:
        yield Proof.LEDGER, f"there is no payment {entry.payment_id}"
    elif row.payment is not None and entry.id not in {each.id for each in list_entries(row.payment)}:
        # Whether an entry with the right id says the right things is checked with its chain.
        yield Proof.LEDGER, f"payment {entry.payment_id} posts no such entry"


def check_event(
    _keyring: Keyring,
    event: Event,
    payments: auditing.AuditedPayments,
    registration_ids: set[str],
    schedule_ids: set[str],
) -> Iterator[auditing.Flaw]:
    if event.topic in _REGISTRATION_EVENTS and event.subject_id not in registration_ids:
        yield Proof.EVENT, f"there is no registration {event.subject_id}"
    if event.topic in _SCHEDULE_EVENTS and event.subject_id not in schedule_ids:
        yield Proof.EVENT, f"there is no schedule {event.subject_id}"
    if not event.topic.startswith("payment."):
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
        # The shopper is back, and the charge is on its way.
        return is_whole and was_open
    if event.id in {each.id for each in list_events(payment)}:
        return True
    return is_whole and was_open and event.created_at <= payment.completed_at


def check_announced(
    _keyring: Keyring, row: audited.AuditedAnnouncement | audited.AuditedDelivery, event_ids: set[str]
) -> Iterator[auditing.Flaw]:
    """Checks an announcement or a delivery that is still to be made."""
    event_id = row.event_id if isinstance(row, audited.AuditedDelivery) else row.id
    if event_id not in event_ids:
        yield Proof.EVENT, f"there is no event {event_id}"


def check_job(_keyring: Keyring, job: jobs.Job, payments: auditing.AuditedPayments) -> Iterator[auditing.Flaw]:
    is_recovery = job.topic in _RECOVERY_TASKS
    if is_recovery and job.subject_id not in payments:
        yield Proof.JOB, f"there is no payment {job.subject_id}"
    elif is_recovery and job.id != f"{job.topic}.{job.subject_id}":
        yield Proof.JOB, "its name is not that of its recovery task"
    elif job.failures > LIMITS.job_failures_max:
        yield Proof.JOB, f"{job.topic} of {job.subject_id} has failed {job.failures} times in a row"


def check_idempotency_record(
    keyring: Keyring, record: idempotency.IdempotencyRecord, payments: auditing.AuditedPayments
) -> Iterator[auditing.Flaw]:
    row = payments.get(record.payment_id)
    is_answered = record.status is not None or record.body is not None
    if record.payment_id != idempotency.NO_PAYMENT and row is None:
        yield Proof.IDEMPOTENCY_KEY, f"there is no payment {record.payment_id}"
    elif row is not None and row.payment is not None and row.payment.channel_id != record.channel_id:
        yield Proof.IDEMPOTENCY_KEY, "its payment belongs to another channel"
    elif is_answered and open_stored_answer(record, keyring) is None:
        yield Proof.IDEMPOTENCY_KEY, "the answer stored for it is not the one that was given"


def check_webhook(keyring: Keyring, row: audited.AuditedRow[webhooks.Webhook]) -> Iterator[auditing.Flaw]:
    if row.value is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif not auditing.opens(row.value.sealed_secrets, make_webhook_owner(row.value), keyring):
        yield Proof.WEBHOOK, auditing.UNOPENED


_subjects, _registrations, _schedules = [
    auditing.read_by_ids(find, lambda row: [row.subject_id])
    for find in (audited.PAYMENTS.list_by_ids, audited.REGISTRATIONS.list_ids, audited.SCHEDULES.list_ids)
]

TABLES = (
    auditing.Table(
        name="ledger_entries",
        walk=audited.ENTRIES.walk,
        reads=(auditing.read_by_ids(audited.PAYMENTS.list_by_ids, lambda entry: [entry.payment_id]),),
        check=check_entry,
    ),
    auditing.Table(
        name="outbox",
        walk=audited.EVENTS.walk,
        reads=(_subjects, _registrations, _schedules),
        check=check_event,
    ),
    auditing.Table(name="jobs", walk=audited.JOBS.walk, reads=(_subjects,), check=check_job),
    auditing.Table(
        name="idempotency_keys",
        walk=audited.IDEMPOTENCY_RECORDS.walk,
        reads=(auditing.read_by_ids(audited.PAYMENTS.list_by_ids, lambda record: [record.payment_id]),),
        check=check_idempotency_record,
        get_row_id=lambda record: f"{record.channel_id}/{record.key}",
    ),
    auditing.Table(
        name="announcements",
        walk=audited.ANNOUNCEMENTS.walk,
        reads=(auditing.read_by_ids(audited.EVENTS.list_ids, lambda announcement: [announcement.id]),),
        check=check_announced,
    ),
    auditing.Table(
        name="deliveries",
        walk=audited.DELIVERIES.walk,
        reads=(auditing.read_by_ids(audited.EVENTS.list_ids, lambda delivery: [delivery.event_id]),),
        check=check_announced,
    ),
    *verify_methods.TABLES,
    *verify_reviews.TABLES,
    *verify_registrations.TABLES,
    *verify_checkouts.TABLES,
    auditing.Table(
        name="webhooks", walk=audited.WEBHOOKS.walk, check=check_webhook, read_again=audited.WEBHOOKS.list_by_ids
    ),
)
