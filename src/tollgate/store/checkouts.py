"""Checkouts and the scripts of their pages. Whether a change is allowed is decided before."""

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from tollgate.catalog.limits import LIMITS
from tollgate.payments.checkout import REMIND_TOPIC, Checkout, CheckoutEnd, CheckoutState, Reminder, Script
from tollgate.store.codec import ONE, Codec, bind, is_as_seen
from tollgate.store.database import Database
from tollgate.store.jobs import Job, ensure_job_writes
from tollgate.store.retention import SealedColumn
from tollgate.store.schema import WHOLE, checkouts, payment_links, scripts
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant

CHECKOUTS = Codec(checkouts, Checkout)
SEALED = SealedColumn(checkouts, checkouts.c.sealed_fields)

_now = sa.bindparam("now", type_=WHOLE)
_is_open = checkouts.c.state == CheckoutState.OPEN
_is_alive = checkouts.c.expires_at > _now
_is_not_done = checkouts.c.state < CheckoutState.DONE
_is_window_over = checkouts.c.window_ends_at <= _now

find_checkout = CHECKOUTS.find
insert_checkout_writes = CHECKOUTS.insert()
_change = CHECKOUTS.update(
    _is_open,
    _is_alive,
    seen=["revision"],
    new=["kind", "return_url", "sealed_fields", "subject_id"],
    revision=checkouts.c.revision + ONE,
)
_cancel = CHECKOUTS.update(_is_open, _is_alive, state=CheckoutState.CANCELLED)
_submit = CHECKOUTS.update(
    _is_open,
    _is_alive,
    checkouts.c.attempts < sa.literal_column(str(LIMITS.checkout_attempts_max)),
    seen=["revision"],
    new=["subject_id", "return_url"],
    state=CheckoutState.LOCKED,
    attempts=checkouts.c.attempts + ONE,
    submitted_at=_now,
)
_lock = CHECKOUTS.update(_is_open, _is_alive, seen=["revision"], new=["subject_id"], state=CheckoutState.LOCKED)
_finish = CHECKOUTS.update(
    _is_not_done,
    checkouts.c.revision == sa.func.coalesce(bind("seen", checkouts.c.revision), checkouts.c.revision),
    new=["subject_id"],
    state=CheckoutState.DONE,
)
_not_done_by_it = CHECKOUTS.update(
    sa.or_(
        _is_not_done,
        checkouts.c.subject_id != bind("seen", checkouts.c.subject_id),
        checkouts.c.state == CheckoutState.CANCELLED,
    ),
    state=checkouts.c.state,
)
_release = CHECKOUTS.update(checkouts.c.state == CheckoutState.LOCKED, seen=["subject_id"], state=CheckoutState.OPEN)
_count_read = CHECKOUTS.update(
    sa.or_(_is_window_over, checkouts.c.window_reads < sa.bindparam("reads_max")),
    window_ends_at=sa.case(
        (_is_window_over, bind("new", checkouts.c.window_ends_at)), else_=checkouts.c.window_ends_at
    ),
    window_reads=sa.case((_is_window_over, ONE), else_=checkouts.c.window_reads + ONE),
)
_note_read = CHECKOUTS.update(read_at=_now)
_spend = CHECKOUTS.update(
    checkouts.c.state == CheckoutState.DONE, seen=["subject_id"], state=CheckoutState.SPENT, read_at=_now
)
# What was decided about one submission does not hold for another that came meanwhile; but a call is one call.
_note_reminder = CHECKOUTS.update(
    sa.or_(
        bind("new", checkouts.c.reminder) == sa.literal_column(f"'{Reminder.SENT}'"),
        is_as_seen(checkouts.c.submitted_at),
    ),
    new=["reminder", "reminded_at"],
)

_is_linked = sa.exists().where(
    payment_links.c.merchant_id == checkouts.c.merchant_id, payment_links.c.checkout_id == checkouts.c.id
)
wipe_checkouts = CHECKOUTS.purge(checkouts.c.expires_at, checkouts.c.sealed_fields.is_not(None), wiped="sealed_fields")
# A payment link tells for as long as it is remembered whether it was paid.
purge_checkouts = CHECKOUTS.purge(checkouts.c.created_at, ~_is_linked)


def change_checkout_writes(seen: Checkout, changed: Checkout, now: Instant) -> list[Write]:
    """The unit is undone where the checkout was changed, submitted or over meanwhile."""
    return _change(seen, changed, now=now)


async def cancel_checkout(db: Database, checkout: Checkout, now: Instant) -> bool:
    """Returns False if somebody is paying the checkout, or it is paid, cancelled or expired."""
    return await db.write(_cancel(checkout, now=now), label="checkout cancelled")


def submit_checkout_writes(seen: Checkout, subject_id: str, return_url: str | None, now: Instant) -> list[Write]:
    """The attempt locks the checkout, and the shop is owed a reminder.

    The unit is undone where another attempt has locked the checkout, or it is over.
    """
    owed = Job(
        id=f"{REMIND_TOPIC}.{seen.id}",
        merchant_id=seen.merchant_id,
        topic=REMIND_TOPIC,
        subject_id=seen.id,
        due_at=seen.created_at + LIMITS.checkout_reminder_after,
    )
    locking = _submit(seen, new_subject_id=subject_id, new_return_url=return_url, now=now)
    return [*locking, *ensure_job_writes(owed)]


def lock_checkout_writes(seen: Checkout, subject_id: str, now: Instant) -> list[Write]:
    """An attempt whose shopper came back locks the checkout just before its money message.

    The unit is undone as a submission's is.
    """
    return _lock(seen, new_subject_id=subject_id, now=now)


def end_attempt_writes(end: CheckoutEnd) -> list[Write]:
    """The unit is undone where a second attempt would complete the checkout, or the checkout was changed meanwhile.

    A checkout that is long forgotten objects to nothing.
    """
    if not end.is_done:
        return _release(end, rows=None)
    finishing = _finish(end, rows=None, new_subject_id=end.subject_id, seen_revision=end.seen_revision)
    if not end.is_sole:
        return finishing
    return [*finishing, *_not_done_by_it(end, rows=0, seen_subject_id=end.subject_id)]


async def count_read(db: Database, checkout: Checkout, now: Instant, reads_max: int, window: Instant) -> bool:
    """Returns False if the checkout was asked for too often. A window opens with the first call."""
    counting = _count_read(checkout, now=now, reads_max=reads_max, new_window_ends_at=now + window)
    return await db.write(counting, label="checkout read counted")


async def note_read(db: Database, checkout: Checkout, now: Instant) -> None:
    await db.write(_note_read(checkout, rows=None, now=now), label="checkout read")


async def spend_checkout(db: Database, checkout: Checkout, now: Instant) -> bool:
    """Returns False if another caller was told before."""
    return await db.write(_spend(checkout, now=now), label="checkout spent")


def note_reminder_writes(checkout: Checkout, word: Reminder, at: Instant) -> list[Write]:
    """The unit is undone where the shopper has submitted again meanwhile and the shop was not called."""
    seen = {"seen_submitted_at": checkout.submitted_at}
    return _note_reminder(checkout, new_reminder=word, new_reminded_at=at, **seen)


# ---- scripts ----

SCRIPTS = Codec(scripts, Script, key=["version"])

_keep_script = Statement(
    insert(scripts)
    .values({name: sa.bindparam(name) for name in (*SCRIPTS.names, "promised_at")})
    .on_conflict_do_update(index_elements=["version"], set_={"promised_at": sa.bindparam("promised_at")})
)
find_script = SCRIPTS.find
purge_scripts = SCRIPTS.purge(scripts.c.promised_at)


async def keep_script(db: Database, script: Script, now: Instant) -> None:
    """A script that is promised again is kept for longer."""
    await db.write([Write(_keep_script, msgspec.structs.asdict(script) | {"promised_at": now})], label="widget script")
