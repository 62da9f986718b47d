"""Gives a caller that named its merchant the channel of its request. Which one that is, is decided in `flows`."""

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.flows.dispatching import DispatchCall, choose_channel
from tollgate.operations.app import App
from tollgate.values import Unauthenticated
from tollgate.web.callers import HEADER_ONLY, check_channel
from tollgate.web.request import Caller, Request


async def dispatch_caller(request: Request, caller: Caller, app: App) -> Caller:
    call = DispatchCall(
        merchant_id=caller.merchant_id,
        operation=request.operation,
        pairs=request.pairs,
        named_id=request.names[0] if request.names else None,
        idempotency_key=request.header(b"idempotency-key"),
        channel_ids=caller.channel_ids,
    )
    channel = await choose_channel(app, call)
    check_channel(channel, caller.channel_ids)
    if caller.is_by_login and not channel.is_lenient:
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED), HEADER_ONLY)
    return msgspec.structs.replace(caller, channel=channel, ndc=f"{channel.id}_{request.trace}")
