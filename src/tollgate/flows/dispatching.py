"""Dispatching: the rows of a merchant are changed, and a request that names the merchant gets its channel.

Which row fits is decided in `payments`; conditions are read in `contract`.
"""

from collections.abc import Mapping, Sequence

import msgspec

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.contract import dispatching as contract
from tollgate.contract.fields import Pairs
from tollgate.operations.app import App
from tollgate.operations.reach import find_own_channel_id
from tollgate.payments.dispatching import DispatchRow, Misfit, Traits, choose_row
from tollgate.payments.merchants import Channel
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.store.idempotency import find_pinned_channel
from tollgate.store.registrations import find_registration
from tollgate.values import ChannelId, Conflict, Fault, MerchantId, NotFound, is_id


class DispatchCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request that names its merchant, before it has a channel."""

    merchant_id: MerchantId
    operation: str
    pairs: Pairs
    named_id: str | None
    """The id in the path."""
    idempotency_key: str | None
    channel_ids: tuple[ChannelId, ...] = ()
    """The only channels that the token reaches; empty for all."""


async def choose_channel(app: App, call: DispatchCall) -> Channel:
    """Returns the channel of a request: that of what it names, or else that of the first row that fits.

    What names nothing that is known gets the first channel that the token reaches, which refuses it by its own code.
    Channels to which rows lead come first.
    """
    rows = app.merchants.list_dispatch_rows(call.merchant_id)
    if call.operation not in contract.STARTING:
        return await _find_own_channel(app, call, call.named_id) or _get_first_reached(app, call, rows)
    followed_id = contract.find_followed_id(call.pairs)
    if followed_id is not None:
        return await _find_own_channel(app, call, followed_id) or _get_first_reached(app, call, rows)
    pinned = await _find_pinned(app, call)
    if pinned is not None:
        return pinned
    found = choose_row(rows, await _read_traits(app, call))
    if isinstance(found, Misfit):
        raise contract.make_misfit_refusal(found)
    return app.merchants.get_channel(found.channel_id)


async def _find_own_channel(app: App, call: DispatchCall, named_id: str | None) -> Channel | None:
    channel_id = await find_own_channel_id(app, call.merchant_id, named_id) if named_id else None
    if channel_id is None or (call.channel_ids and channel_id not in call.channel_ids):
        return None
    return app.merchants.get_channel(channel_id)


def _get_first_reached(app: App, call: DispatchCall, rows: Sequence[DispatchRow]) -> Channel:
    channels = [app.merchants.get_channel(row.channel_id) for row in rows]
    channels += app.merchants.list_channels(call.merchant_id)
    ids = call.channel_ids
    reached = [each for each in channels if not each.is_closed and (not ids or each.id in ids)]
    return (reached or channels)[0]


async def _find_pinned(app: App, call: DispatchCall) -> Channel | None:
    """Finds the channel that the request got when it came first, under the same Idempotency-Key."""
    key = call.idempotency_key
    if not key or len(key) > LIMITS.idempotency_key_length_max or not key.isascii():
        return None
    cutoff = app.clock.now() - LIMITS.idempotency_lifetime
    channel_id = await find_pinned_channel(app.database, call.merchant_id, key, cutoff)
    channel = app.merchants.find_channel(channel_id) if channel_id else None
    return channel if channel is not None and channel.merchant_id == call.merchant_id else None


async def _read_traits(app: App, call: DispatchCall) -> Traits:
    registration_id = call.named_id or contract.find_registration_id(call.pairs)
    registration = None
    if registration_id and is_id(registration_id):
        registration = await find_registration(app.database, call.merchant_id, registration_id)
    return contract.read_traits(call.pairs, call.operation, app.clock.now(), registration)


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
