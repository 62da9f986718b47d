"""Deliveries of events to endpoints: queued, leased by a worker, ended, recorded, queued again.

When a delivery is due and what is sent is decided elsewhere.
"""

from collections.abc import Awaitable, Sequence
from typing import Any

import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import Insert, insert

from tollgate.payments.webhooks import Delivery, DeliveryAttempt, DeliveryState, Webhook, WebhookState
from tollgate.store import hot_attempts
from tollgate.store.codec import LIMIT, ONE, ZERO, Codec, bind, is_among_ids, spread_ids
from tollgate.store.database import Database
from tollgate.store.schema import (
    ENDED_DELIVERY,
    PENDING_ANNOUNCEMENT,
    PENDING_DELIVERY,
    TEXT,
    WHOLE,
    announcements,
    deliveries,
    delivery_attempts,
    delivery_workers,
    merchants,
    outbox,
    webhooks,
)
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId

DELIVERIES = Codec(deliveries, Delivery, key=["merchant_id", "webhook_id", "subject_id", "event_id"])
ATTEMPTS = Codec(delivery_attempts, DeliveryAttempt)

find_delivery = DELIVERIES.find
_is_pending = sa.text(f"deliveries.{PENDING_DELIVERY}")

# ---- queueing ----

insert_delivery_writes = DELIVERIES.insert(ignores_taken=True)
_queued: dict[str, sa.ColumnElement[Any]] = {
    "merchant_id": outbox.c.merchant_id,
    "webhook_id": sa.cast(sa.bindparam("webhook_id"), TEXT),
    "subject_id": outbox.c.subject_id,
    "event_id": outbox.c.id,
    "sequence": outbox.c.sequence,
    "queued_at": outbox.c.created_at,
    "due_at": sa.cast(sa.bindparam("due_at"), WHOLE),
    "state": ZERO,
    "tries": ZERO,
    "is_replay": ZERO,
}


def _make_queue(chosen: dict[str, sa.ColumnElement[Any]]) -> Insert:
    events = (
        sa.select(*chosen.values())
        .where(
            outbox.c.merchant_id == bind("of", outbox.c.merchant_id),
            is_among_ids(outbox.c.id),
            # Another process may just have removed the endpoint.
            sa.exists().where(
                webhooks.c.merchant_id == bind("of", outbox.c.merchant_id),
                webhooks.c.id == sa.bindparam("webhook_id"),
            ),
        )
        # Two processes that queue the same events wait for each other instead of deadlocking.
        .order_by(outbox.c.id)
    )
    queue: Insert = insert(deliveries).from_select([*chosen], events)
    return queue


_queue = Statement(_make_queue(_queued).on_conflict_do_nothing())
_replayed = {**_queued, "queued_at": _queued["due_at"], "is_replay": ONE}
_replay = Statement(
    _make_queue(_replayed).on_conflict_do_update(
        index_elements=[deliveries.c[name] for name in DELIVERIES.key],
        set_={
            "queued_at": sa.bindparam("due_at"),
            "due_at": sa.bindparam("due_at"),
            "state": ZERO,
            "tries": ZERO,
            "is_replay": ONE,
            "lease_owner": sa.null(),
        },
    )
)


def queue_writes(webhook: Webhook, event_ids: Sequence[str], now: Instant) -> list[Write]:
    """Queues events for an endpoint; what is queued already stays as it is."""
    return _make_queue_writes(_queue, webhook, event_ids, now)


def replay_writes(webhook: Webhook, event_ids: Sequence[str], now: Instant) -> list[Write]:
    """Queues events for an endpoint again, or for the first time, as replays."""
    return _make_queue_writes(_replay, webhook, event_ids, now)


def _make_queue_writes(statement: Statement, webhook: Webhook, event_ids: Sequence[str], now: Instant) -> list[Write]:
    of = {"of_merchant_id": webhook.merchant_id, "webhook_id": webhook.id, "due_at": now}
    return [Write(statement, {**of, **ids}) for _, ids in spread_ids(event_ids)]


# ---- leasing ----

_living = sa.select(delivery_workers.c.id).where(delivery_workers.c.alive_until > sa.bindparam("wall_now"))
_is_free = sa.or_(deliveries.c.lease_owner.is_(None), deliveries.c.lease_owner.not_in(_living))
_is_due = sa.and_(_is_pending, deliveries.c.due_at <= sa.bindparam("now"), _is_free)
_earlier = deliveries.alias("earlier")
_is_next = sa.and_(
    ~sa.exists().where(
        *[_earlier.c[name] == deliveries.c[name] for name in ("merchant_id", "webhook_id", "subject_id")],
        _earlier.c.sequence < deliveries.c.sequence,
        sa.text(f"earlier.{PENDING_DELIVERY}"),
    ),
    # An event that was not passed on yet may be an earlier one. With the merchant among the terms, SQLite would walk
    # all announcements of that merchant instead of the few that are pending.
    ~sa.exists().where(
        announcements.c.subject_id == deliveries.c.subject_id,
        announcements.c.id != deliveries.c.event_id,
        sa.text(f"announcements.{PENDING_ANNOUNCEMENT}"),
    ),
)
_key = [deliveries.c[name] for name in DELIVERIES.key]


def _make_lease(*where: Any) -> Statement:
    due = (
        sa.select(*_key)
        .where(deliveries.c.webhook_id == sa.bindparam("webhook_id"), _is_due, *where)
        .order_by(deliveries.c.due_at, deliveries.c.event_id)
        .limit(LIMIT)
        # SQLite leaves this out: there the single writer is the lock.
        .with_for_update(skip_locked=True, of=deliveries)
    )
    return Statement(
        sa.update(deliveries)
        .where(sa.tuple_(*_key).in_(due))
        .values(lease_owner=sa.bindparam("owner"))
        .returning(*DELIVERIES.columns)
    )


_lease, _lease_in_order = _make_lease(), _make_lease(_is_next)
_busy = Statement(
    sa.select(webhooks.c.merchant_id, webhooks.c.id).where(
        webhooks.c.state == sa.literal_column(str(int(WebhookState.ACTIVE))),
        webhooks.c.is_listener == ZERO,
        sa.exists().where(deliveries.c.webhook_id == webhooks.c.id, _is_due),
    )
)
_notifying = Statement(
    sa.select(merchants.c.id).where(sa.exists().where(deliveries.c.webhook_id == merchants.c.id, _is_due))
)


async def list_busy(db: Database, now: Instant, wall_now: Instant) -> list[tuple[MerchantId, str]]:
    """Lists the merchant and the id of each active endpoint for which a delivery is due.

    In place of an endpoint, the merchant itself stands for its notifications.
    """
    params = {"now": now, "wall_now": wall_now}
    found = [(MerchantId(row[0]), str(row[1])) for row in await db.fetch(_busy, params)]
    return [*found, *[(MerchantId(row[0]), str(row[0])) for row in await db.fetch(_notifying, params)]]


async def lease_deliveries(
    db: Database, webhook_id: str, *, now: Instant, wall_now: Instant, owner: str, limit: int, is_ordered: bool
) -> list[Delivery]:
    """Leases due deliveries that no living worker holds, and returns them, the one due first being first.

    In order means that a delivery waits for the earlier ones of the same object.
    """
    params = {"webhook_id": webhook_id, "now": now, "wall_now": wall_now, "owner": owner, "limit": limit}
    leased = await DELIVERIES.fetch(db, _lease_in_order if is_ordered else _lease, params)
    return sorted(leased, key=lambda delivery: (delivery.due_at, delivery.event_id))


_beat = Statement(
    insert(delivery_workers)
    .values(id=sa.bindparam("owner"), alive_until=sa.bindparam("alive_until"))
    .on_conflict_do_update(index_elements=[delivery_workers.c.id], set_={"alive_until": sa.bindparam("alive_until")})
)
_bury = Statement(sa.delete(delivery_workers).where(delivery_workers.c.alive_until <= sa.bindparam("wall_now")))
_leave = Statement(sa.delete(delivery_workers).where(delivery_workers.c.id == sa.bindparam("owner")))


async def keep_alive(db: Database, owner: str, wall_now: Instant, alive_until: Instant) -> None:
    """Tells the other workers that this one still works on what it has leased."""
    params = {"owner": owner, "alive_until": alive_until}
    await db.write([Write(_beat, params), Write(_bury, {"wall_now": wall_now})], label="delivery worker alive")


async def stop_worker(db: Database, owner: str) -> None:
    """Gives back everything that a worker has leased and not ended."""
    await db.write([Write(_leave, {"owner": owner})], label="delivery worker stopped")


# ---- ending ----

_end = DELIVERIES.update(
    _is_pending,
    seen=["lease_owner"],
    new=["state", "due_at", "tries", "status"],
    lease_owner=sa.null(),
)
record_attempt_writes = ATTEMPTS.insert()
purge_attempts = ATTEMPTS.purge_timed()
purge_deliveries = DELIVERIES.purge(deliveries.c.queued_at, sa.text(f"deliveries.{ENDED_DELIVERY}"))
purge_undelivered = DELIVERIES.purge(deliveries.c.queued_at, _is_pending)
_delete_pending = Statement(
    sa.delete(deliveries).where(
        deliveries.c.merchant_id == bind("of", deliveries.c.merchant_id),
        deliveries.c.webhook_id == bind("of", deliveries.c.webhook_id),
        _is_pending,
    )
)
_receivers = sa.union_all(
    sa.select(webhooks.c.id).where(webhooks.c.merchant_id == bind("of", deliveries.c.merchant_id)),
    # The merchant itself stands for its notifications.
    sa.select(bind("of", deliveries.c.merchant_id)),
)
_backlogs = Statement(
    sa.select(deliveries.c.webhook_id, sa.func.count(), sa.func.min(deliveries.c.queued_at))
    .where(deliveries.c.webhook_id.in_(_receivers), _is_pending)
    .group_by(deliveries.c.webhook_id)
)
_oldest_delivery = Statement(
    sa.select(deliveries.c.queued_at).where(_is_pending).order_by(deliveries.c.queued_at).limit(ONE)
)
_oldest_announcement = Statement(
    sa.select(announcements.c.created_at)
    .where(sa.text(f"announcements.{PENDING_ANNOUNCEMENT}"))
    .order_by(announcements.c.id)
    .limit(ONE)
)


_encode_ended = DELIVERIES.make_row_encoder(hot_attempts.DELIVERY_MEMBERS)
_encode_attempt = ATTEMPTS.make_row_encoder(("id", *hot_attempts.ATTEMPT_MEMBERS))


def end_attempt(db: Database, ended: Delivery, attempt: DeliveryAttempt) -> Awaitable[bool]:
    """Records an attempt and what it means for its delivery, unless another worker took the delivery over.

    ended: the delivery as it is to be, with the lease under which it was attempted.
    """
    return db.submit(
        hot_attempts.END_ATTEMPT, (*_encode_ended(ended), *_encode_attempt(attempt)), label="delivery ended"
    )


def end_delivery_writes(delivery: Delivery, ended: Delivery) -> list[Write]:
    """Ends a delivery, or postpones it, without an attempt to record, unless another worker took it over."""
    return _end(delivery, ended, rows=None)


def drop_deliveries_writes(webhook: Webhook) -> list[Write]:
    """Deletes what was to be delivered to an endpoint that is removed."""
    return [Write(_delete_pending, {"of_merchant_id": webhook.merchant_id, "of_webhook_id": webhook.id})]


async def list_backlogs(db: Database, merchant_id: MerchantId) -> dict[str, tuple[int, Instant]]:
    """Returns how many deliveries each endpoint waits for, and the time of the oldest event among them."""
    return {row[0]: (row[1], row[2]) for row in await db.fetch(_backlogs, {"of_merchant_id": merchant_id})}


async def find_oldest(db: Database) -> Instant | None:
    """Finds the time of the oldest event that was not passed on or not delivered yet."""
    found = [row for each in (_oldest_delivery, _oldest_announcement) for row in await db.fetch(each, {})]
    return min((row[0] for row in found), default=None)


# ---- reading ----

_attempts_of_event = Statement(
    ATTEMPTS.select(
        delivery_attempts.c.merchant_id == bind("of", delivery_attempts.c.merchant_id),
        delivery_attempts.c.event_id == bind("of", delivery_attempts.c.event_id),
    )
    # Their ids have the same order, but by them alone all attempts of the merchant would be read along the key.
    .order_by(delivery_attempts.c.attempted_at, delivery_attempts.c.id)
    .limit(LIMIT)
)
_deliveries_of_event = Statement(
    DELIVERIES.select(
        deliveries.c.merchant_id == bind("of", deliveries.c.merchant_id),
        deliveries.c.webhook_id.in_(
            sa.select(webhooks.c.id).where(webhooks.c.merchant_id == bind("of", deliveries.c.merchant_id))
        ),
        deliveries.c.subject_id == bind("of", deliveries.c.subject_id),
        deliveries.c.event_id == bind("of", deliveries.c.event_id),
    )
)
_deliveries_about = Statement(
    DELIVERIES.select(
        deliveries.c.merchant_id == bind("of", deliveries.c.merchant_id),
        deliveries.c.webhook_id.in_(_receivers),
        deliveries.c.subject_id == bind("of", deliveries.c.subject_id),
    )
    .order_by(deliveries.c.event_id, deliveries.c.webhook_id)
    .limit(LIMIT)
)

_states = Statement(
    sa.select(deliveries.c.event_id, deliveries.c.state).where(
        deliveries.c.merchant_id == bind("of", deliveries.c.merchant_id),
        deliveries.c.webhook_id == bind("of", deliveries.c.webhook_id),
        sa.tuple_(deliveries.c.subject_id, deliveries.c.event_id).in_(
            sa.select(outbox.c.subject_id, outbox.c.id).where(
                outbox.c.merchant_id == bind("of", deliveries.c.merchant_id), is_among_ids(outbox.c.id)
            )
        ),
    )
)


async def list_states(db: Database, webhook: Webhook, event_ids: Sequence[str]) -> dict[str, str]:
    """Returns the state of the delivery of each event to an endpoint, as a word; those never sent are absent."""
    found: dict[str, str] = {}
    for _, ids in spread_ids(event_ids):
        params = {"of_merchant_id": webhook.merchant_id, "of_webhook_id": webhook.id, **ids}
        found |= {row[0]: DeliveryState(row[1]).name.lower() for row in await db.fetch(_states, params)}
    return found


async def list_attempts(db: Database, merchant_id: MerchantId, event_id: str, limit: int) -> list[DeliveryAttempt]:
    """Lists the attempts to deliver an event to whomever, oldest first."""
    params = {"of_merchant_id": merchant_id, "of_event_id": event_id, "limit": limit}
    return await ATTEMPTS.fetch(db, _attempts_of_event, params)


async def list_deliveries(db: Database, merchant_id: MerchantId, subject_id: str, event_id: str) -> list[Delivery]:
    """Lists the deliveries of an event to the endpoints of its merchant."""
    params = {"of_merchant_id": merchant_id, "of_subject_id": subject_id, "of_event_id": event_id}
    return await DELIVERIES.fetch(db, _deliveries_of_event, params)


async def list_deliveries_about(db: Database, merchant_id: MerchantId, subject_id: str, limit: int) -> list[Delivery]:
    """Lists the deliveries of all events of an object, notifications included."""
    return await DELIVERIES.fetch(
        db, _deliveries_about, {"of_merchant_id": merchant_id, "of_subject_id": subject_id, "limit": limit}
    )
