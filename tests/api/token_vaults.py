"""A small token vault in a thread: issues tokens over HTTP, remembers every word, falls silent on request."""

from __future__ import annotations

import json
from typing import Any

from listening import Listener, Responder
from tollgate.connectors import tokens

PROOF = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="


class RecordingVault(Listener):
    def __init__(self) -> None:
        self.received: list[tuple[str, Any]] = []
        """(path, message), oldest first."""
        self.statuses: dict[str, str] = {}
        """The status of each issued token, by its key."""
        self.is_broken = False

    def count(self, path: str, key: str) -> int:
        return sum(1 for asked, message in list(self.received) if asked == path and message["key"] == key)

    def find_events_url(self, key: str) -> str:
        return next(
            str(message["events_url"])
            for path, message in self.received
            if path == tokens.PROVISIONS and message["key"] == key
        )

    def answer(self, path: str, message: Any) -> dict[str, Any]:
        key = message["key"]
        if path == tokens.PROVISIONS:
            self.statuses.setdefault(key, "active")
        if path == tokens.DELETIONS:
            self.statuses[key] = "deleted"
        status = self.statuses.get(key, "unknown")
        if path == tokens.CRYPTOGRAMS:
            is_good = status == "active"
            return {"key": key, "status": "issued" if is_good else "refused", "reason": status} | (
                {"cryptogram": PROOF} if is_good else {}
            )
        number = f"489537{int(key, 16) % 10**10:010d}"
        card = {"last_digits": "9876", "expiry": "2044-12"} if status == "renewed" else None
        answered = {"key": key, "status": "active" if card else status, "reference": f"v-{key}", "number": number}
        return answered | {"expiry": "2038-01"} | ({"card": card} if card else {})

    def make_responder(self) -> type[Responder]:
        vault = self

        class VaultResponder(Responder):
            def do_POST(self) -> None:
                message = json.loads(self.read_body())
                vault.received.append((self.path, message))
                if vault.is_broken:
                    self.give(b'{"key": "\xff', 200)
                else:
                    self.give(json.dumps(vault.answer(self.path, message)).encode())

        return VaultResponder
