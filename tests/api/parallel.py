"""Many requests released in the same instant, on connections that are open already. What they ask is elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from api.sockets import connect, read_all, render, split_answers
from gateway import Answer, Client

PATIENCE_S = 300.0
STILL_RUNNING = "800.600.100"


@dataclass(frozen=True)
class Shot:
    client: Client
    named_id: str
    fields: Mapping[str, str]
    key: str | None = None
    """Shots with the same idempotency key are one request that was sent several times."""

    def render(self) -> bytes:
        headers = {**self.client.authorized(), "Content-Type": "application/x-www-form-urlencoded"}
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        body = urlencode({"entityId": self.client.entity_id, **self.fields}).encode()
        return render("POST", f"/v1/payments/{self.named_id}", headers.items(), body)


def fire(shots: Sequence[Shot]) -> list[Answer]:
    """Returns the answers in the order of the shots.

    The servers hold all of every request but its last byte before any of them is complete: that is the barrier, and a
    tighter one than threads can be.
    """
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(shot.client, PATIENCE_S)) for shot in shots]
        requests = [shot.render() for shot in shots]
        for connection, request in zip(connections, requests, strict=True):
            connection.sendall(request[:-1])
        for connection, request in zip(connections, requests, strict=True):
            connection.sendall(request[-1:])
        return [_read_one(read_all(connection)) for connection in connections]


def _read_one(stream: bytes) -> Answer:
    (answer,) = split_answers(stream)
    return answer


def insist(shot: Shot, answer: Answer) -> Answer:
    """Asks again, as a careful shop does, while the first request with the key is still running."""
    deadline = time.monotonic() + PATIENCE_S
    while shot.key is not None and (answer.status, answer.code) == (409, STILL_RUNNING):
        assert time.monotonic() < deadline, f"the request with key {shot.key} is still running after {PATIENCE_S} s"
        time.sleep(0.01)
        (answer,) = fire([shot])
    return answer
