"""Payments and their chains: started, completed, read again, with the balances and ledger entries that they move.

What may follow what, and whether a completion is right, is decided before.
"""

import logging
from collections.abc import Awaitable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.completion import Completion, choose_event, find_entry_accounts, list_entries
from tollgate.payments.ledger import BalanceChange, Entry
from tollgate.payments.payment import RECOVERY_DELAYS, IdempotencyKey, Payment, RecoveryTask, State
from tollgate.payments.reviews import closes_review
from tollgate.store import hot, hot_follow_ups
from tollgate.store.balances import balance_change_writes, encode_bounds, encode_sums, sort_changes
from tollgate.store.checkouts import end_attempt_writes
from tollgate.store.codec import ONE, UNREADABLE, ZERO, Codec, bind, is_among_ids, spread_ids
from tollgate.store.database import Damaged, Database, Unavailable, Unconfirmed, Unreadable
from tollgate.store.events import Event
from tollgate.store.idempotency import Answer
from tollgate.store.jobs import Job, ensure_job_writes
from tollgate.store.payment_months import are_payments, is_in_month_of, is_payment
from tollgate.store.registrations import end_payment_writes
from tollgate.store.reviews import close_review_writes, insert_review_writes
from tollgate.store.schema import STARTED, ledger, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import HOUR, Instant, MerchantId, PaymentId, make_timed_id

_log = logging.getLogger("tollgate.store")

PAYMENTS = Codec(payments, Payment)
PAYMENTS.is_it.append(is_in_month_of(payments, bind("of", payments.c.merchant_id), bind("of", payments.c.id)))
ENTRIES = Codec(ledger, Entry)

# ---- starting ----

_encode_started = PAYMENTS.make_row_encoder(hot.START_MEMBERS)
_encode_follow_up = PAYMENTS.make_row_encoder(hot_follow_ups.START_MEMBERS)
_get_position = Statement(sa.select(payments.c.position).where(*PAYMENTS.is_it), is_quick=True)
_set_beside = PAYMENTS.update(new=["split", "risk"])
_set_risk = PAYMENTS.update(new=["risk"])


def _make_start_row(payment: Payment, sealed_account: bytes | None, key: IdempotencyKey | None) -> hot.Row:
    if payment.state is not State.STARTED or payment.chain_id is not None:
        raise ValueError("only an attempt that begins a chain and has no result yet can be started so")
    return (*_encode_started(payment), sealed_account, *_encode_key(key))


def _encode_key(key: IdempotencyKey | None) -> hot.Row:
    return (None, None, None) if key is None else (key.key, key.fingerprint, key.created_at)


def _has_beside(payment: Payment) -> bool:
    """Tells whether a payment has values that few have, which are written beside its row in the same commit."""
    return bool(payment.split) or payment.risk is not None


def start_payment(
    db: Database, payment: Payment, sealed_account: bytes | None, idempotency_key: IdempotencyKey | None
) -> Awaitable[bool]:
    """Makes the attempt durable before anything is sent; False if its idempotency key is taken."""
    if _has_beside(payment):
        return db.write(start_payment_writes(payment, sealed_account, idempotency_key), label="payment started")
    row = _make_start_row(payment, sealed_account, idempotency_key)
    return db.submit(hot.START, row, label="payment started")


def start_payment_writes(
    payment: Payment, sealed_account: bytes | None, idempotency_key: IdempotencyKey | None
) -> list[Write]:
    """Does what `start_payment` does, joined with other writes."""
    writes = hot.START.make_writes(_make_start_row(payment, sealed_account, idempotency_key))
    return [*writes, *_set_beside(payment, payment)] if _has_beside(payment) else writes


def start_follow_up(
    db: Database, payment: Payment, balance_changes: Sequence[BalanceChange], idempotency_key: IdempotencyKey | None
) -> Awaitable[int]:
    """Makes the reservation, the attempt and its idempotency key durable before anything is sent.

    Returns its number within the chain; 0 if it does not fit any more or its key is taken. One with a split takes a
    round trip for each of its writes, and any other one for all.
    """
    row, others = _make_follow_up_row(payment, balance_changes, idempotency_key)
    if others or _has_beside(payment):
        return _start_beside(db, payment, start_follow_up_writes(payment, balance_changes, idempotency_key))
    return db.submit(hot_follow_ups.START_FOLLOW_UP, row, label="follow-up started")


async def _start_beside(db: Database, payment: Payment, writes: Sequence[Write]) -> int:
    if not await db.write(writes, label="follow-up started"):
        return 0
    try:
        [position] = await db.fetch_one(_get_position, PAYMENTS.of(payment)) or [0]
    except (Unavailable, Damaged) as fault:
        # It was started, so nobody may be invited to send it again.
        raise Unconfirmed(f"a follow-up was started, and its number could not be read: {fault}") from None
    return int(position)


def start_follow_up_writes(
    payment: Payment, balance_changes: Sequence[BalanceChange], idempotency_key: IdempotencyKey | None = None
) -> list[Write]:
    """Does what `start_follow_up` does, joined with other writes, and for a dispute that moves a third payment too."""
    row, others = _make_follow_up_row(payment, balance_changes, idempotency_key)
    moved = [write for change in others for write in balance_change_writes(payment.merchant_id, change)]
    writes = [*moved, *hot_follow_ups.START_FOLLOW_UP.make_writes(row)]
    return [*writes, *_set_beside(payment, payment)] if _has_beside(payment) else writes


def _make_follow_up_row(
    payment: Payment, balance_changes: Sequence[BalanceChange], idempotency_key: IdempotencyKey | None
) -> tuple[hot.Row, list[BalanceChange]]:
    if payment.state is not State.STARTED or payment.chain_id is None:
        raise ValueError("a later transaction is started, and within a chain")
    changes = sort_changes(payment, balance_changes)
    moved = (*encode_sums(changes), *encode_bounds(changes))
    return (*_encode_follow_up(payment), *moved, *_encode_key(idempotency_key)), changes.others


_move_account = PAYMENTS.update(payments.c.state + ZERO == ZERO, new=["account_id", "connector", "routing"])


def move_account(db: Database, started: Payment) -> Awaitable[bool]:
    """Writes another acquirer account with a started payment, before anything is sent there.

    Returns False if the payment was completed meanwhile.
    """
    return db.write(_move_account(started, started), label="account changed")


_keep_account = PAYMENTS.update(seen=["account_id"], new=["account_id"])


def keep_account_writes(seen: Payment) -> list[Write]:
    """Changes nothing, and fails where a payment was moved to another acquirer account since it was read."""
    return _keep_account(seen, seen)


# ---- completing ----

_is_waiting = payments.c.state + ZERO == sa.literal_column(str(int(State.WAITING)), type_=payments.c.state.type)
_untried: dict[str, Any] = {name: sa.literal_column(text) for name, text in hot.AT_START.items()}
_reopen = PAYMENTS.update(_is_waiting, new=["deadline_at"], mac=sa.null(), **_untried)
_post = ENTRIES.insert()
_encode_completed = PAYMENTS.make_row_encoder(hot.COMPLETION_MEMBERS)
_NOT_WRITTEN = (None, None)


def _make_completion_row(completion: Completion, answer: Answer | None, expected: State) -> hot.Row:
    payment, task = completion.payment, completion.recovery_task
    completed_at = _get_completed_at(payment)
    job: hot.Row = (None, None, None)
    if task is not None:
        job = (f"{task}.{payment.id}", task, completed_at + RECOVERY_DELAYS.get(task, 0))
    accounts = find_entry_accounts(payment) or _NOT_WRITTEN
    kept = _NOT_WRITTEN if answer is None else (answer.status, answer.body)
    announced: hot.Row = (None, None, None)
    if completion.payload is not None:
        announced = (payment.payment_type, completion.payload, completion.notification_url)
    event = make_timed_id(completed_at, payment.id), choose_event(payment)
    return (*_encode_completed(payment), expected, *event, *accounts, *announced, *job, *kept)


def _make_follow_up_completion(completion: Completion, answer: Answer | None) -> hot.Row | None:
    """Returns the row of a completed follow-up; None where it moves more than has a place in it."""
    payment = completion.payment
    changes = sort_changes(payment, completion.balance_changes)
    if changes.others:
        return None
    other = list_entries(payment)[1:] if payment.releases else ()
    return (
        payment.chain_id,
        *encode_sums(changes),
        payment.referenced_id if closes_review(payment) else None,
        *((other[0].id, other[0].source, other[0].target, other[0].amount) if other else _NOT_WRITTEN * 2),
        *_make_completion_row(completion, answer, State.STARTED),
    )


def complete_payment(
    db: Database,
    completion: Completion,
    answer: Answer | None = None,
    *,
    label: str = "completion",
    guards: Sequence[Write] = (),
) -> Awaitable[bool]:
    """Writes the result, all that moves with it and the stored answer in one commit; False if another completed it.

    guards: writes that must succeed in this commit. With them, a split, a finding of risk, or a change to a
    registration or checkout, it takes a round trip for each write, and otherwise one for all.
    """
    is_alone = (
        not guards
        and completion.registration is None
        and completion.checkout is None
        and completion.review is None
        and not _has_beside(completion.payment)
    )
    if is_alone and completion.payment.chain_id is None:
        return db.submit(hot.COMPLETE, _make_completion_row(completion, answer, State.STARTED), label=label)
    if is_alone and (row := _make_follow_up_completion(completion, answer)):
        return db.submit(hot_follow_ups.COMPLETE_FOLLOW_UP, row, label=label)
    return db.write([*guards, *completion_writes(completion, answer)], label=label)


def completion_writes(
    completion: Completion, answer: Answer | None = None, *, expected: State = State.STARTED
) -> list[Write]:
    """Does what `complete_payment` does from any expected state, joined with other writes."""
    payment = completion.payment
    result, *others = hot.COMPLETE.make_writes(_make_completion_row(completion, answer, expected))
    moved = [
        write for change in completion.balance_changes for write in balance_change_writes(payment.merchant_id, change)
    ]
    # The first entry is part of every completion; others give back what is left of a hold, or belong to sellers.
    moved += [write for entry in list_entries(payment)[1:] for write in _post(entry)]
    if payment.risk is not None:
        # The acquirer's answer may have changed it.
        moved += _set_risk(payment, payment)
    if completion.review is not None:
        moved += insert_review_writes(completion.review)
    moved += close_review_writes(payment)
    if completion.registration is not None:
        moved += end_payment_writes(completion.registration)
    if completion.checkout is not None:
        moved += end_attempt_writes(completion.checkout)
    # The answer of the key comes last: a repeated request locks the balance first and then its key, and two units that
    # lock in different orders would wait for each other.
    return [result, *moved, *others]


_decide = PAYMENTS.update(seen=["mac", "events"], new=["result_code", "risk", "mac", "events"])


def decide_writes(seen: Payment, decided: Payment) -> list[Write]:
    """Writes the result of a review; the unit is undone where the payment has changed since it was read."""
    return _decide(seen, decided)


def reopen_writes(waiting: Payment, deadline_at: Instant) -> list[Write]:
    """Puts what waited back into flight before its money message is sent: one of two who do so at once succeeds."""
    return _reopen(waiting, new_deadline_at=deadline_at)


def make_event(payment: Payment) -> Event:
    """Returns the event by which the last result of a payment is announced."""
    told_at = payment.told_at or _get_completed_at(payment)
    return Event(
        id=make_timed_id(told_at, payment.id),
        merchant_id=payment.merchant_id,
        subject_id=payment.id,
        topic=choose_event(payment),
        created_at=told_at,
        result_code=payment.result_code,
        sequence=payment.events,
    )


def recall_before_review(payment: Payment) -> Payment:
    """Returns a payment as it was completed, before its review was decided."""
    if payment.risk is None or payment.risk.decided_at is None:
        return payment
    before = msgspec.structs.replace(payment.risk, reviewed_code="", decided_at=None)
    return msgspec.structs.replace(
        payment, result_code=payment.risk.reviewed_code, risk=before, events=payment.events - 1
    )


def _get_completed_at(payment: Payment) -> Instant:
    if payment.completed_at is None:
        raise ValueError("a completion says when it happened")
    return payment.completed_at


# ---- reading ----

_of_merchant: sa.BindParameter[str] = sa.bindparam("merchant_id")
_first_id: sa.BindParameter[str] = sa.bindparam("first_id")
_follows_it = are_payments(payments, _of_merchant, "chain_id", lambda column: column == _first_id)


def select_chain(first: sa.ColumnElement[bool], others: sa.ColumnElement[bool]) -> sa.CompoundSelect[Any]:
    """Selects each part by its own index: with OR, SQLite reads all payments of the merchant."""
    return sa.union_all(PAYMENTS.select(first), PAYMENTS.select(others)).order_by("position", "id")


_chain = Statement(
    select_chain(is_payment(payments, _of_merchant, _first_id), _follows_it).limit(sa.bindparam("limit"))
)
_by_idempotency_key = Statement(
    PAYMENTS.select(_follows_it, payments.c.idempotency_key == sa.bindparam("idempotency_key")).limit(ONE)
)
_overdue = Statement(
    PAYMENTS.select(sa.text(f"payments.{STARTED}"), payments.c.deadline_at < sa.bindparam("wall_now"))
    .order_by(payments.c.deadline_at)
    .limit(sa.bindparam("limit"))
)
_get_sealed = Statement(sa.select(payments.c.sealed_account).where(*PAYMENTS.is_it), is_quick=True)
_sealed_by_ids = Statement(
    sa.select(payments.c.id, payments.c.sealed_account).where(are_payments(payments, _of_merchant, "id", is_among_ids))
)
_look_later = PAYMENTS.update(sa.text(STARTED), new=["deadline_at"])


def read_payment(row: hot.Row) -> Payment:
    """Returns the payment of a row; one that the gateway cannot have written raises `Unreadable` with its id."""
    try:
        return PAYMENTS.decode(row)
    except UNREADABLE:
        raise Unreadable(f"payment {row[PAYMENTS.at['id']]} cannot be read: run `tollgate verify`") from None


def read_if_sound(row: hot.Row) -> Payment | None:
    """Returns the payment of a row for a list; one that cannot be read is logged, and None."""
    try:
        return PAYMENTS.decode(row)
    except UNREADABLE:
        _log.error("payment cannot be read: run `tollgate verify`", extra={"payment": row[PAYMENTS.at["id"]]})
        return None


async def find_payment(db: Database, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    row = await db.fetch_one(PAYMENTS.by_key, PAYMENTS.make_key(merchant_id, payment_id))
    return None if row is None else read_payment(row)


async def list_chain(db: Database, merchant_id: MerchantId, first_id: str, limit: int) -> list[Payment]:
    """Lists a first payment and all that followed it, in the order they came."""
    rows = await db.fetch(_chain, {"merchant_id": merchant_id, "first_id": first_id, "limit": limit})
    return [read_payment(row) for row in rows]


async def find_follow_up(db: Database, merchant_id: MerchantId, first_id: str, idempotency_key: str) -> Payment | None:
    """Finds what a request with this key made in a chain. It is found for as long as the chain is kept."""
    params = {"merchant_id": merchant_id, "first_id": first_id, "idempotency_key": idempotency_key}
    row = await db.fetch_one(_by_idempotency_key, params)
    return None if row is None else read_payment(row)


async def list_overdue(db: Database, wall_now: Instant, limit: int) -> list[Payment]:
    """Lists attempts that nobody is still working on: started, and past their deadline.

    One that cannot be read comes again in an hour, or else it would stand in the way of all others for ever.
    """
    found = []
    for row in await db.fetch(_overdue, {"wall_now": wall_now, "limit": limit}):
        payment = read_if_sound(row)
        if payment is not None:
            found.append(payment)
        else:
            key = [row[PAYMENTS.at[name]] for name in PAYMENTS.key]
            later = _look_later.by_key(*key, rows=None, new_deadline_at=wall_now + HOUR)
            await db.write(later, label="overdue completion postponed")
    return found


async def owe_completion(db: Database, started: Payment, now: Instant, wall_now: Instant) -> None:
    """Has a job complete an overdue payment that could not be completed, and keeps it out of the list for an hour."""
    job = Job(
        id=f"{RecoveryTask.COMPLETE}.{started.id}",
        merchant_id=started.merchant_id,
        topic=RecoveryTask.COMPLETE,
        subject_id=started.id,
        due_at=now,
    )
    later = _look_later(started, rows=None, new_deadline_at=wall_now + HOUR)
    await db.write([*ensure_job_writes(job), *later], label="overdue completion queued")


async def find_sealed_account(db: Database, merchant_id: MerchantId, payment_id: PaymentId) -> bytes | None:
    """Returns the sealed account of a payment, or None where it has none of its own."""
    row = await db.fetch_one(_get_sealed, PAYMENTS.make_key(merchant_id, payment_id))
    if row is None:
        raise LookupError(f"there is no payment {payment_id}")
    sealed: bytes | None = row[0]
    return sealed


async def list_sealed_accounts(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, bytes]:
    """Returns the sealed accounts of these payments; one whose account was wiped is left out."""
    rows = [
        row
        for _, some in spread_ids(ids)
        for row in await db.fetch(_sealed_by_ids, {"merchant_id": merchant_id, **some})
    ]
    return {payment_id: sealed for payment_id, sealed in rows if sealed is not None}
