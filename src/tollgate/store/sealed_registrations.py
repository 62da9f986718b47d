"""What is sealed in registrations, for those who wrap it under another key. Nothing is opened here."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from tollgate.store.database import Database
from tollgate.store.schema_stored import registrations
from tollgate.store.sealed_pages import is_after, is_sealed_otherwise, name_page
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId, RegistrationId


class SealedRegistration(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: RegistrationId
    account: bytes | None
    token: bytes | None
    """That of the card's network."""


class Rewrapping(msgspec.Struct, frozen=True):
    """What stands in a row, and the same under another key."""

    found: SealedRegistration
    account: bytes | None
    token: bytes | None


_SEALED = (registrations.c.sealed_account, registrations.c.sealed_token)
_KEY = (registrations.c.merchant_id, registrations.c.id)


_sealed_otherwise = Statement(
    sa.select(*_KEY, *_SEALED)
    .where(
        sa.or_(*[is_sealed_otherwise(column) for column in _SEALED]),
        is_after(*_KEY),
    )
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
# Counted as a change, or else whoever read the row before would write back what is sealed under the old key.
_rewrap = Statement(
    sa.update(registrations)
    .where(
        registrations.c.merchant_id == sa.bindparam("of_merchant_id"),
        registrations.c.id == sa.bindparam("registration_id"),
        *[column.is_not_distinct_from(sa.bindparam(f"old_{column.name}", type_=column.type)) for column in _SEALED],
    )
    .values(
        sealed_account=sa.bindparam("new_account"),
        sealed_token=sa.bindparam("new_token"),
        revision=registrations.c.revision + sa.literal_column("1"),
    )
)


async def list_sealed_registrations(
    db: Database, after: SealedRegistration | None, active_prefix: bytes, limit: int
) -> list[SealedRegistration]:
    """Those with something whose first bytes are not those of the active key, in the order of the primary key."""
    rows = await db.fetch(_sealed_otherwise, name_page(after, active_prefix, limit))
    return [SealedRegistration(*row) for row in rows]


async def rewrap_registrations(db: Database, batch: Sequence[Rewrapping]) -> int:
    """In one commit where none of them was changed meanwhile, otherwise one by one; how many were written."""
    if await db.write([_step(each) for each in batch]):
        return len(batch)
    return sum([await db.write([_step(each)]) for each in batch])


def _step(each: Rewrapping) -> Write:
    params = {
        "of_merchant_id": each.found.merchant_id,
        "registration_id": each.found.id,
        "old_sealed_account": each.found.account,
        "old_sealed_token": each.found.token,
        "new_account": each.account,
        "new_token": each.token,
    }
    return Write(_rewrap, params, rows=1)
