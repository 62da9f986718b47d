"""Trouble on request: any wire of a test host can lose, delay or garble messages, and answer with a code asked for.

What the wire's other end does otherwise is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from tollgate.connectors import WireReply, WireRequest, card
from tollgate.payments.payment import Outcome
from tollgate.wire import Silent, Unsent, Wire

Act = Callable[[WireRequest], Awaitable[WireReply]]
"""Does what is asked and tells."""

WORDS = {
    Outcome.APPROVED: ("approved", "00", "Approved by the simulator"),
    Outcome.DECLINED: ("declined", "05", "Declined by the simulator, as asked for"),
    Outcome.WAITING: ("pending", "09", "Left open by the simulator, as asked for"),
}
"""Status, response code and message for what a code of the catalogue comes to."""

_write = msgspec.json.Encoder().encode


async def misbehave(request: WireRequest, timeout_s: float, act: Act) -> WireReply:
    """What the simulator_overrides ask for happens on the way to or from whoever acts."""
    fault = request.simulator_overrides.get("simulatorFault")
    if fault == "unsent":
        raise Unsent
    delay_s = int(request.simulator_overrides.get("simulatorDelay", "0")) / 1000
    if delay_s >= timeout_s:
        # The other side acts, but later than anybody waits.
        await act(request)
        await asyncio.sleep(timeout_s)
        raise Silent
    await asyncio.sleep(delay_s)
    if fault == "dropped":
        raise Silent
    reply = await act(request)
    if fault == "lost":
        raise Silent
    return WireReply(reply.status, reply.body[: len(reply.body) // 2]) if fault == "garbled" else reply


class Misbehaving:
    """A wire in front of another one that itself knows no simulator_overrides."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if not request.simulator_overrides:
            return await self._wire.send(request, timeout_s)

        async def act(asked: WireRequest) -> WireReply:
            return await self._force(asked, timeout_s)

        return await misbehave(request, timeout_s, act)

    async def _force(self, request: WireRequest, timeout_s: float) -> WireReply:
        forced_code = request.simulator_overrides.get(card.FORCED_CODE)
        if not forced_code:
            return await self._wire.send(request, timeout_s)
        outcome = card.classify(forced_code)
        status, response_code, message = WORDS[outcome]
        told = {
            "status": status,
            "response_code": response_code,
            "message": message,
            "result_code": forced_code,
        }
        if outcome is Outcome.DECLINED:
            # Nobody on the other side hears of it, so nothing is done.
            return WireReply(200, _write(told))
        reply = await self._wire.send(request, timeout_s)
        answered = msgspec.json.decode(reply.body, type=dict[str, str])
        # Where the other side objects, that is the truth: no override makes something happen that did not.
        return reply if answered["status"] != "approved" else WireReply(200, _write({**answered, **told}))
