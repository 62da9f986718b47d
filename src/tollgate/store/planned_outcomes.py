"""Planned outcomes: what the next messages to the simulated partners of a test host meet.

It is stored so that all processes use each planned outcome as often as was asked for, and no oftener.
"""

from collections.abc import Mapping

import msgspec
import sqlalchemy as sa

from tollgate.payments.order import Partner
from tollgate.store import database, merchants, statements
from tollgate.store.codec import LIMIT, ONE, ZERO, Codec, bind
from tollgate.store.schema import planned_outcomes
from tollgate.values import ChannelId, Instant, MerchantId

SHOWN_MAX = 50
"""A merchant has so many planned outcomes at most."""


class PlannedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    id: str
    """It begins with the time, so that the first one planned is the first one used."""
    channel_id: ChannelId
    partner: Partner
    payment_type: str = ""
    """Empty for all types."""
    overrides: Mapping[str, str]
    """The simulator overrides that a message gets."""
    planned: int
    left: int
    created_at: Instant
    created_by: str


OUTCOMES = Codec(planned_outcomes, PlannedOutcome)

find_planned_outcome = OUTCOMES.find
_insert = OUTCOMES.insert()
_delete = OUTCOMES.delete()
_is_left = planned_outcomes.c.left > ZERO
_take = OUTCOMES.update(_is_left, left=planned_outcomes.c.left - ONE)
_of_merchant = planned_outcomes.c.merchant_id == bind("of", planned_outcomes.c.merchant_id)
_clear = statements.Statement(sa.delete(planned_outcomes).where(_of_merchant, planned_outcomes.c.left <= ZERO))
_list = statements.Statement(OUTCOMES.select(_of_merchant).order_by(planned_outcomes.c.id).limit(LIMIT))
_next = statements.Statement(
    OUTCOMES.select(
        _of_merchant,
        planned_outcomes.c.channel_id == bind("of", planned_outcomes.c.channel_id),
        planned_outcomes.c.partner == bind("of", planned_outcomes.c.partner),
        planned_outcomes.c.payment_type.in_([sa.literal_column("''"), bind("of", planned_outcomes.c.payment_type)]),
        _is_left,
    ).order_by(planned_outcomes.c.id)
)
_channels = statements.Statement(sa.select(planned_outcomes.c.channel_id).where(_is_left).distinct())


async def plan_outcome(db: database.Database, outcome: PlannedOutcome) -> None:
    """Adds an outcome and removes those that are used up; every process notices by the version of the merchants."""
    clearing = statements.Write(_clear, {"of_merchant_id": outcome.merchant_id})
    await merchants.change_merchants(db, [clearing, *_insert(outcome)])


async def cancel_outcome(db: database.Database, merchant_id: MerchantId, outcome_id: str) -> bool:
    """Returns False if there is no such outcome any more."""
    return await merchants.change_merchants(db, _delete.by_key(merchant_id, outcome_id))


async def list_outcomes(db: database.Database, merchant_id: MerchantId) -> list[PlannedOutcome]:
    return await OUTCOMES.fetch(db, _list, {"of_merchant_id": merchant_id, "limit": SHOWN_MAX})


async def list_planned_channels(db: database.Database) -> frozenset[str]:
    """Lists the channels for which something is planned."""
    return frozenset(str(row[0]) for row in await db.fetch(_channels, {}))


async def take_outcome(
    db: database.Database, merchant_id: MerchantId, channel_id: ChannelId, partner: Partner, payment_type: str
) -> PlannedOutcome | None:
    """Uses the first outcome that fits a message. Of requests at once each gets another, or none."""
    params = {
        "of_merchant_id": merchant_id,
        "of_channel_id": channel_id,
        "of_partner": partner,
        "of_payment_type": payment_type,
    }
    for outcome in await OUTCOMES.fetch(db, _next, params):
        # It is taken in one statement with its guard, because another process may have taken the last one.
        if await db.write(_take(outcome), label="planned outcome taken"):
            return outcome
    return None
