"""Walking what is sealed under older keys, page by page in the order of the key, for those who wrap it again.

Which rows there are is said by their nouns; nothing is opened here.
"""

from __future__ import annotations

from typing import Any, Protocol

import sqlalchemy as sa

from tollgate.store.schema import TEXT
from tollgate.values import MerchantId


class Placed(Protocol):
    """A row that a page ended with."""

    @property
    def merchant_id(self) -> MerchantId: ...

    @property
    def id(self) -> str: ...


def is_sealed_otherwise(column: sa.Column[bytes]) -> sa.ColumnElement[bool]:
    """Whether its first bytes are not those of the active key. Nothing where nothing is sealed."""
    start = sa.func.substr(column, sa.literal_column("1"), sa.bindparam("length", type_=sa.Integer()))
    return start != sa.bindparam("prefix", type_=column.type)


def is_after(*key: sa.Column[str]) -> sa.ColumnElement[bool]:
    """Behind the row that the last page ended with."""
    last = sa.tuple_(sa.bindparam("after_merchant_id", type_=TEXT), sa.bindparam("after_id", type_=TEXT))
    return sa.tuple_(*key) > last


def name_page(after: Placed | None, active_prefix: bytes, limit: int) -> dict[str, Any]:
    return {
        "after_merchant_id": after.merchant_id if after else "",
        "after_id": after.id if after else "",
        "prefix": active_prefix,
        "length": len(active_prefix),
        "limit": limit,
    }
