"""A receiver of webhooks for tests: it keeps what it gets, and answers with the status that its path ends with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from listening import Listener, Responder
from tollgate.values import Secret
from tollgate.vault.webhooks import EncryptedBody, decrypt_body

REFUSAL = b"<b>not now</b>"


@dataclass(frozen=True)
class Got:
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def is_replay(self) -> bool:
        return self.headers.get("webhook-replay") == "true"

    def decrypt(self, secret: str) -> Any:
        iv, tag = self.headers["x-initialization-vector"], self.headers["x-authentication-tag"]
        return json.loads(decrypt_body(EncryptedBody(iv, tag, self.body.decode()), Secret(secret)))


class Receiver(Listener):
    def __init__(self) -> None:
        self.got: list[Got] = []

    def make_responder(self) -> type[Responder]:
        got = self.got

        class Answering(Responder):
            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                got.append(Got(self.path, headers, self.read_body()))
                word = self.path.rpartition("/")[2]
                status = int(word) if word.isdigit() else 200
                self.give(b"" if status < 400 else REFUSAL, status)

        return Answering

    def list_got(self, path: str) -> list[Got]:
        return [each for each in self.got if each.path == path]
