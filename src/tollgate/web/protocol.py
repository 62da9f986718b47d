"""The HTTP protocol of uvicorn with bounds: how large a head may be and how long it may take.

Refusals come in our envelope; what a request asks for is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from tollgate.catalog import LIMITS
from tollgate.web.outgoing import JoinedWrites

Render = Callable[[bool], bytes]
"""Gives the JSON body of a refusal; True when the head was too large, False when it was not HTTP."""


_WHOLE: dict[str, dict[object, object]] = {"tollgate.whole": {}}


def is_whole(scope: Mapping[str, Any]) -> bool:
    """Whether the request is here to its last byte: nearly all are by the time they are looked at."""
    return scope.get("extensions") is _WHOLE


class BoundedHttp(HttpToolsProtocol):
    """A connection that cannot be used to fill memory or to wait for ever before a request is complete."""

    render_refusal: Render = staticmethod(lambda _too_large: b"{}")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        """Received since the last complete head, while one is open."""
        self._field_bytes = 0
        """In the header fields of the head being read, however it was cut into packets."""
        self._is_head_open = True
        self._is_too_large = False
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport, self.loop))
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_head_open:
            self._head_bytes += len(data)
        super().data_received(data)
        if not self._is_head_open or not self._head_bytes or self.transport.is_closing():
            return
        # Part of a head is here and the rest is not: from now on it is counted and timed.
        if self._head_bytes > LIMITS.header_bytes_max:
            self._is_too_large = True
            self.send_400_response("")
        else:
            self._start_head_timer()

    def eof_received(self) -> bool:  # type: ignore[override]
        """A caller that will say no more still hears the answer it waits for; under TLS the line is gone with that."""
        if self.scheme == "https" or not self._owes_answer() or self.cycle.more_body:
            return False
        self.cycle.keep_alive = False
        return True

    def on_message_begin(self) -> None:
        self._is_head_open = True
        self._is_too_large = False
        self._field_bytes = 0
        # A head that begins in the packet that ended the last request was not counted; it has begun all the same.
        self._head_bytes = self._head_bytes or 1
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > LIMITS.path_length_max + LIMITS.query_bytes_max:
            self._refuse_size()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._field_bytes += len(name) + len(value)
        if len(self.headers) > LIMITS.headers_max or self._field_bytes > LIMITS.header_bytes_max:
            self._refuse_size()

    def on_headers_complete(self) -> None:
        self._is_head_open = False
        self._head_bytes = 0
        self._stop_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_head_open = True
        self.scope["extensions"] = _WHOLE
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002, the words are ours
        if self._owes_answer() and not self.cycle.more_body:
            # What came before the nonsense was a whole request, and may have moved money: its answer is owed, and is
            # the last one here. A client that counts its body's length in characters is answered this way.
            self.cycle.keep_alive = False
            self.flow.pause_reading()
            return
        body = self.render_refusal(self._is_too_large)
        status = b"413 Content Too Large" if self._is_too_large else b"400 Bad Request"
        head = (
            b"HTTP/1.1 %b\r\ncontent-type: application/json;charset=UTF-8\r\ncontent-length: %d\r\n"
            b"cache-control: no-store\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head % (status, len(body)) + body)
        self.transport.close()

    def _owes_answer(self) -> bool:
        # Against its declared type it is None until the first request.
        cycle = cast(RequestResponseCycle | None, self.cycle)
        return cycle is not None and not cycle.response_complete

    def _refuse_size(self) -> None:
        self._is_too_large = True
        # The parser turns whatever a callback raises into a refusal of the request.
        raise ValueError("the head of the request is too large")

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(LIMITS.read_timeout_s, self._give_up)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._owes_answer():
            # An answer is still owed on this connection; whoever pipelines slowly waits for it first.
            self._start_head_timer()
        else:
            self.transport.close()
