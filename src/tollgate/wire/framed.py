"""One connection to an ISO 8583 host: whole frames, many messages in flight, and answers matched to their requests.

Connecting, signing on and the meaning of an answer are decided elsewhere.
"""

import asyncio
import logging
from typing import NamedTuple

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.iso8583 import codec, network
from tollgate.wire.acquirer import Silent, Unsent

_log = logging.getLogger("tollgate.wire")

_UNREAD_BYTES_MAX = 16 * 1024
"""The size of what this side still has to send, above which further messages wait."""
_CLOSED = "the acquirer closed the connection"


class _Place(NamedTuple):
    """A message in flight has a place to itself. Network messages have their own, so that no payment delays them."""

    is_network: bool
    match: codec.Match


class _Waiting(NamedTuple):
    answer_type: str
    reference: str
    """The retrieval reference number, because trace numbers are used again: a late answer may have the same one."""
    answered: asyncio.Future[bytes]


class FramedConnection:
    """Sends messages over an open connection and hands each answer to the one who waits for it.

    It is closed for good by the first frame that cannot be read, because nothing tells where the next one begins.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(_UNREAD_BYTES_MAX)
        self._in_flight: dict[_Place, _Waiting] = {}
        self._queued = 0
        self._changed = asyncio.Event()
        self._flushing: asyncio.Task[None] | None = None
        self._is_closed = False
        self._is_ending = False
        self.working_key: bytes | None = None
        """The key of the messages' authentication codes, once the host has given one."""
        self.heard_at = self._loop.time()
        """When the last whole message arrived, by the clock of the loop."""
        self._listening = self._loop.create_task(self._listen())

    @property
    def is_open(self) -> bool:
        """Whether it takes further messages: not once the host has signed off."""
        return not self._is_closed and not self._is_ending and not self._writer.transport.is_closing()

    async def send(self, body: bytes, *, queue_s: float, timeout_s: float) -> bytes:
        """Returns the answer, or raises Unsent or Silent.

        A message waits up to queue_s while one with the same trace number and terminal, or too many others, are in
        flight.
        """
        deadline = self._loop.time() + timeout_s
        try:
            message = codec.decode(body)
        except codec.Unreadable as fault:
            raise Unsent(str(fault)) from None
        place = _choose_place(message)
        try:
            async with asyncio.timeout(queue_s):
                await self._wait_for_room(place)
        except TimeoutError:
            raise Unsent("too many messages wait for the acquirer") from None
        waiting = _Waiting(codec.get_response_type(message.mti), _get_reference(message), self._loop.create_future())
        self._in_flight[place] = waiting
        self._write(body)
        try:
            async with asyncio.timeout_at(deadline):
                return await waiting.answered
        except TimeoutError:
            raise Silent(f"no answer within {timeout_s:g} s") from None
        finally:
            del self._in_flight[place]
            self._wake()
            self._end()

    def close(self, reason: str) -> None:
        """Ends the connection; messages in flight have no answer from now on."""
        if self._is_closed:
            return
        self._is_closed = True
        for waiting in self._in_flight.values():
            if not waiting.answered.done():
                waiting.answered.set_exception(Silent(reason))
        self._wake()
        self._listening.cancel()
        self._writer.transport.abort()

    def _end(self) -> None:
        """Ends a connection of which the host has signed off, once nothing is in flight."""
        if self._is_ending and not self._in_flight:
            self.close("the acquirer signed off")

    async def drain(self, timeout_s: float) -> None:
        """Waits until no message is in flight, or the time is over."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._in_flight:
                    await self._changed.wait()
        except TimeoutError:
            _log.warning("acquirer connection closed before all answers", extra={"in_flight": len(self._in_flight)})

    async def _wait_for_room(self, place: _Place) -> None:
        if self._queued >= LIMITS.iso8583_queue_max:
            raise Unsent("too many messages wait for the acquirer")
        self._queued += 1
        try:
            while self.is_open and self._is_busy(place):
                await self._changed.wait()
        finally:
            self._queued -= 1
        if not self.is_open:
            raise Unsent(_CLOSED)

    def _is_busy(self, place: _Place) -> bool:
        is_full = len(self._in_flight) >= LIMITS.iso8583_in_flight_max and not place.is_network
        return place in self._in_flight or is_full or self._flushing is not None

    async def _flush(self) -> None:
        """Waits until the other side has read enough of what was sent; one that reads nothing is cut off."""
        try:
            async with asyncio.timeout(LIMITS.iso8583_write_timeout_s):
                await self._writer.drain()
        except (ConnectionError, TimeoutError):
            self.close("the acquirer reads nothing")

    def _write(self, body: bytes) -> None:
        if self.working_key is not None:
            body = network.add_mac(body, self.working_key)
        # In one piece, so that the frames of two messages never mix.
        self._writer.write(codec.make_frame(body))
        if self._writer.transport.get_write_buffer_size() > _UNREAD_BYTES_MAX and self._flushing is None:
            self._flushing = self._loop.create_task(self._flush())
            self._flushing.add_done_callback(self._note_flushed)

    def _note_flushed(self, _flushing: asyncio.Task[None]) -> None:
        self._flushing = None
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _listen(self) -> None:
        reason = _CLOSED
        try:
            while True:
                length = codec.read_length(await self._reader.readexactly(codec.HEADER_BYTES))
                self._take(await self._reader.readexactly(length))
        except codec.Unreadable as fault:
            reason = "the acquirer sent what cannot be read"
            _log.warning("acquirer message unreadable: %s", fault)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self.close(reason)

    def _take(self, frame: bytes) -> None:
        message = codec.decode(frame)
        if self.working_key is not None and not network.is_authentic(frame, self.working_key):
            raise codec.Unreadable(len(frame), "MAC", "the authentication code is wrong or missing")
        self.heard_at = self._loop.time()
        place = _choose_place(message)
        if place.is_network and not codec.is_response(message):
            self._answer(message)
            return
        waiting = self._in_flight.get(place)
        is_awaited = waiting is not None and waiting[:2] == (message.mti, _get_reference(message))
        if waiting is not None and is_awaited and not waiting.answered.done():
            waiting.answered.set_result(frame)
        else:
            # Nobody waits any more. What it approves is undone by the reversal that the silence has caused.
            extra = {"mti": message.mti, "stan": place.match.stan, "terminal": place.match.terminal}
            _log.warning("acquirer answered late", extra=extra)

    def _answer(self, request: codec.Message) -> None:
        """Answers a host that asks whether this side is still there, or signs off.

        This side asks for keys itself, so one that the host sends is refused: no message would have its code.
        """
        if self._flushing is not None:
            # The host asks and reads nothing. It is cut off soon, and until then nothing more is kept for it.
            return
        code = request.fields.get(70)
        response = network.REFUSED if code == network.NetworkCode.KEY_EXCHANGE else network.APPROVED
        self._write(codec.encode(network.make_response(request, response=response)))
        if code == network.NetworkCode.SIGN_OFF:
            self._is_ending = True
            self._wake()
            self._loop.call_soon(self._end)


def _get_reference(message: codec.Message) -> str:
    return message.fields.get(37, "")


def _choose_place(message: codec.Message) -> _Place:
    return _Place(codec.is_network(message), codec.get_match(message))
