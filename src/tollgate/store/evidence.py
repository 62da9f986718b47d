"""Evidence that is kept with a chargeback: sealed notes and files, and the list of chargebacks.

What may be added is decided in `flows`.
"""

from collections.abc import Sequence
from functools import cache

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Listed, Place
from tollgate.store import database, retention, statements
from tollgate.store.codec import LIMIT, Codec, bind, is_among_ids, spread_ids
from tollgate.store.payment_months import OnPostgres
from tollgate.store.payments import PAYMENTS, read_if_sound
from tollgate.store.schema import DISPUTE, WHOLE, evidence, payments
from tollgate.values import Instant, MerchantId, PaymentId


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A note or a file about a chargeback, without its content."""

    merchant_id: MerchantId
    id: str
    payment_id: PaymentId
    """The chargeback."""
    added_by: str
    added_at: Instant
    name: str
    content_type: str


EVIDENCE = Codec(evidence, Evidence)
SEALED = retention.SealedColumn(evidence, evidence.c.sealed_content)

find_evidence = EVIDENCE.find
_insert = EVIDENCE.insert("sealed_content")
_of_payment = statements.Statement(
    EVIDENCE.select(
        evidence.c.merchant_id == bind("of", evidence.c.merchant_id),
        evidence.c.payment_id == bind("of", evidence.c.payment_id),
    ).order_by(evidence.c.added_at, evidence.c.id)
)
_content = statements.Statement(sa.select(evidence.c.sealed_content).where(*EVIDENCE.is_it))
_counts = statements.Statement(
    sa.select(evidence.c.payment_id, sa.func.count())
    .where(evidence.c.merchant_id == bind("of", evidence.c.merchant_id), is_among_ids(evidence.c.payment_id))
    .group_by(evidence.c.payment_id)
)


@cache
def _make_disputes(channels: int) -> statements.Statement:
    """Makes the statement for a number of channels."""
    return statements.Statement(
        PAYMENTS.select(
            payments.c.merchant_id == bind("of", payments.c.merchant_id),
            payments.c.channel_id.in_([sa.bindparam(f"channel_{number}") for number in range(channels)]),
            sa.text(f"payments.{DISPUTE}"),
            sa.tuple_(payments.c.created_at, payments.c.id)
            < sa.tuple_(sa.bindparam("before_at", type_=WHOLE), sa.bindparam("before_id")),
            OnPostgres(payments.c.created_at <= sa.bindparam("before_at", type_=WHOLE)),
        )
        .order_by(payments.c.created_at.desc(), payments.c.id.desc())
        .limit(LIMIT)
    )


async def insert_evidence(db: database.Database, new: Evidence, sealed_content: bytes) -> bool:
    return await db.write(_insert(new, sealed_content=sealed_content), label="evidence added")


async def list_evidence(db: database.Database, merchant_id: MerchantId, payment_id: str) -> list[Evidence]:
    return await EVIDENCE.fetch(db, _of_payment, {"of_merchant_id": merchant_id, "of_payment_id": payment_id})


async def get_content(db: database.Database, kept: Evidence) -> bytes:
    """Returns the sealed content."""
    row = await db.fetch_one(_content, EVIDENCE.of(kept))
    if row is None:
        raise LookupError(f"evidence {kept.id} was listed and is gone")
    return bytes(row[0])


async def count_evidence(db: database.Database, merchant_id: MerchantId, payment_ids: Sequence[str]) -> dict[str, int]:
    """Returns how many pieces of evidence each chargeback has; those without any are absent."""
    found: dict[str, int] = {}
    for _, ids in spread_ids(payment_ids):
        found |= {row[0]: row[1] for row in await db.fetch(_counts, {"of_merchant_id": merchant_id, **ids})}
    return found


async def list_disputes(
    db: database.Database,
    merchant_id: MerchantId,
    channel_ids: Sequence[str],
    before: Place,
    limit: int,
) -> list[Listed[Payment]]:
    """Lists the chargebacks of some channels that came before another one, the newest first."""
    if not channel_ids:
        return []
    params = {"of_merchant_id": merchant_id, "before_at": before.at, "before_id": before.id, "limit": limit}
    params |= {f"channel_{number}": channel_id for number, channel_id in enumerate(channel_ids)}
    rows = await db.fetch(_make_disputes(len(channel_ids)), params)
    at = PAYMENTS.at
    return [Listed(Place(row[at["created_at"]], row[at["id"]]), read_if_sound(row)) for row in rows]
