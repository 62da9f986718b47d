"""The audit of registrations, of the schedules that charge them, and of the runs of those schedules.

It reads and changes nothing.
"""

import hmac
from collections.abc import Iterator, Mapping, Sequence

from tollgate.flows import auditing
from tollgate.flows.run_schedules import recall_cron
from tollgate.operations import accounts, network_tokens, signing
from tollgate.payments.audit import Proof
from tollgate.payments.payment import OPEN_STATES, State
from tollgate.payments.registration import WIPED, Registration, RegistrationEvent, RegistrationState, make_event_id
from tollgate.payments.schedule import Run, RunState, Schedule, ScheduleState, find_next
from tollgate.store import audit as audited
from tollgate.store import opening
from tollgate.store.schedules import list_runs
from tollgate.values import MerchantId
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_account
from tollgate.vault.signing import fingerprint_account, matches_summary

_UNDECIDED = frozenset({State.STARTED, *OPEN_STATES})
_OVER = frozenset({ScheduleState.REPLACED, ScheduleState.ENDED})


def check_registration(
    keyring: Keyring, row: audited.AuditedRegistration, payments: auditing.AuditedPayments, unannounced: set[str]
) -> Iterator[auditing.Flaw]:
    registration = row.value
    if registration is None:
        yield Proof.ROW, auditing.UNREADABLE
        return
    text = _check_end(registration, row) or _check_maker(registration, payments)
    text = text or _check_account(registration, row, keyring)
    if text is not None:
        yield Proof.REGISTRATION, text
    if row.id in unannounced:
        yield Proof.EVENT, "it can be paid with, and was never announced"


def _check_end(registration: Registration, row: audited.AuditedRegistration) -> str | None:
    if registration.state in (RegistrationState.PENDING, RegistrationState.ACTIVE):
        return None
    if row.sealed_account is not None or row.sealed_token is not None or registration.fingerprint is not None:
        return "it has ended, and its account is still there"
    holder = registration.card.holder if registration.card else None
    if registration.state in WIPED and (registration.echo or holder):
        return "it has ended, and what was known of its holder is still there"
    return None


def _check_maker(registration: Registration, payments: auditing.AuditedPayments) -> str | None:
    """Compares a registration with the payment that makes it and decides about it."""
    row = payments.get(registration.made_by or "")
    if registration.made_by is None or (row is not None and row.payment is None):
        return None
    if row is None or row.payment is None:
        return f"there is no payment {registration.made_by}, which made it"
    if registration.state is RegistrationState.PENDING and row.payment.state not in _UNDECIDED:
        return f"payment {row.id}, which made it, is decided, and it still waits"
    if registration.state is RegistrationState.ACTIVE and row.payment.state is not State.APPROVED:
        return f"payment {row.id}, which made it, did not succeed, and it can be paid with"
    return None


def _check_account(registration: Registration, row: audited.AuditedRegistration, keyring: Keyring) -> str | None:
    if row.sealed_account is None:
        return None if registration.fingerprint is None else "its account is gone"
    try:
        account = accounts.open_registered(registration, row.sealed_account, keyring)
        if row.sealed_token is not None:
            open_account(row.sealed_token, owner=network_tokens.make_token_owner(registration), keyring=keyring)
    except (EnvelopeError, KeyringError):
        return auditing.UNOPENED
    # A network that renewed a card behind its token tells the last digits of the new one, and never its number.
    is_renewed = registration.network_token is not None
    if not matches_summary(account, registration.card, is_renewed=is_renewed):
        return "what is shown of it is not the account that is sealed in it"
    found = fingerprint_account(account, registration.brand, registration.merchant_id, keyring)
    if not hmac.compare_digest(found or b"", registration.fingerprint or b""):
        return "it is not known again by the account that is sealed in it"
    return None


async def read_unannounced(
    audit: auditing.Audit, merchant_id: MerchantId, rows: Sequence[audited.AuditedRegistration]
) -> set[str]:
    """Returns the ids of active registrations without an event.

    Most have theirs from when they were stored or their payment ended; for others all events are searched.
    """
    since = int(await opening.get_setting(audit.database, auditing.EVENTS_KEPT_SINCE, "0"))
    read = [row.value for row in rows if row.value is not None]
    active = [each for each in read if each.state is RegistrationState.ACTIVE and each.created_at >= since]
    makers = sorted({each.made_by for each in active if each.made_by})
    payments = {row.id: row for row in await audited.PAYMENTS.list_by_ids(audit.database, merchant_id, makers)}
    expected = {each.id: _make_event_id(each, payments) for each in active}
    events = await audited.EVENTS.list_by_ids(audit.database, merchant_id, sorted(expected.values()))
    found = {(event.id, event.subject_id) for event in events if event.topic == RegistrationEvent.CREATED}
    return {
        each.id
        for each in active
        if (expected[each.id], each.id) not in found and not await audited.is_announced(audit.database, each)
    }


def _make_event_id(registration: Registration, payments: auditing.AuditedPayments) -> str:
    row = payments.get(registration.made_by or "")
    if row is None or row.payment is None or row.payment.completed_at is None:
        return make_event_id(registration.created_at, registration.id, 0)
    return make_event_id(row.payment.completed_at, registration.id, 1)


def check_schedule(
    keyring: Keyring, row: audited.AuditedRow[Schedule], registration_ids: set[str]
) -> Iterator[auditing.Flaw]:
    schedule = row.value
    if schedule is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif not signing.has_signature(schedule, keyring):
        yield Proof.SIGNATURE, "its signature is wrong: nothing is paid by it"
    elif schedule.state in _OVER and schedule.mac is not None:
        yield Proof.SCHEDULE, "it is over, and has a signature with which it could go on"
    elif schedule.registration_id not in registration_ids:
        yield Proof.SCHEDULE, f"there is no registration {schedule.registration_id}"
    elif schedule.next_at is not None and not recall_cron(schedule).has_time(schedule.next_at):
        yield Proof.SCHEDULE, "when it is due next is none of the times of its plan"


async def check_schedule_goes_on(audit: auditing.Audit, row: audited.AuditedRow[Schedule]) -> auditing.Flaw | None:
    """Checks that an active schedule without a next time has no time left in its plan."""
    schedule = row.value
    if schedule is None or schedule.state is not ScheduleState.ACTIVE or schedule.next_at is not None:
        return None
    last = await list_runs(audit.database, schedule.merchant_id, schedule.id, 1)
    after = last[0].due_at if last else schedule.starts_at - 1
    if find_next(recall_cron(schedule), after, schedule.ends_at) is None:
        return None
    return Proof.SCHEDULE, "its plan goes on, and it would never be due again"


def check_run(
    _keyring: Keyring,
    row: audited.AuditedRun,
    schedules: Mapping[str, audited.AuditedRow[Schedule]],
    payments: auditing.AuditedPayments,
) -> Iterator[auditing.Flaw]:
    schedule_row = schedules.get(row.schedule_id)
    if row.value is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif schedule_row is None:
        yield Proof.SCHEDULE, f"there is no schedule {row.schedule_id}"
    elif schedule_row.value is not None:
        text = _check_payments(row.value, payments)
        if text is None and not recall_cron(schedule_row.value).has_time(row.value.due_at):
            text = "it was due at none of the times of its plan"
        if text is not None:
            yield Proof.SCHEDULE, text


def _list_payment_ids(run: Run) -> list[str]:
    """Lists the ids of the payments that were tried, and of the one that may come next."""
    return [run.make_payment_id(attempt) for attempt in range(1, run.tries + 2)]


def _check_payments(run: Run, payments: auditing.AuditedPayments) -> str | None:
    """Checks that a run names its last try, and that no other try succeeded."""
    ids = _list_payment_ids(run)
    if run.payment_id != (ids[run.tries - 1] if run.tries else None):
        return f"payment {run.payment_id} is not the one that it tried last"
    rows = [payments[payment_id] for payment_id in ids if payment_id in payments]
    approved = [row.id for row in rows if row.payment is not None and row.payment.state is State.APPROVED]
    if run.payment_id is not None and run.payment_id not in payments:
        return f"there is no payment {run.payment_id}"
    if len(approved) > 1:
        return f"it was paid {len(approved)} times: {', '.join(approved)}"
    is_archived = any(row.payment is None for row in rows)
    if run.state is RunState.MADE and approved != [run.payment_id] and not is_archived:
        return f"it was made, and payment {run.payment_id} did not succeed"
    may_be = [run.payment_id] if run.state is RunState.MADE else ids[-1:] if run.state is RunState.DUE else []
    return f"payment {approved[0]} succeeded, and it does not say so" if approved and approved != may_be else None


TABLES = (
    auditing.Table(
        name="registrations",
        walk=audited.REGISTRATIONS.walk,
        reads=(
            auditing.read_by_ids(audited.PAYMENTS.list_by_ids, lambda row: [row.value and row.value.made_by]),
            read_unannounced,
        ),
        check=check_registration,
        read_again=audited.REGISTRATIONS.list_by_ids,
    ),
    auditing.Table(
        name="schedules",
        walk=audited.SCHEDULES.walk,
        reads=(
            auditing.read_by_ids(audited.REGISTRATIONS.list_ids, lambda row: [row.value and row.value.registration_id]),
        ),
        check=check_schedule,
        check_further=check_schedule_goes_on,
    ),
    auditing.Table(
        name="schedule_runs",
        walk=audited.RUNS.walk,
        reads=(
            auditing.read_by_ids(audited.SCHEDULES.list_by_ids, lambda row: [row.schedule_id]),
            auditing.read_by_ids(
                audited.PAYMENTS.list_by_ids,
                lambda row: [*_list_payment_ids(row.value), row.value.payment_id] if row.value else [],
            ),
        ),
        check=check_run,
        get_row_id=lambda row: f"{row.schedule_id}/{row.due_at}",
    ),
)
