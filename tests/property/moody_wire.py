"""A wire with moods, to an acquirer with a ledger of its own: it may answer, refuse, dawdle, fall silent or die.

The mood belongs to the one who asks, so that two who ask at once may meet two moods.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from enum import StrEnum

import msgspec

from acquirer_ledger import Entry, Ledger
from tollgate.connectors import acquiring
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.wire import Silent, Unsent

GARBLED = b'{"status":"appro'
PENDING = b'{"status":"pending","message":"Wait"}'

_read_reply = msgspec.json.Decoder(acquiring.AcquirerReply).decode
_read_entries = msgspec.json.Decoder(dict[str, Entry]).decode


class Killed(BaseException):
    """The process is gone; nothing in it may catch this."""


class Mood(StrEnum):
    WILLING = "willing"
    UNWILLING = "unwilling"
    SLOW = "says that it will tell later"
    SLOW_AND_UNWILLING = "will tell later that it refused"
    DEAF = "hears nothing and says nothing"
    MUTE = "acts and says nothing"
    GARBLED = "acts and says something unreadable"
    BROKEN = "fails before acting"
    UNREACHABLE = "cannot be reached"
    BELATED = "says nothing, and the message arrives later"
    KILLED_BEFORE = "the process dies before the message arrives"
    KILLED_AFTER = "the process dies after the message arrived"
    OVERTAKEN = "answers when nobody expects it any more"


DEADLY = (Mood.KILLED_BEFORE, Mood.KILLED_AFTER)
_UNWILLING = (Mood.UNWILLING, Mood.SLOW_AND_UNWILLING)
_SLOW = (Mood.SLOW, Mood.SLOW_AND_UNWILLING)

MOOD: ContextVar[Mood] = ContextVar("mood", default=Mood.WILLING)


class MoodyWire:
    def __init__(self) -> None:
        self.ledger = Ledger()
        self.received: dict[str, str] = {}
        """The answer to the first message of each key: a word, or the code of a decline."""
        self.belated: list[WireRequest] = []
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        """This runs while an answer is overtaken."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        mood = MOOD.get()
        self.fail_before_acting(request, mood)
        if mood is Mood.BROKEN:
            self.tell(request, "silent")
            return WireReply(503, GARBLED)
        body = self.ledger.act(request.path, request.body, is_willing=mood not in _UNWILLING)
        if mood is Mood.KILLED_AFTER:
            raise Killed
        if mood is Mood.MUTE:
            self.tell(request, "silent")
            raise Silent
        if mood is Mood.GARBLED:
            self.tell(request, "silent")
            return WireReply(200, GARBLED)
        if mood in _SLOW:
            self.tell(request, "pending")
            return WireReply(200, PENDING)
        if mood is Mood.OVERTAKEN and self.meanwhile is not None:
            MOOD.set(Mood.WILLING)
            await self.meanwhile()
            self.tell(request, "overtaken")
        reply = _read_reply(body)
        self.tell(request, reply.response_code if reply.status == "declined" else reply.status)
        return WireReply(200, body)

    def fail_before_acting(self, request: WireRequest, mood: Mood) -> None:
        match mood:
            case Mood.KILLED_BEFORE:
                raise Killed
            case Mood.UNREACHABLE:
                self.tell(request, "unsent")
                raise Unsent
            case Mood.BELATED:
                self.belated.append(request)
                self.tell(request, "silent")
                raise Silent
            case Mood.DEAF:
                self.tell(request, "silent")
                raise Silent

    def tell(self, request: WireRequest, word: str) -> None:
        self.received.setdefault(request.key, word)

    def deliver_belated(self) -> None:
        while self.belated:
            request = self.belated.pop()
            self.ledger.act(request.path, request.body)

    def read_ledger(self) -> dict[str, Entry]:
        return _read_entries(self.ledger.report())
