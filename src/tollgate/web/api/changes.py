"""Requests that make no payment and are answered once for their Idempotency-Key, whoever asks again.

What is asked for is the story's affair.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tollgate.contract import Answer, Fields, read_fields
from tollgate.flows import find_earlier_answer, make_claim
from tollgate.payments import Channel, Claim
from tollgate.steps import House
from tollgate.web.api.payments import read_key, replay
from tollgate.web.request import Caller, Reply, Request, get_channel, reply_with

Story = Callable[[Fields, Claim | None], Awaitable[Answer]]
Change = Callable[[House, Fields, str, Channel, str, Claim | None], Awaitable[Answer]]
"""Of what the path names: the fields, its id, the channel, the trace and the claim."""


async def answer_once(
    request: Request, caller: Caller, house: House, path: str, story: Story, *, operation: str, kind: str | None = None
) -> Reply:
    """An answer without a code was kept for its key by a request that came at the same time."""
    channel = get_channel(caller)
    fields = read_fields(request.pairs, house.make_situation(operation, channel, kind))
    claim = make_claim(house, read_key(request), channel, request.method, path, fields)
    answer = await find_earlier_answer(house, claim) or await story(fields, claim)
    return reply_with(answer) if answer.code else replay(answer)


async def change_named(
    request: Request,
    caller: Caller,
    house: House,
    path: str,
    change: Change,
    *,
    operation: str,
    kind: str | None = None,
) -> Reply:
    async def tell(fields: Fields, claim: Claim | None) -> Answer:
        return await change(house, fields, request.names[0], get_channel(caller), caller.ndc, claim)

    return await answer_once(request, caller, house, path, tell, operation=operation, kind=kind)
