"""Saved views: the filters of a list that a user keeps under a name. What they mean is known to the list."""

import msgspec
import sqlalchemy as sa

from tollgate.store import database, statements
from tollgate.store.codec import LIMIT, Codec
from tollgate.store.schema import saved_views
from tollgate.values import Instant, MerchantId


class SavedView(msgspec.Struct, frozen=True, kw_only=True):
    user_id: str
    id: str
    merchant_id: MerchantId
    name: str
    query: str
    """The query of its address."""
    created_at: Instant


VIEWS = Codec(saved_views, SavedView, key=["user_id", "id"])
_insert = VIEWS.insert()
_delete = VIEWS.delete(saved_views.c.merchant_id == sa.bindparam("merchant_id"))
_list = statements.Statement(
    VIEWS.select(
        saved_views.c.user_id == sa.bindparam("user_id"), saved_views.c.merchant_id == sa.bindparam("merchant_id")
    )
    .order_by(saved_views.c.name, saved_views.c.id)
    .limit(LIMIT)
)
_of_merchant = statements.Statement(VIEWS.select(saved_views.c.merchant_id == sa.bindparam("merchant_id")))


async def list_views(db: database.Database, user_id: str, merchant_id: MerchantId, limit: int) -> list[SavedView]:
    """Lists the views of a user, for one merchant."""
    return await VIEWS.fetch(db, _list, {"user_id": user_id, "merchant_id": merchant_id, "limit": limit})


async def list_all_views(db: database.Database, merchant_id: MerchantId) -> list[SavedView]:
    """Lists the views of all users, for one merchant."""
    return await VIEWS.fetch(db, _of_merchant, {"merchant_id": merchant_id})


async def insert_view(db: database.Database, view: SavedView) -> None:
    await db.write(_insert(view), label="view saved")


async def delete_view(db: database.Database, user_id: str, merchant_id: MerchantId, view_id: str) -> bool:
    """Returns False if the user has no such view for this merchant."""
    return await db.write(_delete.by_key(user_id, view_id, merchant_id=merchant_id), label="view deleted")
