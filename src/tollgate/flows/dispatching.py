"""Dispatching: the rows of a merchant are changed, and a request that names the merchant gets its channel.

Which row fits is decided in `payments`; conditions are read in `contract`.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.contract import dispatching as contract
from tollgate.payments.dispatching import DispatchRow
from tollgate.payments.merchants import Channel
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.values import Conflict, Fault, MerchantId, NotFound


async def add_row(database: Database, channel: Channel, sent: Mapping[str, str], *, new_id: str) -> DispatchRow:
    """Adds a row behind the others of its merchant.

    sent: the conditions by the names of `contract.dispatching.TERMS`.
    """
    conditions = contract.read_conditions(sent)
    rows = await list_rows(database, channel.merchant_id)
    if len(rows) >= LIMITS.dispatch_rows_max:
        raise results.make_invalid(Fault("channel", f"a merchant has at most {LIMITS.dispatch_rows_max} dispatch rows"))
    position = max((row.position for row in rows), default=0) + 1
    new = DispatchRow(
        merchant_id=channel.merchant_id, id=new_id, position=position, channel_id=channel.id, conditions=conditions
    )
    await merchants.insert_dispatch_row(database, new)
    return new


async def list_rows(database: Database, merchant_id: MerchantId) -> list[DispatchRow]:
    """Lists the rows of a merchant in the order in which they are tried."""
    return [row for row in await merchants.list_dispatch_rows(database) if row.merchant_id == merchant_id]


async def remove_row(database: Database, merchant_id: MerchantId, row_id: str) -> None:
    """Removes a row. Without any, the merchant's id is no entity id any more."""
    if not await merchants.delete_dispatch_row(database, merchant_id, row_id):
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such dispatch row")


async def move_row(database: Database, merchant_id: MerchantId, row_id: str, place: int) -> None:
    """Moves a row to a place from 1; a place beyond the last is the last."""
    for _ in range(LIMITS.reservation_tries_max):
        rows = await list_rows(database, merchant_id)
        moved = next((row for row in rows if row.id == row_id), None)
        if moved is None:
            raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such dispatch row")
        if place < 1:
            raise results.make_invalid(Fault("place", "must be 1 or more"))
        others = [row for row in rows if row.id != row_id]
        ordered = [*others[: place - 1], moved, *others[place - 1 :]]
        changed = [msgspec.structs.replace(row, position=number) for number, row in enumerate(ordered, start=1)]
        # Every row must still be where it was read, or somebody else has moved or removed one.
        if await merchants.place_dispatch_rows(database, ordered, changed):
            return
    raise Conflict(results.get_result(codes.REQUEST_IN_PROGRESS), "the dispatch rows were changed at the same time")
