"""Counts of charges by acquirer account, bucket and hour, to which every process adds. Nothing is estimated here."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store.codec import LIMIT, Codec, bind
from tollgate.store.database import Database
from tollgate.store.schema import WHOLE, routing_counts
from tollgate.store.statements import Statement, Write
from tollgate.values import HOUR, Instant, MerchantId


class RoutingCount(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    account_id: str
    bucket: str
    """The charges that are alike: the BIN and the currency, or the currency alone."""
    hour: int
    """The number of the hour since 1970."""
    tries: int
    approvals: int


KEY = ("merchant_id", "account_id", "bucket", "hour")
COUNTS = Codec(routing_counts, RoutingCount, key=KEY)

_inserting = insert(routing_counts).values({name: sa.bindparam(name) for name in COUNTS.names})
_add = Statement(
    _inserting.on_conflict_do_update(
        index_elements=[routing_counts.c[name] for name in KEY],
        set_={name: routing_counts.c[name] + _inserting.excluded[name] for name in ("tries", "approvals")},
    )
)
_since = Statement(
    COUNTS.select(routing_counts.c.hour >= sa.bindparam("since", type_=WHOLE))
    .order_by(routing_counts.c.hour.desc())
    .limit(LIMIT)
)
_sums = Statement(
    sa.select(
        routing_counts.c.bucket,
        sa.func.sum(routing_counts.c.tries),
        sa.func.sum(routing_counts.c.approvals),
    )
    .where(
        routing_counts.c.merchant_id == bind("of", routing_counts.c.merchant_id),
        routing_counts.c.account_id == bind("of", routing_counts.c.account_id),
        routing_counts.c.hour >= sa.bindparam("since", type_=WHOLE),
        # The buckets of whole currencies, which have all charges.
        routing_counts.c.bucket.like(sa.literal_column("'/%'")),
    )
    .group_by(routing_counts.c.bucket)
    .order_by(routing_counts.c.bucket)
)
_purge_hours = COUNTS.purge(routing_counts.c.hour)


async def add_counts(db: Database, added: Sequence[RoutingCount]) -> None:
    # In one order, so that two processes never wait for each other's rows.
    ordered = sorted(added, key=lambda count: (count.merchant_id, count.account_id, count.bucket, count.hour))
    await db.write([Write(_add, COUNTS.encode(count)) for count in ordered], label="routing counts")


async def list_counts(db: Database, since: int, limit: int) -> list[RoutingCount]:
    """Lists the counts from an hour on, the newest first."""
    return await COUNTS.fetch(db, _since, {"since": since, "limit": limit})


async def list_sums(db: Database, merchant_id: MerchantId, account_id: str, since: int) -> list[RoutingCount]:
    """Adds up the charges of an account by currency, from an hour on."""
    params = {"of_merchant_id": merchant_id, "of_account_id": account_id, "since": since}
    return [
        RoutingCount(
            merchant_id=merchant_id,
            account_id=account_id,
            bucket=row[0],
            hour=since,
            tries=int(row[1]),
            approvals=int(row[2]),
        )
        for row in await db.fetch(_sums, params)
    ]


async def purge_counts(db: Database, before: Instant, limit: int) -> int:
    """Removes the counts of hours before then, and returns how many there were."""
    return await _purge_hours(db, before // HOUR, limit)
