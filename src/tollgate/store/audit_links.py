"""Walking payment links. Only reads.

A row is given as it is found, even where it is no link any more; what is wrong with it is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from tollgate.payments.checkout import PaymentLink
from tollgate.store.audit import fetch_by_ids, look_up, make_row, walk_pages, walk_table
from tollgate.store.codec import UNREADABLE
from tollgate.store.database import Database
from tollgate.store.links import LINKS
from tollgate.store.schema import payment_links
from tollgate.store.statements import Statement
from tollgate.values import MerchantId


class AuditedLink(msgspec.Struct, frozen=True):
    """A row of payment_links. Without the link: it is there and cannot be read as one."""

    merchant_id: MerchantId
    id: str
    link: PaymentLink | None


_BY_ID = ("merchant_id", "id")

_links = walk_table(payment_links, LINKS.names, _BY_ID)
_links_again: Statement = look_up(LINKS.names, payment_links)


def walk_links(db: Database) -> AsyncIterator[list[AuditedLink]]:
    return walk_pages(db, _links, _keep, LINKS.names, _BY_ID)


async def find_audited_links(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[AuditedLink]:
    rows = await fetch_by_ids(db, _links_again, merchant_id, ids)
    return [make_row(_keep, LINKS.names, row) for row in rows]


def _keep(**named: Any) -> AuditedLink:
    try:
        link = LINKS.decode(tuple(named.values()))
    except UNREADABLE:
        link = None
    return AuditedLink(named["merchant_id"], named["id"], link)
