"""A small acquirer in a thread: speaks the card protocol over HTTP and remembers every word it was told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from listening import Door, Listener

ACQUIRER_TIMEOUT_S = 20
"""What the shared server waits for an acquirer: longer than for a request, so that the two limits can be told apart."""

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

    @property
    def last_charge(self) -> Any:
        return next(message for path, _, message in reversed(self.received) if path == "/v1/charges")

    def make_door(self) -> type[Door]:
        acquirer = self

        class AcquirerDoor(Door):
            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                acquirer.received.append((self.path, headers, json.loads(self.read_body())))
                self.give(json.dumps(acquirer.reply).encode())

        return AcquirerDoor
