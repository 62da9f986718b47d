"""Requests that make no payment and are answered once for their Idempotency-Key, whoever asks again.

What is asked for is the story's affair.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields, read_fields
from tollgate.operations.app import App, Call
from tollgate.operations.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.web.api.payments import read_key, replay
from tollgate.web.request import Caller, Reply, Request, get_channel, reply_with

Story = Callable[[App, Fields, Call], Awaitable[Answer]]
Change = Callable[[App, Fields, str, Call], Awaitable[Answer]]
"""Changes what the path names by its id."""


async def answer_once(
    request: Request,
    caller: Caller,
    app: App,
    path: str,
    story: Story,
    *,
    operation: str,
    payment_type: str | None = None,
) -> Reply:
    """An answer without a code was kept for its key by a request that came at the same time."""
    channel = get_channel(caller)
    fields = read_fields(request.pairs, app.make_situation(operation, channel, payment_type))
    idempotency_key = make_idempotency_key(app, read_key(request), channel, request.method, path, fields)
    answer = await find_earlier_answer(app, idempotency_key)
    if answer is None:
        answer = await story(app, fields, Call(channel, caller.ndc, idempotency_key))
    return reply_with(answer) if answer.code else replay(answer)


async def change_named(
    request: Request,
    caller: Caller,
    app: App,
    path: str,
    change: Change,
    *,
    operation: str,
    payment_type: str | None = None,
) -> Reply:
    def story(app: App, fields: Fields, call: Call) -> Awaitable[Answer]:
        return change(app, fields, request.names[0], call)

    return await answer_once(request, caller, app, path, story, operation=operation, payment_type=payment_type)
