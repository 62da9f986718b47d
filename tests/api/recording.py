"""A small acquirer in a thread: it speaks the card protocol over HTTP and records every message."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from listening import Listener, Responder

ACQUIRER_TIMEOUT_S = 20
"""The shared server waits longer for an acquirer than for a request, so that the two limits can be told apart."""

APPROVED = {
    "status": "approved",
    "response_code": "00",
    "message": "Approved",
    "authorization_code": "A1B2C3",
    "reference": "R-1",
    "institute": "Recording Bank",
}


class RecordingAcquirer(Listener):
    """Answers what `reply` says, approval unless a test puts something else there."""

    def __init__(self) -> None:
        self.reply: Mapping[str, str] = APPROVED
        self.received: list[tuple[str, Mapping[str, str], Any]] = []
        """(path, headers, message), oldest first."""
        self._may_answer = threading.Event()
        self._may_answer.set()

    @property
    def last_charge(self) -> Any:
        return next(message for path, _, message in reversed(self.received) if path == "/v1/charges")

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Holds every answer back until the test has seen what it wants, as long as the server waits for an answer."""
        self._may_answer.clear()
        try:
            yield
        finally:
            self._may_answer.set()

    def make_responder(self) -> type[Responder]:
        acquirer = self

        class AcquirerResponder(Responder):
            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                acquirer.received.append((self.path, headers, json.loads(self.read_body())))
                acquirer._may_answer.wait(ACQUIRER_TIMEOUT_S)
                self.give(json.dumps(acquirer.reply).encode())

        return AcquirerResponder
