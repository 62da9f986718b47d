"""Sending a connector's requests over a wire, within a time limit. What a reply means is decided by the connector."""

import time
from collections.abc import Callable
from typing import TypeVar

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import Conversation, Exchange, WireReply, WireRequest
from tollgate.payments.payment import Outcome, Verdict
from tollgate.store.database import Probe, ignore_probe
from tollgate.wire import Silent, Unsent, Wire

_UNSENT = Verdict(outcome=Outcome.UNSENT, code=codes.ACQUIRER_UNREACHABLE)


_SILENT = Verdict(outcome=Outcome.SILENT, code=codes.ACQUIRER_SILENT)


_Told = TypeVar("_Told")

Note = Callable[[WireRequest, WireReply | str], None]
"""Takes a request with its reply, or with the reason why there is none."""


def ignore_note(_request: WireRequest, _reply: WireReply | str) -> None:
    """Does nothing with a message."""


async def dispatch(
    exchange: Exchange,
    wire: Wire,
    *,
    timeout_s: float,
    label: str,
    probe: Probe = ignore_probe,
    note: Note = ignore_note,
) -> Verdict:
    """Runs an exchange that moves money; every transport fault becomes a verdict."""
    try:
        return await _drive(exchange, wire, timeout_s, label, probe, note)
    except Unsent:
        return _UNSENT
    except Silent:
        return _SILENT


async def converse(
    conversation: Conversation[_Told],
    wire: Wire,
    *,
    timeout_s: float,
    label: str,
    probe: Probe = ignore_probe,
    note: Note = ignore_note,
) -> _Told | None:
    """Runs a conversation that moves no money. After a transport fault it returns None, and may be asked again."""
    try:
        return await _drive(conversation, wire, timeout_s, label, probe, note)
    except (Unsent, Silent):
        return None


async def _drive(
    conversation: Conversation[_Told], wire: Wire, timeout_s: float, label: str, probe: Probe, note: Note
) -> _Told:
    # All messages together have the time of one: after it another process may take over, and reverse the payment.
    ends_at = time.monotonic() + timeout_s
    left_s = timeout_s
    try:
        request = first = next(conversation)
        while True:
            probe(label, "before")
            try:
                if left_s <= 0:
                    raise Silent
                reply = await _send(request, wire, left_s)
            except (Unsent, Silent) as fault:
                note(request, "not sent" if isinstance(fault, Unsent) else "no answer")
                if request is not first:
                    # What was sent before it may have done something.
                    raise Silent from None
                raise
            note(request, reply)
            probe(label, "after")
            request = conversation.send(reply)
            left_s = ends_at - time.monotonic()
    except StopIteration as end:
        told: _Told = end.value
        return told
    finally:
        conversation.close()


async def _send(request: WireRequest, wire: Wire, timeout_s: float) -> WireReply:
    """Repeats a request that never left, in what is left of its time; one that left is not sent again."""
    ends_at = time.monotonic() + timeout_s
    left_s = timeout_s
    for _ in range(LIMITS.acquirer_sends_max - 1):
        try:
            return await wire.send(request, left_s)
        except Unsent:
            left_s = ends_at - time.monotonic()
            if left_s <= 0:
                raise
    return await wire.send(request, left_s)
