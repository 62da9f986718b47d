"""Payments: started, settled, read again. Whether a settlement is right was decided before it arrives here."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from tollgate.payments import ERRAND_DELAYS, Claim, Errand, Payment, Settlement, State, find_posting, list_lines
from tollgate.store.book import steps_post_line
from tollgate.store.chains import steps_touch
from tollgate.store.checkouts import steps_end_attempt
from tollgate.store.claims import Answer, steps_claim
from tollgate.store.database import Database
from tollgate.store.hot import SETTLE, START
from tollgate.store.jobs import Job, steps_ensure_job, steps_insert_job
from tollgate.store.outbox import PAYMENT_SETTLED, steps_append_event
from tollgate.store.payment_rows import (
    SHOWN,
    encode_card,
    encode_map,
    flatten_payment,
    get_settled_at,
    make_event,
    read_if_sound,
    read_payment,
)
from tollgate.store.registrations import steps_end_payment
from tollgate.store.schema import STARTED, claims, payments
from tollgate.store.sealed_pages import is_after, is_sealed_otherwise, name_page
from tollgate.store.statements import Statement, Step
from tollgate.values import HOUR, Instant, MerchantId, PaymentId, make_timed_id


class SealedAccount(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: PaymentId
    """That of its payment."""
    sealed: bytes


# ---- the two hot writes ----

_NO_POSTING = (None, None)


async def start_payment(db: Database, payment: Payment, sealed_account: bytes | None, claim: Claim | None) -> bool:
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
            payment.kind,
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
            None if card is None else encode_card(card),
            encode_map(payment.echo),
            None if claim is None else claim.key,
            sealed_account,
            payment.lifecycle_id,
            None if claim is None else claim.fingerprint,
            None if claim is None else claim.created_at,
        ),
    )


async def settle_payment(db: Database, settlement: Settlement, answer: Answer | None) -> bool:
    """Result, event, book, errand and the claim's answer in one commit. False: another settled it; nothing was written.

    For what begins a chain; a later transaction also moves balances and is settled by `settle_follow_up`.
    """
    if settlement.registration is not None or settlement.checkout is not None:
        return await db.write(steps_settle(settlement, answer))
    payment, errand, money = settlement.payment, settlement.errand, settlement.payment.money
    settled_at = get_settled_at(payment)
    source, target = find_posting(payment) or _NO_POSTING
    return await db.submit(
        SETTLE,
        (
            payment.merchant_id,
            payment.id,
            int(payment.state),
            payment.result_code,
            encode_map(payment.details),
            settled_at,
            make_timed_id(settled_at, payment.id),
            PAYMENT_SETTLED,
            payment.mac,
            source,
            target,
            payment.channel_id,
            money.currency,
            money.hundredths,
            None if errand is None else f"{errand}.{payment.id}",
            errand,
            None if errand is None else get_errand_due(payment, errand),
            None if answer is None else answer.status,
            None if answer is None else answer.body,
        ),
    )


# ---- the same as steps, for units that do more in one commit ----

# In an update a parameter may not be called like a column.
_of = (payments.c.merchant_id == sa.bindparam("of_merchant_id"), payments.c.id == sa.bindparam("payment_id"))
_settle = Statement(
    sa.update(payments)
    .where(
        *_of,
        # Spelled so that no planner takes the index of attempts in flight for it; the hot write tells why.
        payments.c.state + sa.literal_column("0") == sa.bindparam("expected", type_=payments.c.state.type),
    )
    .values({name: sa.bindparam(f"new_{name}") for name in ("state", "result_code", "details", "settled_at", "mac")})
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
        result_code="",
        details="{}",
        settled_at=sa.null(),
        mac=sa.null(),
        deadline_at=sa.bindparam("new_deadline_at"),
    )
)
_answer = Statement(
    sa.update(claims)
    .where(
        claims.c.payment_id == sa.bindparam("of_payment_id"),
        claims.c.status.is_(None),
        sa.tuple_(claims.c.channel_id, claims.c.key, claims.c.merchant_id).in_(
            sa.select(payments.c.channel_id, payments.c.idempotency_key, payments.c.merchant_id).where(
                payments.c.merchant_id == sa.bindparam("of_merchant_id"), payments.c.id == sa.bindparam("of_payment_id")
            )
        ),
    )
    .values(status=sa.bindparam("new_status"), body=sa.bindparam("new_body"))
)


_insert = Statement(sa.insert(payments).values({column.name: sa.bindparam(column.name) for column in payments.columns}))


def steps_start_payment(payment: Payment, sealed_account: bytes | None, claim: Claim | None) -> list[Step]:
    """As `start_payment`, to be joined with other steps."""
    if payment.state is not State.STARTED or payment.chain_id is not None:
        raise ValueError("only an attempt that begins a chain and has no result yet can be started so")
    sealed = {"sealed_account": sealed_account, "idempotency_key": None if claim is None else claim.key}
    claimed = [] if claim is None else steps_claim(claim, payment)
    return [*claimed, Step(_insert, flatten_payment(payment) | sealed, rows=1)]


def steps_settle(
    settlement: Settlement, answer: Answer | None = None, *, expected: State = State.STARTED
) -> list[Step]:
    """As `settle_payment`, from any expected state and with all that moves, to be joined with other steps."""
    payment, errand = settlement.payment, settlement.errand
    params = {
        "of_merchant_id": payment.merchant_id,
        "payment_id": payment.id,
        "expected": int(expected),
        "new_state": int(payment.state),
        "new_result_code": payment.result_code,
        "new_details": encode_map(payment.details),
        "new_settled_at": payment.settled_at,
        "new_mac": payment.mac,
    }
    steps = [Step(_settle, params, rows=1), *steps_append_event(make_event(payment))]
    for touch in settlement.touches:
        steps += steps_touch(payment.merchant_id, touch)
    for line in list_lines(payment):
        steps += steps_post_line(line)
    if settlement.registration is not None:
        steps += steps_end_payment(settlement.registration)
    if settlement.checkout is not None:
        steps += steps_end_attempt(settlement.checkout)
    if errand is not None:
        steps += steps_insert_job(
            Job(
                id=f"{errand}.{payment.id}",
                merchant_id=payment.merchant_id,
                topic=errand,
                subject_id=payment.id,
                due_at=get_errand_due(payment, errand),
            )
        )
    if answer is not None:
        of = {"of_merchant_id": payment.merchant_id, "of_payment_id": payment.id}
        steps.append(Step(_answer, of | {"new_status": answer.status, "new_body": answer.body}))
    return steps


def steps_reopen(waiting: Payment, deadline_at: Instant) -> list[Step]:
    """Puts what waited back into flight before its money message is sent: one of two who do so at once succeeds."""
    of = {"of_merchant_id": waiting.merchant_id, "payment_id": waiting.id}
    return [Step(_reopen, {**of, "new_deadline_at": deadline_at}, rows=1)]


def get_errand_due(payment: Payment, errand: Errand) -> Instant:
    return get_settled_at(payment) + ERRAND_DELAYS.get(errand, 0)


async def settle_follow_up(db: Database, settlement: Settlement, answer: Answer | None = None) -> bool:
    """Result, balances, book, event, errand and the claim's answer in one commit. False: another settled it."""
    return await db.write(steps_settle(settlement, answer))


# ---- reading ----

_KEY = (payments.c.merchant_id, payments.c.id)
_by_key = (payments.c.merchant_id == sa.bindparam("merchant_id"), payments.c.id == sa.bindparam("id"))
_find = Statement(sa.select(*SHOWN).where(*_by_key), is_quick=True)
_overdue = Statement(
    sa.select(*SHOWN)
    .where(sa.text(f"payments.{STARTED}"), payments.c.deadline_at < sa.bindparam("wall_now"))
    .order_by(payments.c.deadline_at)
    .limit(sa.bindparam("limit"))
)
_look_later = Statement(sa.update(payments).where(*_of, sa.text(STARTED)).values(deadline_at=sa.bindparam("later")))


async def find_payment(db: Database, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": payment_id})
    return None if row is None else read_payment(row)


async def list_overdue(db: Database, wall_now: Instant, limit: int) -> list[Payment]:
    """Attempts that nobody is still working on: started, and past their deadline.

    One that cannot be read comes again in an hour, or else it would stand in the way of all others for ever.
    """
    found = []
    for row in await db.fetch(_overdue, {"wall_now": wall_now, "limit": limit}):
        payment = read_if_sound(row)
        if payment is not None:
            found.append(payment)
        else:
            merchant_id, payment_id = row[: len(_KEY)]
            of = {"of_merchant_id": merchant_id, "payment_id": payment_id}
            await db.write([Step(_look_later, {**of, "later": wall_now + HOUR})])
    return found


async def owe_settling(db: Database, started: Payment, now: Instant, wall_now: Instant) -> None:
    """Has a job settle an overdue payment that could not be settled, and keeps it out of the list for an hour."""
    job = Job(
        id=f"{Errand.SETTLE}.{started.id}",
        merchant_id=started.merchant_id,
        topic=Errand.SETTLE,
        subject_id=started.id,
        due_at=now,
    )
    of = {"of_merchant_id": started.merchant_id, "payment_id": started.id}
    await db.write([*steps_ensure_job(job), Step(_look_later, {**of, "later": wall_now + HOUR})])


# ---- sealed accounts ----

_get_sealed = Statement(sa.select(payments.c.sealed_account).where(*_by_key), is_quick=True)
_sealed_otherwise = Statement(
    sa.select(*_KEY, payments.c.sealed_account)
    .where(
        payments.c.sealed_account.is_not(None),
        is_sealed_otherwise(payments.c.sealed_account),
        is_after(*_KEY),
    )
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
_rewrap = Statement(
    sa.update(payments)
    .where(*_of, payments.c.sealed_account == sa.bindparam("old"))
    .values(sealed_account=sa.bindparam("new"))
)


async def get_sealed_account(db: Database, merchant_id: MerchantId, payment_id: PaymentId) -> bytes | None:
    """None where a payment has no account of its own."""
    row = await db.fetch_one(_get_sealed, {"merchant_id": merchant_id, "id": payment_id})
    if row is None:
        raise LookupError(f"there is no payment {payment_id}")
    sealed: bytes | None = row[0]
    return sealed


async def list_sealed(
    db: Database, after: SealedAccount | None, active_prefix: bytes, limit: int
) -> list[SealedAccount]:
    """Accounts whose first bytes are not those of the active key, in the order of the primary key."""
    rows = await db.fetch(_sealed_otherwise, name_page(after, active_prefix, limit))
    return [SealedAccount(*row) for row in rows]


async def rewrap_sealed(db: Database, account: SealedAccount, new: bytes) -> bool:
    """The same account under another key. False: it was changed meanwhile."""
    of = {"of_merchant_id": account.merchant_id, "payment_id": account.id}
    return await db.write([Step(_rewrap, {**of, "old": account.sealed, "new": new}, rows=1)])
