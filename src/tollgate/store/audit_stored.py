"""Walking stored accounts, with what is sealed of them. Only reads.

A row is given as it is found, even where it is no registration any more; what is wrong with it is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.registration import Registration, RegistrationEvent
from tollgate.store.audit import fetch_by_ids, look_up, make_row, walk_pages, walk_table
from tollgate.store.codec import UNREADABLE
from tollgate.store.database import Database
from tollgate.store.registrations import REGISTRATIONS
from tollgate.store.schema import outbox, registrations
from tollgate.store.statements import Statement
from tollgate.values import MerchantId


class AuditedRegistration(msgspec.Struct, frozen=True):
    """A row of registrations. Without the registration: it is there and cannot be read as one."""

    merchant_id: MerchantId
    id: str
    registration: Registration | None
    sealed_account: bytes | None
    sealed_token: bytes | None


_SHOWN = REGISTRATIONS.names
_ROW = (*_SHOWN, "sealed_account", "sealed_token")
_BY_ID = ("merchant_id", "id")

_registrations = walk_table(registrations, _ROW, _BY_ID)
_registrations_again = look_up(_ROW, registrations)
_registration_ids = look_up(("id",), registrations)
# By time from when it was stored, because no index knows what an event is about; asked for very few.
_announced = Statement(
    sa.select(outbox.c.id)
    .where(
        outbox.c.merchant_id == sa.bindparam("merchant_id"),
        outbox.c.id >= sa.bindparam("since"),
        outbox.c.subject_id == sa.bindparam("id"),
        outbox.c.topic == sa.literal_column(f"'{RegistrationEvent.CREATED}'"),
    )
    .limit(sa.literal_column("1"))
)


def walk_registrations(db: Database) -> AsyncIterator[list[AuditedRegistration]]:
    return walk_pages(db, _registrations, _keep, _ROW, _BY_ID)


async def find_audited_registrations(
    db: Database, merchant_id: MerchantId, ids: Sequence[str]
) -> list[AuditedRegistration]:
    rows = await fetch_by_ids(db, _registrations_again, merchant_id, ids)
    return [make_row(_keep, _ROW, row) for row in rows]


async def find_registration_ids(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> set[str]:
    return {str(row[0]) for row in await fetch_by_ids(db, _registration_ids, merchant_id, ids)}


async def is_announced(db: Database, registration: Registration) -> bool:
    """Whether any event tells that it was made."""
    params = {
        "merchant_id": registration.merchant_id,
        "id": registration.id,
        "since": f"{registration.created_at:016x}",
    }
    return await db.fetch_one(_announced, params) is not None


def _keep(**named: Any) -> AuditedRegistration:
    try:
        registration = REGISTRATIONS.decode(tuple([named[name] for name in _SHOWN]))
    except UNREADABLE:
        registration = None
    return AuditedRegistration(
        named["merchant_id"], named["id"], registration, named["sealed_account"], named["sealed_token"]
    )
