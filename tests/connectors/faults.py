"""The acquirer on the other side, and a wire to it that fails on demand. Connectors are driven elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from connectors.cases import Position
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.wire import Silent, Unsent

MESSAGES_MAX = 50
"""No exchange with a peer of these tests takes more messages; one that does would never end."""


class Peer(Protocol):
    """An acquirer on the other side of the wire, with a ledger of its own."""

    declines: bool
    """Whether it declines requests that would move money."""

    async def answer(self, request: WireRequest) -> WireReply:
        """Acts and answers, as a healthy acquirer does."""
        ...

    async def read_position(self) -> Position: ...

    def decide_waiting(self) -> None:
        """Decides what was answered as waiting."""
        ...

    def alter_amount(self, reply: WireReply) -> WireReply | None:
        """Returns the answer with another amount; None where this answer contains none."""
        ...

    def names_payment(self, reply: WireReply) -> bool:
        """Tells whether an answer names its payment, so that it cannot be taken for the answer to another."""
        ...


class Fault(StrEnum):
    """A fault of the wire or the acquirer, at one message."""

    LOST = "the request is lost"
    LATE = "the request arrives when everything is over"
    UNANSWERED = "the answer is lost"
    UNSENT = "the request cannot be sent"
    EMPTY = "an empty answer"
    NOISE = "an answer of noise"
    CUT = "half an answer"
    DOUBLED = "an answer that begins again"
    DEEP = "an answer without an end of its brackets"
    PAGE = "a page of a proxy"
    FAILED = "an answer with the status of a failure"
    ECHO = "the request as its own answer"
    AMOUNT = "an answer with another amount"
    FOREIGN = "the answer to another payment"


_ALTERATIONS: Mapping[Fault, Callable[[WireRequest, WireReply], WireReply]] = {
    Fault.EMPTY: lambda _request, reply: WireReply(reply.status, b""),
    Fault.NOISE: lambda _request, reply: WireReply(reply.status, bytes(range(256))),
    Fault.CUT: lambda _request, reply: WireReply(reply.status, reply.body[: len(reply.body) // 2]),
    Fault.DOUBLED: lambda _request, reply: WireReply(reply.status, reply.body * 2),
    Fault.DEEP: lambda _request, reply: WireReply(reply.status, b"[" * 100_000),
    Fault.PAGE: lambda _request, _reply: WireReply(200, b"<html><body>Bad gateway</body></html>"),
    Fault.FAILED: lambda _request, reply: WireReply(502, reply.body),
    Fault.ECHO: lambda request, reply: WireReply(reply.status, request.body),
}


class FaultyWire:
    """Carries requests to a peer, and fails at one message of an exchange, or at all of them."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.begin()
        self.late: list[WireRequest] = []
        """The requests that are still under way."""
        self.foreign: list[WireReply] = []
        """The answers to the same messages about another payment."""

    def begin(self, fault: Fault | None = None, at: int | None = None, *, is_doubled: bool = False) -> None:
        """Begins an exchange. at: the number of the message with the fault; None for all messages."""
        self._fault, self._at, self._is_doubled = fault, at, is_doubled
        self.sent: list[WireRequest] = []
        self.replies: list[WireReply] = []
        self.is_hit = False
        """Whether the fault happened."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        fault = self._fault if self._at in (None, len(self.sent)) else None
        if fault is Fault.UNSENT:
            self.is_hit = True
            raise Unsent
        self.sent.append(request)
        assert len(self.sent) <= MESSAGES_MAX, f"the exchange does not end: {request.method} {request.path}"
        if fault in (Fault.LOST, Fault.LATE):
            self.is_hit = True
            self.late += [request] if fault is Fault.LATE else []
            raise Silent
        reply = await self._peer.answer(request)
        if self._is_doubled:
            reply = await self._peer.answer(request)
        self.replies.append(reply)
        return reply if fault is None else self._alter(fault, request, reply)

    def _alter(self, fault: Fault, request: WireRequest, reply: WireReply) -> WireReply:
        altered: WireReply | None
        if fault is Fault.UNANSWERED:
            self.is_hit = True
            raise Silent
        if fault is Fault.AMOUNT:
            altered = self._peer.alter_amount(reply)
        elif fault is Fault.FOREIGN:
            altered = next(filter(self._peer.names_payment, self.foreign[len(self.sent) - 1 : len(self.sent)]), None)
        else:
            altered = _ALTERATIONS[fault](request, reply)
        self.is_hit = altered is not None
        return reply if altered is None else altered

    async def deliver_late(self) -> None:
        """Lets the requests arrive that are under way; nobody waits for their answers any more."""
        while self.late:
            await self._peer.answer(self.late.pop(0))
