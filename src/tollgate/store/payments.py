"""Payments: started, settled, read again. Whether a settlement is right was decided before it arrives here."""

from __future__ import annotations

import sqlalchemy as sa

from tollgate.payments.completion import Completion, find_entry_accounts, list_entries
from tollgate.payments.payment import RECOVERY_DELAYS, IdempotencyKey, Payment, RecoveryTask, State
from tollgate.store import payment_rows
from tollgate.store.chains import balance_change_writes, post_entry_writes
from tollgate.store.checkouts import end_attempt_writes
from tollgate.store.database import Database
from tollgate.store.hot import COMPLETE, START
from tollgate.store.idempotency import Answer, idempotency_writes
from tollgate.store.jobs import PAYMENT_COMPLETED, Job, append_event_writes, ensure_job_writes, insert_job_writes
from tollgate.store.registrations import end_payment_writes
from tollgate.store.schema import STARTED, idempotency_records, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import HOUR, Instant, MerchantId, PaymentId, make_timed_id

# ---- the two hot writes ----

_NO_REPORT_ENTRY = (None, None)


async def start_payment(
    db: Database, payment: Payment, sealed_account: bytes | None, idempotency_key: IdempotencyKey | None
) -> bool:
    """Makes the attempt durable before anything is sent. False: its idempotency key is taken; nothing was written."""
    if payment.state is not State.STARTED:
        raise ValueError("only an attempt that has no result yet can be started")
    money, card = payment.money, payment.card
    return await db.submit(
        START,
        (
            payment.merchant_id,
            payment.id,
            payment.channel_id,
            payment.payment_type,
            money.hundredths,
            money.currency,
            payment.brand,
            payment.method,
            payment.descriptor,
            payment.short_id,
            payment.ndc,
            payment.created_at,
            payment.deadline_at,
            payment.test_mode,
            payment.merchant_transaction_id,
            payment.referenced_id,
            payment.checkout_id,
            payment.registration_id,
            payment.return_url,
            None if card is None else payment_rows.encode_card(card),
            payment_rows.encode_map(payment.echo),
            None if idempotency_key is None else idempotency_key.key,
            sealed_account,
            payment.lifecycle_id,
            None if idempotency_key is None else idempotency_key.fingerprint,
            None if idempotency_key is None else idempotency_key.created_at,
        ),
        label="payment started",
    )


async def complete_payment(
    db: Database, completion: Completion, answer: Answer | None, *, label: str = "completion"
) -> bool:
    """Writes result, event, ledger entry, recovery task and stored answer in one commit; False if another completed it.

    For what begins a chain; a later transaction also moves balances and is settled by `complete_follow_up`.
    """
    if completion.registration is not None or completion.checkout is not None:
        return await db.write(completion_writes(completion, answer), label=label)
    payment, recovery_task, money = completion.payment, completion.recovery_task, completion.payment.money
    completed_at = payment_rows.get_completed_at(payment)
    source, target = find_entry_accounts(payment) or _NO_REPORT_ENTRY
    return await db.submit(
        COMPLETE,
        (
            payment.merchant_id,
            payment.id,
            int(payment.state),
            payment.outcome,
            payment.result_code,
            payment_rows.encode_map(payment.details),
            completed_at,
            make_timed_id(completed_at, payment.id),
            PAYMENT_COMPLETED,
            payment.mac,
            source,
            target,
            payment.channel_id,
            money.currency,
            money.hundredths,
            None if recovery_task is None else f"{recovery_task}.{payment.id}",
            recovery_task,
            None if recovery_task is None else get_recovery_due(payment, recovery_task),
            None if answer is None else answer.status,
            None if answer is None else answer.body,
        ),
        label=label,
    )


# ---- the same as steps, for units that do more in one commit ----

# In an update a parameter may not be called like a column.
_of = (payments.c.merchant_id == sa.bindparam("of_merchant_id"), payments.c.id == sa.bindparam("payment_id"))
_complete = Statement(
    sa.update(payments)
    .where(
        *_of,
        # Spelled so that no planner takes the index of attempts in flight for it; the hot write tells why.
        payments.c.state + sa.literal_column("0") == sa.bindparam("expected", type_=payments.c.state.type),
    )
    .values(
        {
            name: sa.bindparam(f"new_{name}")
            for name in ("state", "outcome", "result_code", "details", "completed_at", "mac")
        }
    )
)
_reopen = Statement(
    sa.update(payments)
    .where(
        *_of,
        payments.c.state + sa.literal_column("0")
        == sa.literal_column(str(int(State.WAITING)), type_=payments.c.state.type),
    )
    .values(
        state=int(State.STARTED),
        outcome=sa.null(),
        result_code="",
        details="{}",
        completed_at=sa.null(),
        mac=sa.null(),
        deadline_at=sa.bindparam("new_deadline_at"),
    )
)
_answer = Statement(
    sa.update(idempotency_records)
    .where(
        idempotency_records.c.payment_id == sa.bindparam("of_payment_id"),
        idempotency_records.c.status.is_(None),
        sa.tuple_(idempotency_records.c.channel_id, idempotency_records.c.key, idempotency_records.c.merchant_id).in_(
            sa.select(payments.c.channel_id, payments.c.idempotency_key, payments.c.merchant_id).where(
                payments.c.merchant_id == sa.bindparam("of_merchant_id"), payments.c.id == sa.bindparam("of_payment_id")
            )
        ),
    )
    .values(status=sa.bindparam("new_status"), body=sa.bindparam("new_body"))
)


_insert = Statement(sa.insert(payments).values({column.name: sa.bindparam(column.name) for column in payments.columns}))


def start_payment_writes(
    payment: Payment, sealed_account: bytes | None, idempotency_key: IdempotencyKey | None
) -> list[Write]:
    """As `start_payment`, to be joined with other steps."""
    if payment.state is not State.STARTED or payment.chain_id is not None:
        raise ValueError("only an attempt that begins a chain and has no result yet can be started so")
    sealed = {
        "sealed_account": sealed_account,
        "idempotency_key": None if idempotency_key is None else idempotency_key.key,
    }
    claimed = [] if idempotency_key is None else idempotency_writes(idempotency_key, payment)
    return [*claimed, Write(_insert, payment_rows.flatten_payment(payment) | sealed, rows=1)]


def completion_writes(
    completion: Completion, answer: Answer | None = None, *, expected: State = State.STARTED
) -> list[Write]:
    """As `complete_payment`, from any expected state and with all that moves, to be joined with other steps."""
    payment, recovery_task = completion.payment, completion.recovery_task
    params = {
        "of_merchant_id": payment.merchant_id,
        "payment_id": payment.id,
        "expected": int(expected),
        "new_state": int(payment.state),
        "new_outcome": payment.outcome,
        "new_result_code": payment.result_code,
        "new_details": payment_rows.encode_map(payment.details),
        "new_completed_at": payment.completed_at,
        "new_mac": payment.mac,
    }
    writes = [Write(_complete, params, rows=1), *append_event_writes(payment_rows.make_event(payment))]
    for balance_change in completion.balance_changes:
        writes += balance_change_writes(payment.merchant_id, balance_change)
    for entry in list_entries(payment):
        writes += post_entry_writes(entry)
    if completion.registration is not None:
        writes += end_payment_writes(completion.registration)
    if completion.checkout is not None:
        writes += end_attempt_writes(completion.checkout)
    if recovery_task is not None:
        writes += insert_job_writes(
            Job(
                id=f"{recovery_task}.{payment.id}",
                merchant_id=payment.merchant_id,
                topic=recovery_task,
                subject_id=payment.id,
                due_at=get_recovery_due(payment, recovery_task),
            )
        )
    if answer is not None:
        of = {"of_merchant_id": payment.merchant_id, "of_payment_id": payment.id}
        writes.append(Write(_answer, of | {"new_status": answer.status, "new_body": answer.body}))
    return writes


def reopen_writes(waiting: Payment, deadline_at: Instant) -> list[Write]:
    """Puts what waited back into flight before its money message is sent: one of two who do so at once succeeds."""
    of = {"of_merchant_id": waiting.merchant_id, "payment_id": waiting.id}
    return [Write(_reopen, {**of, "new_deadline_at": deadline_at}, rows=1)]


def get_recovery_due(payment: Payment, recovery_task: RecoveryTask) -> Instant:
    return payment_rows.get_completed_at(payment) + RECOVERY_DELAYS.get(recovery_task, 0)


async def complete_follow_up(
    db: Database, completion: Completion, answer: Answer | None = None, *, label: str = "follow-up completion"
) -> bool:
    """Result, balances, book, event, recovery task and the claim's answer in one commit. False: another settled it."""
    return await db.write(completion_writes(completion, answer), label=label)


# ---- reading ----

_KEY = (payments.c.merchant_id, payments.c.id)
_by_key = (payments.c.merchant_id == sa.bindparam("merchant_id"), payments.c.id == sa.bindparam("id"))
_find = Statement(sa.select(*payment_rows.SHOWN).where(*_by_key), is_quick=True)
_overdue = Statement(
    sa.select(*payment_rows.SHOWN)
    .where(sa.text(f"payments.{STARTED}"), payments.c.deadline_at < sa.bindparam("wall_now"))
    .order_by(payments.c.deadline_at)
    .limit(sa.bindparam("limit"))
)
_look_later = Statement(sa.update(payments).where(*_of, sa.text(STARTED)).values(deadline_at=sa.bindparam("later")))


async def find_payment(db: Database, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": payment_id})
    return None if row is None else payment_rows.read_payment(row)


async def list_overdue(db: Database, wall_now: Instant, limit: int) -> list[Payment]:
    """Attempts that nobody is still working on: started, and past their deadline.

    One that cannot be read comes again in an hour, or else it would stand in the way of all others for ever.
    """
    found = []
    for row in await db.fetch(_overdue, {"wall_now": wall_now, "limit": limit}):
        payment = payment_rows.read_if_sound(row)
        if payment is not None:
            found.append(payment)
        else:
            merchant_id, payment_id = row[: len(_KEY)]
            of = {"of_merchant_id": merchant_id, "payment_id": payment_id}
            await db.write([Write(_look_later, {**of, "later": wall_now + HOUR})], label="overdue completion postponed")
    return found


async def owe_completion(db: Database, started: Payment, now: Instant, wall_now: Instant) -> None:
    """Has a job settle an overdue payment that could not be settled, and keeps it out of the list for an hour."""
    job = Job(
        id=f"{RecoveryTask.COMPLETE}.{started.id}",
        merchant_id=started.merchant_id,
        topic=RecoveryTask.COMPLETE,
        subject_id=started.id,
        due_at=now,
    )
    of = {"of_merchant_id": started.merchant_id, "payment_id": started.id}
    await db.write(
        [*ensure_job_writes(job), Write(_look_later, {**of, "later": wall_now + HOUR})],
        label="overdue completion queued",
    )


# ---- sealed accounts ----

_get_sealed = Statement(sa.select(payments.c.sealed_account).where(*_by_key), is_quick=True)


async def get_sealed_account(db: Database, merchant_id: MerchantId, payment_id: PaymentId) -> bytes | None:
    """None where a payment has no account of its own."""
    row = await db.fetch_one(_get_sealed, {"merchant_id": merchant_id, "id": payment_id})
    if row is None:
        raise LookupError(f"there is no payment {payment_id}")
    sealed: bytes | None = row[0]
    return sealed
