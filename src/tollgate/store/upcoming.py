"""Lists what falls due next for a merchant, whichever table it is in. What happens then is decided by the workers.

Only a test host shows it, whose clock a developer moves.
"""

from datetime import date
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.checkout import CheckoutState, LinkState
from tollgate.payments.payment import State
from tollgate.payments.schedule import RUN_TOPIC
from tollgate.store.codec import LIMIT, ZERO
from tollgate.store.database import Database
from tollgate.store.schema import (
    ACTIVE_SCHEDULE,
    OPEN_INSTRUCTION,
    PENDING_DELIVERY,
    TEXT,
    WHOLE,
    checkouts,
    deliveries,
    instructions,
    jobs,
    payment_links,
    payments,
    schedules,
)
from tollgate.store.statements import Statement
from tollgate.values import ChannelId, Instant, MerchantId

DELIVERY = "delivery"
AUTHORIZATION = "authorization"
CHECKOUT = "checkout"
LINK = "link"
INSTRUCTION = "instruction"


class Upcoming(msgspec.Struct, frozen=True):
    """Something that happens by itself when its time comes."""

    at: Instant
    topic: str
    """The topic of a job, `schedule` for a run of one, or one of the names above."""
    subject_id: str
    """The id of the payment, schedule, registration, checkout or link; of the webhook, if it is a delivery."""


_now = sa.bindparam("now", type_=WHOLE)
_merchant_id = sa.bindparam("merchant_id", type_=TEXT)


def _select_next(at: sa.Column[Any], topic: sa.ColumnElement[str], subject: sa.Column[str], *where: Any) -> Statement:
    # Spelled so that no planner goes through all rows of the merchant instead of the index of what is open.
    merchant = at.table.c.merchant_id.concat(sa.literal_column("''"))
    return Statement(sa.select(at, topic, subject).where(merchant == _merchant_id, *where).order_by(at).limit(LIMIT))


def _name(topic: str) -> sa.ColumnElement[str]:
    return sa.literal_column(f"'{topic}'")


_NEXT = (
    _select_next(jobs.c.due_at, jobs.c.topic, jobs.c.subject_id),
    _select_next(schedules.c.next_at, _name(RUN_TOPIC), schedules.c.id, sa.text(f"schedules.{ACTIVE_SCHEDULE}")),
    _select_next(
        deliveries.c.due_at, _name(DELIVERY), deliveries.c.webhook_id, sa.text(f"deliveries.{PENDING_DELIVERY}")
    ),
    _select_next(
        checkouts.c.expires_at,
        _name(CHECKOUT),
        checkouts.c.id,
        checkouts.c.expires_at > _now,
        checkouts.c.sealed_fields.is_not(None),
        checkouts.c.state == CheckoutState.OPEN,
    ),
    _select_next(
        payment_links.c.expires_at,
        _name(LINK),
        payment_links.c.id,
        payment_links.c.expires_at > _now,
        payment_links.c.state == LinkState.OPEN,
    ),
)
_PAYMENTS_READ = 1000
# The page asks every two seconds, and a channel may have many payments that are no authorizations.
_oldest = (
    sa.select(payments)
    .where(
        payments.c.channel_id == sa.bindparam("channel_id", type_=TEXT),
        payments.c.merchant_id == _merchant_id,
        payments.c.created_at > sa.bindparam("since", type_=WHOLE),
    )
    .order_by(payments.c.created_at)
    .limit(sa.literal_column(str(_PAYMENTS_READ)))
    .subquery()
)
_AUTHORIZATIONS = Statement(
    sa.select(_oldest.c.created_at, _oldest.c.id)
    .where(
        _oldest.c.payment_type == sa.literal_column("'PA'"),
        _oldest.c.state == sa.literal_column(str(int(State.APPROVED))),
        _oldest.c.amount + _oldest.c.added - _oldest.c.drawn - _oldest.c.reserved > ZERO,
    )
    .order_by(_oldest.c.created_at)
    .limit(LIMIT)
)
_INSTRUCTIONS = _select_next(
    instructions.c.due_on, _name(INSTRUCTION), instructions.c.id, sa.text(f"instructions.{OPEN_INSTRUCTION}")
)


async def list_upcoming(db: Database, merchant_id: MerchantId, now: Instant, limit: int) -> list[Upcoming]:
    """Lists jobs, runs, deliveries and what expires by a time of its own, earliest first."""
    params = {"merchant_id": merchant_id, "now": now, "limit": limit}
    # A schedule that is not signed has no next time.
    rows = [row for statement in _NEXT for row in await db.fetch(statement, params) if row[0] is not None]
    return sorted((Upcoming(*row) for row in rows), key=lambda each: each.at)[:limit]


async def list_authorizations(
    db: Database, merchant_id: MerchantId, channel_id: ChannelId, now: Instant, lifetime: Instant, limit: int
) -> list[Upcoming]:
    """Lists authorizations with something left that expire next, among the oldest payments of the channel."""
    params = {"merchant_id": merchant_id, "channel_id": channel_id, "since": now - lifetime, "limit": limit}
    rows = await db.fetch(_AUTHORIZATIONS, params)
    return [Upcoming(created_at + lifetime, AUTHORIZATION, payment_id) for created_at, payment_id in rows]


async def list_instruction_days(db: Database, merchant_id: MerchantId, limit: int) -> list[tuple[date, str]]:
    """Lists the days on which banks are to execute what no file has collected yet, each with its payment."""
    rows = await db.fetch(_INSTRUCTIONS, {"merchant_id": merchant_id, "limit": limit})
    return [(date.fromisoformat(due_on), payment_id) for due_on, _, payment_id in rows]
