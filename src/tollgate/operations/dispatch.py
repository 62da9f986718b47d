"""Sending a connector's requests over a wire, within a time limit. What a reply means is decided by the connector."""

from __future__ import annotations

from typing import TypeVar

from tollgate.catalog.limits import LIMITS
from tollgate.connectors import Conversation, Exchange, WireReply, WireRequest
from tollgate.payments.payment import Outcome, Verdict
from tollgate.wire import Silent, Unsent, Wire

_UNSENT = Verdict(outcome=Outcome.UNSENT, code="900.100.600")


_SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")


_Told = TypeVar("_Told")


async def dispatch(exchange: Exchange, wire: Wire, *, timeout_s: float) -> Verdict:
    """For what moves money: every fault of the line is a verdict."""
    try:
        return await _drive(exchange, wire, timeout_s)
    except Unsent:
        return _UNSENT
    except Silent:
        return _SILENT


async def converse(conversation: Conversation[_Told], wire: Wire, *, timeout_s: float) -> _Told | None:
    """For what moves nothing: None where the line broke, and whoever asked may ask again."""
    try:
        return await _drive(conversation, wire, timeout_s)
    except (Unsent, Silent):
        return None


async def _drive(conversation: Conversation[_Told], wire: Wire, timeout_s: float) -> _Told:
    try:
        request = next(conversation)
        while True:
            request = conversation.send(await _send(request, wire, timeout_s))
    except StopIteration as end:
        told: _Told = end.value
        return told
    finally:
        conversation.close()


async def _send(request: WireRequest, wire: Wire, timeout_s: float) -> WireReply:
    """What never left may be tried again; what left may not."""
    for _ in range(LIMITS.acquirer_sends_max - 1):
        try:
            return await wire.send(request, timeout_s)
        except Unsent:
            continue
    return await wire.send(request, timeout_s)
