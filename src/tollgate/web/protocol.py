"""One connection of HTTP/1.1: requests are read one after the other, served, and answered in order.

Everything has a bound: the head and the body in size and time, the answer in the time that the client takes to read it.
A pipelined request is not looked at before the one ahead of it is answered, so it costs no more than the bytes of one
read. What a request asks for is not known here.
"""

import asyncio
from contextlib import aclosing
from math import inf
from socket import SO_LINGER, SOL_SOCKET
from struct import pack
from typing import Protocol, cast

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.values import Refusal, TooSlow
from tollgate.web import parsing, request
from tollgate.web.connections import CONTINUE, LAST_CHUNK, Connections, render_chunk, render_reply
from tollgate.web.server import BrokenStream

_block = memoryview(bytearray(LIMITS.read_block_bytes))
"""Every read of this process goes here and is copied out before the next one."""


class Application(Protocol):
    """Serves requests: it decides on the head first, then answers the whole request."""

    def admit(self, head: parsing.Head, peer: str, *, is_secure: bool) -> request.RequestContext: ...

    async def answer(self, context: request.RequestContext, body: bytes) -> request.Reply: ...

    def refuse(self, refusal: Refusal, context: request.RequestContext | None) -> request.Reply:
        """Returns the answer to bytes that are no request, or to a body that is too large or too slow."""

    def conclude(self, context: request.RequestContext, reply: request.Reply | None) -> None:
        """Records the end of a request; `reply` is None if the client left early or the connection was reset."""


# Where a connection is, in the order of a request; looked at several times for each, so these are plain numbers.
_HEAD = 0
"""Waits for a request, or for the rest of a head."""
_BODY = 1
_ANSWERING = 2
_ANSWERED = 3
"""The next request is here already and gets the next turn of the loop."""
_ENDED = 4
"""Bytes that still arrive are discarded."""


class HttpConnection(asyncio.BufferedProtocol):
    def __init__(
        self, application: Application, connections: Connections, peer: str, address: str, *, is_secure: bool
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._application = application
        self._connections = connections
        self._peer = peer
        """The name under which it is counted."""
        self._address = address
        self._is_secure = is_secure
        self._transport: asyncio.Transport | None = None
        """It is None before the connection is made and after it is lost."""
        self._state = _HEAD
        self._reader = parsing.HeadReader()
        self._context: request.RequestContext | None = None
        self._body: parsing.SizedBody | parsing.ChunkedBody | None = None
        self._rest = b""
        """Came behind the request that is being answered; reading pauses while there is any."""
        self._is_last = False
        self._deadline = self._loop.time() + LIMITS.read_timeout_s
        self._unsent: int | None = None
        """Bytes of answers that the client has not taken, when it was last looked at; None when it took all."""
        self._write_deadline = inf
        self._task: asyncio.Task[None] | None = None
        self._has_room = asyncio.Event()
        """Is set while the next part of a long answer may be written, and when the client has gone."""
        self._has_room.set()
        self.was_made = False
        """The TLS handshake has succeeded."""

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self.was_made = cast(asyncio.Transport, transport), True
        self._transport.set_write_buffer_limits(high=1, low=0)
        self._connections.open.add(self)
        if self._connections.is_stopping:
            self._close()

    def connection_lost(self, _fault: Exception | None) -> None:
        if self._transport is None:
            return  # A handshake that failed: the connection was never made.
        self._connections.leave(self._peer)
        self._has_room.set()
        self._transport, self._rest = None, b""
        if self._state == _BODY and self._context is not None:
            self._application.conclude(self._context, None)
        if self._state != _ANSWERING:
            # A payment goes on although its client has gone, and stopping the host waits for it.
            self._connections.open.discard(self)
            self._state = _ENDED

    def get_buffer(self, _sizehint: int) -> memoryview:
        return _block

    def buffer_updated(self, nbytes: int) -> None:
        data = bytes(_block[:nbytes])
        if self._state <= _BODY:
            self._take(data)
        elif self._state != _ENDED:
            self._keep(data)

    def eof_received(self) -> bool:
        """A client that will say no more still hears the answer it waits for; TLS has no half-closed connections."""
        if self._is_secure or self._state not in (_ANSWERING, _ANSWERED):
            return False
        self._is_last = self._is_last or not self._rest
        return True

    def pause_writing(self) -> None:
        assert self._transport is not None
        self._unsent = self._transport.get_write_buffer_size()
        self._write_deadline = self._loop.time() + LIMITS.write_timeout_s
        self._has_room.clear()

    def resume_writing(self) -> None:
        self._unsent, self._write_deadline = None, inf
        self._has_room.set()
        if self._state == _ANSWERED:
            self._loop.call_soon(self._go_on)

    # Called by the regular check of all connections.

    def check(self, now: float) -> None:
        if now >= self._write_deadline:
            self._check_progress(now)
        if now < self._deadline:
            return
        self._deadline = inf
        if self._state == _BODY:
            self._refuse(TooSlow(results.get_result(codes.MALFORMED_REQUEST), "the body did not arrive in time"))
        else:
            self._close()

    def stop(self) -> None:
        self._is_last = True
        if self._state == _ANSWERED or (self._state == _HEAD and not self._reader.has_begun):
            self._close()

    def abort(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.abort()

    # A request from its first byte to its answer.

    def _take(self, data: bytes) -> None:
        at = 0
        try:
            while at < len(data) and self._state <= _BODY:
                at = self._take_head(data, at) if self._state == _HEAD else self._take_body(data, at)
        except Refusal as refusal:
            self._refuse(refusal)
            return
        if self._state == _ANSWERED:
            if at < len(data):
                self._loop.call_soon(self._go_on)
            else:
                self._state = _HEAD
        if at < len(data) and self._state != _ENDED:
            self._keep(data[at:])

    def _take_head(self, data: bytes, at: int) -> int:
        if not self._reader.has_begun:
            self._deadline = self._loop.time() + LIMITS.read_timeout_s
        at = self._reader.feed(data, at)
        if at < 0:
            return len(data)
        head = self._reader.read()
        self._reader = parsing.HeadReader()
        context = self._context = self._application.admit(head, self._address, is_secure=self._is_secure)
        length = head.body_length
        if 0 <= length <= len(data) - at:
            # Nearly every request is here to its last byte.
            self._serve(context, data[at : at + length])
            return at + length
        refused = context.refused
        if refused is not None and (refused.is_last or head.expects_continue):
            # Nobody waits for a body that will not be sent, or that is too large to be read.
            self._serve(context, b"", is_body_unread=True)
            return at
        if length == parsing.CHUNKED:
            self._body = parsing.ChunkedBody(context.body_bytes_max, is_kept=refused is None)
        else:
            self._body = parsing.SizedBody(length, is_kept=refused is None)
        self._state = _BODY
        self._deadline = self._loop.time() + LIMITS.read_timeout_s
        if head.expects_continue and at == len(data):
            self._write(CONTINUE)
        return at

    def _take_body(self, data: bytes, at: int) -> int:
        assert self._body is not None
        assert self._context is not None
        at = self._body.feed(data, at)
        if self._body.is_complete:
            self._serve(self._context, self._body.read())
        return at

    def _serve(self, context: request.RequestContext, body: bytes, *, is_body_unread: bool = False) -> None:
        self._state, self._deadline, self._body = _ANSWERING, inf, None
        if context.refused is not None and context.counting is None:
            self._finish(context, context.refused, is_body_unread=is_body_unread)
        else:
            self._task = self._loop.create_task(self._answer(context, body, is_body_unread=is_body_unread))

    async def _answer(self, context: request.RequestContext, body: bytes, *, is_body_unread: bool) -> None:
        try:
            reply = await self._application.answer(context, body)
            if reply.chunks is None:
                self._finish(context, reply, is_body_unread=is_body_unread)
            else:
                async with aclosing(reply.chunks):
                    await self._stream(context, reply)
        finally:
            self._task = None
            if self._transport is None:
                self._connections.open.discard(self)
        if self._state != _ANSWERED:
            return
        if self._rest:
            self._go_on()
        else:
            self._state = _HEAD

    def _finish(self, context: request.RequestContext, reply: request.Reply, *, is_body_unread: bool = False) -> None:
        """Write the answer; afterwards the connection is ready for the next request, or closed."""
        if reply.is_reset:
            self._application.conclude(context, None)
            self._reset()
            return
        is_last = self._is_last_answer(context, reply) or is_body_unread
        self._write(
            render_reply(reply, is_secure=context.is_secure, is_last=is_last, has_body=context.method != "HEAD")
        )
        self._conclude(context, reply, is_last=is_last, lingers=is_body_unread)

    def _is_last_answer(self, context: request.RequestContext, reply: request.Reply) -> bool:
        assert context.head is not None
        if self._is_last or reply.is_last or context.head.is_last:
            return True
        # While the host drains, what was sent before the client heard of it is still answered.
        return not _begins_request(self._rest) if self._rest else self._connections.is_draining

    async def _stream(self, context: request.RequestContext, reply: request.Reply) -> None:
        """Write an answer in parts, each when the client has taken the one before, so that memory holds one of them."""
        assert context.head is not None
        assert reply.chunks is not None
        is_last = self._is_last_answer(context, reply)
        is_chunked = not context.head.is_old
        head = render_reply(reply, is_secure=context.is_secure, is_last=is_last, is_chunked=is_chunked)
        self._write(head)
        if context.method != "HEAD":
            is_whole = False
            try:
                async for chunk in reply.chunks:
                    await self._has_room.wait()
                    if self._transport is None:
                        break
                    # An empty chunk would be the last one.
                    if chunk:
                        self._write(render_chunk(chunk) if is_chunked else chunk)
                else:
                    is_whole = True
            except BrokenStream:
                pass
            if not is_whole:
                self._application.conclude(context, None)
                self._reset()
                return
            self._write(LAST_CHUNK if is_chunked else b"")
        self._conclude(context, reply, is_last=is_last or self._is_last)

    def _conclude(
        self, context: request.RequestContext, reply: request.Reply, *, is_last: bool, lingers: bool = False
    ) -> None:
        self._context = None
        self._application.conclude(context, reply)
        if is_last:
            self._close(lingers=lingers)
        else:
            self._state = _ANSWERED
            self._deadline = self._loop.time() + LIMITS.keep_alive_s

    def _go_on(self) -> None:
        """Begin with the request that came behind the last one, unless the client does not read its answers."""
        if self._state != _ANSWERED or self._transport is None:
            return
        if self._unsent is not None:
            # Goes on when it has read them; its answers do not pile up.
            self._deadline = inf
            return
        data, self._rest = self._rest, b""
        self._state = _HEAD
        self._transport.resume_reading()
        self._take(data)

    def _keep(self, data: bytes) -> None:
        if self._transport is None:
            return
        if not self._rest:
            self._transport.pause_reading()
        self._rest += data

    def _refuse(self, refusal: Refusal) -> None:
        """Answer what cannot be read on, and close."""
        context, self._context = self._context if self._state == _BODY else None, None
        # A token whose number is not known yet is not judged: the body is refused whatever the token.
        is_judged = context is not None and context.counting is None
        reply = (context and is_judged and context.refused) or self._application.refuse(refusal, context)
        has_body = context is None or context.method != "HEAD"
        is_secure = self._is_secure if context is None else context.is_secure
        self._write(render_reply(reply, is_secure=is_secure, is_last=True, has_body=has_body))
        if context is not None:
            self._application.conclude(context, reply)
        self._close(lingers=True)

    # Writing and closing.

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _close(self, *, lingers: bool = False) -> None:
        """Closes the connection after what was written is sent.

        If it closed while the client still sends, the client's system would discard the answer. With `lingers` only our
        side is closed, and what arrives is discarded for a while.
        """
        self._state, self._rest, self._body = _ENDED, b"", None
        self._deadline = inf
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if lingers and not self._is_secure:
            self._deadline = self._loop.time() + LIMITS.linger_s
            transport.write_eof()
        else:
            transport.close()

    def _reset(self) -> None:
        """Ends the connection so that the client sees a reset instead of the end of an answer."""
        self._state, self._context, self._rest, self._deadline = _ENDED, None, b"", inf
        if self._transport is not None:
            # Without lingering, the system sends RST on closing.
            self._transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, pack("ii", 1, 0))
            self._transport.abort()

    def _check_progress(self, now: float) -> None:
        transport = self._transport
        if transport is None or self._unsent is None:
            return
        unsent = transport.get_write_buffer_size()
        if unsent > self._unsent - LIMITS.write_progress_bytes:
            self._connections.report_limit("unread", now, self._peer)
            transport.abort()
        else:
            self._unsent, self._write_deadline = unsent, now + LIMITS.write_timeout_s


def _begins_request(data: bytes) -> bool:
    """Tells whether the bytes behind a request may be another request.

    A client that counts the length of its body in characters leaves the rest of it here; its connection is then closed.
    """
    try:
        reader = parsing.HeadReader()
        if reader.feed(data, 0) >= 0:
            reader.read()
    except Refusal:
        return False
    return True
