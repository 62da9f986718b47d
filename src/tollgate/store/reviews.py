"""Reviews of payments: opened, decided, closed and listed. What a decision does is decided in `flows`."""

from collections.abc import Sequence
from functools import cache

import sqlalchemy as sa

from tollgate.payments.payment import Payment
from tollgate.payments.reviews import Review, closes_review
from tollgate.store.codec import LIMIT, ZERO, Codec, bind
from tollgate.store.database import Database
from tollgate.store.hot_follow_ups import CLOSE_REVIEW
from tollgate.store.schema import OPEN_REVIEW, reviews
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId

REVIEWS = Codec(reviews, Review)

find_review = REVIEWS.find
insert_review_writes = REVIEWS.insert()
_is_open = reviews.c.state == ZERO
decide_review_writes = REVIEWS.update(_is_open, new=["state", "decided_at", "decided_by", "note"])
"""Ends an open review; the unit is undone where somebody else has ended it."""
wipe_note_writes = REVIEWS.update(note=sa.literal_column("''"))


@cache
def _make_open(channels: int) -> Statement:
    """Makes the statement for a number of channels."""
    return Statement(
        REVIEWS.select(
            reviews.c.merchant_id == bind("of", reviews.c.merchant_id),
            reviews.c.channel_id.in_([sa.bindparam(f"channel_{number}") for number in range(channels)]),
            sa.text(f"reviews.{OPEN_REVIEW}"),
            reviews.c.opened_at > sa.bindparam("after"),
        )
        .order_by(reviews.c.opened_at, reviews.c.id)
        .limit(LIMIT)
    )


def close_review_writes(completed: Payment) -> list[Write]:
    """Closes the review of the payment to which an approved follow-up gives money back, if it is still open."""
    if completed.referenced_id is None or not closes_review(completed):
        return []
    params = {
        "merchant_id": completed.merchant_id,
        "reviewed_id": completed.referenced_id,
        "completed_at": completed.completed_at,
    }
    return [Write(CLOSE_REVIEW.statement, params)]


async def list_open(
    db: Database, merchant_id: MerchantId, channel_ids: Sequence[str], limit: int, *, after: Instant = -1
) -> list[Review]:
    """Lists the open reviews of some channels, oldest first; after: the time after which they were opened."""
    if not channel_ids:
        return []
    params = {f"channel_{number}": channel_id for number, channel_id in enumerate(channel_ids)}
    rows = {"of_merchant_id": merchant_id, "after": after, "limit": limit, **params}
    return await REVIEWS.fetch(db, _make_open(len(channel_ids)), rows)
