"""Checkouts and the scripts of their pages. Whether a change is allowed is decided before."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from tollgate.catalog.limits import LIMITS
from tollgate.payments.checkout import (
    REMIND_TOPIC,
    Checkout,
    CheckoutEnd,
    CheckoutKind,
    CheckoutState,
    Reminder,
    Script,
)
from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.jobs import Job, ensure_job_writes
from tollgate.store.retention import is_after, is_sealed_otherwise, make_page_params
from tollgate.store.schema import TEXT, WHOLE, checkouts, payment_links, scripts
from tollgate.store.statements import Statement, Write
from tollgate.values import CheckoutId, Instant, MerchantId

COLUMNS = Checkout.__struct_fields__
_KIND_AT, _STATE_AT = COLUMNS.index("kind"), COLUMNS.index("state")

_of_key = (
    checkouts.c.merchant_id == sa.bindparam("of_merchant_id"),
    checkouts.c.id == sa.bindparam("checkout_id"),
)
_is_open = checkouts.c.state == int(CheckoutState.OPEN)
_is_alive = checkouts.c.expires_at > sa.bindparam("now")
_is_as_seen = checkouts.c.revision == sa.bindparam("seen_revision")
_is_mine = checkouts.c.subject_id == sa.bindparam("of_subject_id")
_is_not_done = checkouts.c.state < int(CheckoutState.DONE)

_insert = Statement(sa.insert(checkouts).values({name: sa.bindparam(name) for name in COLUMNS}))
_find = Statement(
    sa.select(*[checkouts.c[name] for name in COLUMNS]).where(
        checkouts.c.merchant_id == sa.bindparam("merchant_id"), checkouts.c.id == sa.bindparam("id")
    ),
    is_quick=True,
)
_change = Statement(
    sa.update(checkouts)
    .where(*_of_key, _is_open, _is_alive, _is_as_seen)
    .values(
        kind=sa.bindparam("new_kind"),
        return_url=sa.bindparam("new_return_url"),
        sealed_fields=sa.bindparam("new_sealed_fields"),
        subject_id=sa.bindparam("new_subject_id"),
        revision=checkouts.c.revision + sa.literal_column("1"),
    )
)
_cancel = Statement(
    sa.update(checkouts).where(*_of_key, _is_open, _is_alive).values(state=int(CheckoutState.CANCELLED))
)
_submit = Statement(
    sa.update(checkouts)
    .where(
        *_of_key,
        _is_open,
        _is_alive,
        _is_as_seen,
        checkouts.c.attempts < sa.literal_column(str(LIMITS.checkout_attempts_max)),
    )
    .values(
        state=int(CheckoutState.LOCKED),
        subject_id=sa.bindparam("new_subject_id"),
        attempts=checkouts.c.attempts + sa.literal_column("1"),
        submitted_at=sa.bindparam("now"),
        return_url=sa.bindparam("new_return_url"),
    )
)
_idempotency_key = Statement(
    sa.update(checkouts)
    .where(*_of_key, _is_open, _is_alive, _is_as_seen)
    .values(state=int(CheckoutState.LOCKED), subject_id=sa.bindparam("new_subject_id"))
)
_finish = Statement(
    sa.update(checkouts)
    .where(
        *_of_key,
        _is_not_done,
        checkouts.c.revision == sa.func.coalesce(sa.bindparam("seen_revision", type_=WHOLE), checkouts.c.revision),
    )
    .values(state=int(CheckoutState.DONE), subject_id=sa.bindparam("new_subject_id"))
)
_not_done_by_it = Statement(
    sa.update(checkouts)
    .where(
        *_of_key,
        sa.or_(
            _is_not_done,
            checkouts.c.subject_id != sa.bindparam("of_subject_id"),
            checkouts.c.state == int(CheckoutState.CANCELLED),
        ),
    )
    .values(state=checkouts.c.state)
)
_release = Statement(
    sa.update(checkouts)
    .where(*_of_key, checkouts.c.state == int(CheckoutState.LOCKED), _is_mine)
    .values(state=int(CheckoutState.OPEN))
)
_is_window_over = checkouts.c.window_ends_at <= sa.bindparam("now")
_count_read = Statement(
    sa.update(checkouts)
    .where(*_of_key, sa.or_(_is_window_over, checkouts.c.window_reads < sa.bindparam("reads_max")))
    .values(
        window_ends_at=sa.case((_is_window_over, sa.bindparam("new_window_ends_at")), else_=checkouts.c.window_ends_at),
        window_reads=sa.case(
            (_is_window_over, sa.literal_column("1")), else_=checkouts.c.window_reads + sa.literal_column("1")
        ),
    )
)
_note_read = Statement(sa.update(checkouts).where(*_of_key).values(read_at=sa.bindparam("now")))
_spend = Statement(
    sa.update(checkouts)
    .where(*_of_key, checkouts.c.state == int(CheckoutState.DONE), _is_mine)
    .values(state=int(CheckoutState.SPENT), read_at=sa.bindparam("now"))
)
# What was decided about one submission does not hold for another that came meanwhile; but a call is one call.
_note_reminder = Statement(
    sa.update(checkouts)
    .where(
        *_of_key,
        sa.or_(
            sa.bindparam("new_reminder", type_=TEXT) == sa.literal_column(f"'{Reminder.SENT}'"),
            checkouts.c.submitted_at.is_not_distinct_from(sa.bindparam("seen_submitted_at", type_=WHOLE)),
        ),
    )
    .values(reminder=sa.bindparam("new_reminder", type_=TEXT), reminded_at=sa.bindparam("new_reminded_at"))
)


async def find_checkout(db: Database, merchant_id: MerchantId, checkout_id: str) -> Checkout | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": checkout_id})
    return None if row is None else read_checkout(row)


def read_checkout(row: Row) -> Checkout:
    members = dict(zip(COLUMNS, row, strict=True))
    members |= {"kind": CheckoutKind(row[_KIND_AT]), "state": CheckoutState(row[_STATE_AT])}
    return Checkout(**members)


def insert_checkout_writes(checkout: Checkout) -> list[Write]:
    params = msgspec.structs.asdict(checkout) | {"kind": checkout.kind.value, "state": int(checkout.state)}
    return [Write(_insert, params, rows=1)]


def change_checkout_writes(seen: Checkout, changed: Checkout, now: Instant) -> list[Write]:
    """Undone where it was changed, submitted or over meanwhile."""
    params = _name(seen) | {
        "seen_revision": seen.revision,
        "new_kind": changed.kind.value,
        "new_return_url": changed.return_url,
        "new_sealed_fields": changed.sealed_fields,
        "new_subject_id": changed.subject_id,
        "now": now,
    }
    return [Write(_change, params, rows=1)]


async def cancel_checkout(db: Database, checkout: Checkout, now: Instant) -> bool:
    """Returns False if somebody is paying the checkout, or it is paid, cancelled or expired."""
    return await db.write([Write(_cancel, _name(checkout) | {"now": now}, rows=1)], label="checkout cancelled")


def submit_checkout_writes(seen: Checkout, subject_id: str, return_url: str | None, now: Instant) -> list[Write]:
    """The attempt takes the checkout, and the shop is owed a reminder. Undone where another has it, or it is over."""
    params = _name(seen) | {
        "seen_revision": seen.revision,
        "new_subject_id": subject_id,
        "new_return_url": return_url,
        "now": now,
    }
    owed = Job(
        id=f"{REMIND_TOPIC}.{seen.id}",
        merchant_id=seen.merchant_id,
        topic=REMIND_TOPIC,
        subject_id=seen.id,
        due_at=seen.created_at + LIMITS.checkout_reminder_after,
    )
    return [Write(_submit, params, rows=1), *ensure_job_writes(owed)]


def lock_checkout_writes(seen: Checkout, subject_id: str, now: Instant) -> list[Write]:
    """By an attempt whose shopper came back, just before its money message. Undone as above."""
    params = {"seen_revision": seen.revision, "new_subject_id": subject_id, "now": now}
    return [Write(_idempotency_key, _name(seen) | params, rows=1)]


def end_attempt_writes(end: CheckoutEnd) -> list[Write]:
    """Undone where it would be the second that does it, or the checkout was changed since it was looked at.

    A checkout that is long forgotten objects to nothing.
    """
    of = {"of_merchant_id": end.merchant_id, "checkout_id": end.id}
    if not end.is_done:
        return [Write(_release, {**of, "of_subject_id": end.subject_id})]
    finishing = Write(_finish, {**of, "new_subject_id": end.subject_id, "seen_revision": end.seen_revision})
    if not end.is_sole:
        return [finishing]
    return [finishing, Write(_not_done_by_it, {**of, "of_subject_id": end.subject_id}, rows=0)]


async def count_read(db: Database, checkout: Checkout, now: Instant, reads_max: int, window: Instant) -> bool:
    """False: it was asked for too often. A window opens with the first call."""
    params = _name(checkout) | {"now": now, "reads_max": reads_max, "new_window_ends_at": now + window}
    return await db.write([Write(_count_read, params, rows=1)], label="checkout read counted")


async def note_read(db: Database, checkout: Checkout, now: Instant) -> None:
    await db.write([Write(_note_read, _name(checkout) | {"now": now})], label="checkout read")


async def spend_checkout(db: Database, checkout: Checkout, now: Instant) -> bool:
    """False: another was told before."""
    params = _name(checkout) | {"of_subject_id": checkout.subject_id, "now": now}
    return await db.write([Write(_spend, params, rows=1)], label="checkout spent")


def note_reminder_writes(checkout: Checkout, word: Reminder, at: Instant) -> list[Write]:
    """Undone where the shopper has submitted again meanwhile and the shop was not called."""
    noted = {"new_reminder": word.value, "new_reminded_at": at, "seen_submitted_at": checkout.submitted_at}
    return [Write(_note_reminder, _name(checkout) | noted, rows=1)]


def _name(checkout: Checkout) -> dict[str, object]:
    return {"of_merchant_id": checkout.merchant_id, "checkout_id": checkout.id}


_KEY = (checkouts.c.merchant_id, checkouts.c.id)


class SealedCheckout(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: CheckoutId
    sealed: bytes


_over = (
    sa.select(*_KEY)
    .where(checkouts.c.sealed_fields.is_not(None), checkouts.c.expires_at < sa.bindparam("before"))
    .order_by(checkouts.c.expires_at)
    .limit(sa.bindparam("limit"))
)
_wipe = Statement(
    sa.update(checkouts).where(sa.tuple_(*_KEY).in_(_over)).values(sealed_fields=sa.null()).returning(checkouts.c.id)
)
_is_linked = sa.exists().where(
    payment_links.c.merchant_id == checkouts.c.merchant_id, payment_links.c.checkout_id == checkouts.c.id
)
# A payment link tells for as long as it is remembered whether it was paid.
_oldest = (
    sa.select(*_KEY)
    .where(checkouts.c.created_at < sa.bindparam("before"), ~_is_linked)
    .order_by(checkouts.c.created_at)
    .limit(sa.bindparam("limit"))
)
_purge = Statement(sa.delete(checkouts).where(sa.tuple_(*_KEY).in_(_oldest)).returning(checkouts.c.id))
_sealed_otherwise = Statement(
    sa.select(*_KEY, checkouts.c.sealed_fields)
    .where(checkouts.c.sealed_fields.is_not(None), is_sealed_otherwise(checkouts.c.sealed_fields), is_after(*_KEY))
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
_rewrap = Statement(
    sa.update(checkouts)
    .where(
        checkouts.c.merchant_id == sa.bindparam("of_merchant_id"),
        checkouts.c.id == sa.bindparam("checkout_id"),
        checkouts.c.sealed_fields == sa.bindparam("old"),
    )
    .values(sealed_fields=sa.bindparam("new"))
)
_SCRIPT = Script.__struct_fields__
_keep_script = Statement(
    insert(scripts)
    .values({name: sa.bindparam(name) for name in (*_SCRIPT, "promised_at")})
    .on_conflict_do_update(index_elements=["version"], set_={"promised_at": sa.bindparam("promised_at")})
)
_find_script = Statement(
    sa.select(*[scripts.c[name] for name in _SCRIPT]).where(scripts.c.version == sa.bindparam("version"))
)
_purge_scripts = Statement(
    sa.delete(scripts).where(scripts.c.promised_at < sa.bindparam("before")).returning(scripts.c.version)
)


async def wipe_checkouts(db: Database, before: Instant, limit: int) -> int:
    """Of those that were over before; how many lost their fields."""
    return len(await db.fetch(_wipe, {"before": before, "limit": limit}))


async def purge_checkouts(db: Database, before: Instant, limit: int) -> int:
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))


async def list_sealed_checkouts(
    db: Database, after: SealedCheckout | None, active_prefix: bytes, limit: int
) -> list[SealedCheckout]:
    """Those whose first bytes are not those of the active key, in the order of the primary key."""
    rows = await db.fetch(_sealed_otherwise, make_page_params(after, active_prefix, limit))
    return [SealedCheckout(*row) for row in rows]


async def rewrap_checkout(db: Database, found: SealedCheckout, new: bytes) -> bool:
    """False: it was changed meanwhile."""
    of = {"of_merchant_id": found.merchant_id, "checkout_id": found.id}
    return await db.write([Write(_rewrap, {**of, "old": found.sealed, "new": new}, rows=1)], label="key rotation")


async def keep_script(db: Database, script: Script, now: Instant) -> None:
    """Promised again, it is kept for longer."""
    await db.write([Write(_keep_script, msgspec.structs.asdict(script) | {"promised_at": now})], label="widget script")


async def find_script(db: Database, version: str) -> Script | None:
    row = await db.fetch_one(_find_script, {"version": version})
    return None if row is None else Script(*row)


async def purge_scripts(db: Database, before: Instant) -> int:
    return len(await db.fetch(_purge_scripts, {"before": before}))
