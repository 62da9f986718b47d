"""A merchant's receiver of webhooks: it writes down every request, and answers, hangs or resets as it is told."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from listening import Listener, Responder
from tollgate.values import Secret
from tollgate.vault.webhooks import EncryptedBody, decrypt_body

HANG, RESET = 0, -1
"""Instead of answering with a status, a receiver may do one of these."""

_HANG_S = 120.0
_RESETTING = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """The time by the monotonic clock."""
    answered: int
    """The status of the answer, or what was done instead."""

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def sequence(self) -> int:
        return int(self.headers["webhook-sequence"])

    def open(self, secret: Secret) -> Any:
        """Decrypts the raw body."""
        iv, tag = self.headers["x-initialization-vector"], self.headers["x-authentication-tag"]
        return json.loads(decrypt_body(EncryptedBody(iv, tag, self.body.decode()), secret))


@dataclass
class Receiver(Listener):
    choose: Callable[[int], int] = lambda _number: 200
    """Returns the status for a call, which is counted from 1; or HANG or RESET."""
    headers: Mapping[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _may_answer: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def list_calls(self) -> list[Call]:
        with self._lock:
            return list(self.calls)

    def count_events(self) -> Counter[str]:
        """Counts how often each event came."""
        return Counter(call.event_id for call in self.list_calls())

    def let_go(self) -> None:
        """Answers the requests that hang."""
        self._may_answer.set()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go()
        super().__exit__(kind, fault, trace)

    def make_responder(self) -> type[Responder]:
        receiver = self

        class Hook(Responder):
            def do_POST(self) -> None:
                self._receive()

            def do_GET(self) -> None:
                self._receive()

            def _receive(self) -> None:
                body, parts = self.read_body(), urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                with receiver._lock:
                    answered = receiver.choose(len(receiver.calls) + 1)
                    query = dict(parse_qsl(parts.query))
                    call = Call(self.command, parts.path, query, headers, body, time.monotonic(), answered)
                    receiver.calls.append(call)
                if answered == RESET:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETTING)
                    self.connection.close()
                    self.close_connection = True
                    return
                if answered == HANG:
                    receiver._may_answer.wait(_HANG_S)
                self.give(b"thank you", answered or 200, **receiver.headers)

            def finish(self) -> None:
                try:
                    super().finish()
                except OSError:
                    # The connection was reset on purpose, or the sender is gone.
                    self.close_connection = True

        return Hook
