"""Walking checkouts. Only reads.

A row is given as it is found, even where it is no checkout any more; what is wrong with it is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from tollgate.payments.checkout import Checkout
from tollgate.store.audit import fetch_by_ids, look_up, make_row, walk_pages, walk_table
from tollgate.store.checkouts import CHECKOUTS
from tollgate.store.codec import UNREADABLE
from tollgate.store.database import Database
from tollgate.store.schema import checkouts
from tollgate.store.statements import Statement
from tollgate.values import MerchantId


class AuditedCheckout(msgspec.Struct, frozen=True):
    """A row of checkouts. Without the checkout: it is there and cannot be read as one."""

    merchant_id: MerchantId
    id: str
    checkout: Checkout | None


_BY_ID = ("merchant_id", "id")

_checkouts = walk_table(checkouts, CHECKOUTS.names, _BY_ID)
_checkouts_again: Statement = look_up(CHECKOUTS.names, checkouts)


def walk_checkouts(db: Database) -> AsyncIterator[list[AuditedCheckout]]:
    return walk_pages(db, _checkouts, _keep, CHECKOUTS.names, _BY_ID)


async def find_audited_checkouts(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[AuditedCheckout]:
    rows = await fetch_by_ids(db, _checkouts_again, merchant_id, ids)
    return [make_row(_keep, CHECKOUTS.names, row) for row in rows]


def _keep(**named: Any) -> AuditedCheckout:
    try:
        checkout = CHECKOUTS.decode(tuple(named.values()))
    except UNREADABLE:
        checkout = None
    return AuditedCheckout(named["merchant_id"], named["id"], checkout)
