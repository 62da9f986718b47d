"""The fifth part of an audit: schedules and their runs. Nobody made or moved one by hand, and no run was paid twice.

That its payments are what they say was proven with their chains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tollgate.flows.verify_report import Audit, group_by_merchant
from tollgate.operations.schedules import has_schedule_signature, recall_cron
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.payment import State
from tollgate.payments.schedule import Run, RunState, Schedule, ScheduleState, find_next, is_time_of, name_run_payment
from tollgate.store import audit_schedules
from tollgate.store.audit import AuditedPayment, find_audited_payments
from tollgate.store.audit_stored import find_registration_ids
from tollgate.store.database import Database
from tollgate.store.schedules import list_runs
from tollgate.values import MerchantId
from tollgate.vault.keyring import Keyring

_UNREADABLE = "it cannot be read: a word, a number or a text in it is none of ours"
_OVER = frozenset({ScheduleState.REPLACED, ScheduleState.ENDED})

AuditedPayments = Mapping[str, AuditedPayment]


async def check_schedules(audit: Audit) -> None:
    async for page in audit_schedules.walk_schedules(audit.database):
        for merchant_id, rows in group_by_merchant(page).items():
            audit.report.add(await judge_schedules(audit, merchant_id, rows))
        audit.walk("schedules", len(page))
    async for runs in audit_schedules.walk_runs(audit.database):
        for merchant_id, some in group_by_merchant(runs).items():
            audit.report.add(await judge_runs(audit.database, merchant_id, some))
        audit.walk("schedule_runs", len(runs))


# ---- schedules ----


async def judge_schedules(
    audit: Audit, merchant_id: MerchantId, rows: Sequence[audit_schedules.AuditedSchedule]
) -> list[Finding]:
    named = sorted({row.schedule.registration_id for row in rows if row.schedule})
    known = await find_registration_ids(audit.database, merchant_id, named)
    findings = []
    for row in rows:
        finding = judge_schedule(row, known, audit.keyring) or await judge_rest(audit.database, row)
        findings += [] if finding is None else [finding]
    return findings


def judge_schedule(
    row: audit_schedules.AuditedSchedule, registration_ids: set[str], keyring: Keyring
) -> Finding | None:
    schedule = row.schedule
    if schedule is None:
        return _find(Proof.ROW, row, _UNREADABLE)
    if not has_schedule_signature(schedule, keyring):
        return _find(Proof.SEAL, row, "its seal does not fit what it says: nothing is paid by it")
    if schedule.state in _OVER and schedule.mac is not None:
        text = "it is over, and carries a seal with which it could go on"
    elif schedule.registration_id not in registration_ids:
        text = f"there is no registration {schedule.registration_id}"
    elif schedule.next_at is not None and not is_time_of(recall_cron(schedule), schedule.next_at):
        text = "when it is due next is none of the times of its plan"
    else:
        return None
    return _find(Proof.SCHEDULE, row, text)


async def judge_rest(database: Database, row: audit_schedules.AuditedSchedule) -> Finding | None:
    """One that is active and never due again has had all of its times, and ends by itself when the last is paid."""
    schedule = row.schedule
    if schedule is None or schedule.state is not ScheduleState.ACTIVE or schedule.next_at is not None:
        return None
    last = await list_runs(database, schedule.merchant_id, schedule.id, 1)
    after = last[0].due_at if last else schedule.starts_at - 1
    if find_next(recall_cron(schedule), after, schedule.ends_at) is None:
        return None
    return _find(Proof.SCHEDULE, row, "its plan goes on, and it would never be due again")


# ---- runs ----


async def judge_runs(
    database: Database, merchant_id: MerchantId, rows: Sequence[audit_schedules.AuditedRun]
) -> list[Finding]:
    """No second look is needed: payments are read after the run that tells of them, and only its next one may come."""
    schedules = await audit_schedules.find_audited_schedules(
        database, merchant_id, sorted({row.schedule_id for row in rows})
    )
    names = {name for row in rows if row.run for name in list_names(row.run)}
    told = {row.run.payment_id for row in rows if row.run and row.run.payment_id}
    payment_rows = await find_audited_payments(database, merchant_id, sorted(names | told))
    findings = [judge_run(row, schedules.get(row.schedule_id), payment_rows) for row in rows]
    return [finding for finding in findings if finding is not None]


def list_names(run: Run) -> list[str]:
    """Of the payments that were tried, and of the one that might come next."""
    return [name_run_payment(run.schedule_id, run.due_at, attempt) for attempt in range(1, run.tries + 2)]


def judge_run(
    row: audit_schedules.AuditedRun, kept: audit_schedules.AuditedSchedule | None, payment_rows: AuditedPayments
) -> Finding | None:
    run = row.run
    if run is None:
        return _find_run(Proof.ROW, row, _UNREADABLE)
    if kept is None:
        return _find_run(Proof.SCHEDULE, row, f"there is no schedule {row.schedule_id}")
    if kept.schedule is None:
        return None
    text = doubt_payments(run, payment_rows) or doubt_time(run, kept.schedule)
    return None if text is None else _find_run(Proof.SCHEDULE, row, text)


def doubt_payments(run: Run, payment_rows: AuditedPayments) -> str | None:
    """A run names the last of its own tries, and at most that one succeeded."""
    names = list_names(run)
    if run.payment_id != (names[run.tries - 1] if run.tries else None):
        return f"payment {run.payment_id} is not the one that it tried last"
    approved = [name for name in names if _is_approved(payment_rows.get(name))]
    if run.payment_id is not None and run.payment_id not in payment_rows:
        return f"there is no payment {run.payment_id}"
    if len(approved) > 1:
        return f"it was paid {len(approved)} times: {', '.join(approved)}"
    if run.state is RunState.MADE and approved != [run.payment_id]:
        return f"it was made, and payment {run.payment_id} did not succeed"
    may_be = [run.payment_id] if run.state is RunState.MADE else names[-1:] if run.state is RunState.DUE else []
    return f"payment {approved[0]} succeeded, and it does not say so" if approved and approved != may_be else None


def doubt_time(run: Run, schedule: Schedule) -> str | None:
    return None if is_time_of(recall_cron(schedule), run.due_at) else "it was due at none of the times of its plan"


def _is_approved(payment_row: AuditedPayment | None) -> bool:
    return payment_row is not None and payment_row.payment is not None and payment_row.payment.state is State.APPROVED


def _find(proof: Proof, row: audit_schedules.AuditedSchedule, text: str) -> Finding:
    return Finding(proof=proof, table="schedules", merchant_id=row.merchant_id, row_id=row.id, text=text)


def _find_run(proof: Proof, row: audit_schedules.AuditedRun, text: str) -> Finding:
    row_id = f"{row.schedule_id}/{row.due_at}"
    return Finding(proof=proof, table="schedule_runs", merchant_id=row.merchant_id, row_id=row_id, text=text)
