"""Plain HTTP beside a TLS host: every request is told the https address with 307. No body is read."""

from __future__ import annotations

import msgspec

from tollgate.values import Refusal
from tollgate.web import Head, Reply, Visit, redirect


class Redirector:
    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def admit(self, head: Head, peer: str, *, is_secure: bool) -> Visit:  # noqa: ARG002
        reply = msgspec.structs.replace(redirect(self._base_url, head), is_last=True)
        return Visit("", "", head.method, head.path, head=head, refused=reply)

    async def answer(self, visit: Visit, body: bytes) -> Reply:  # noqa: ARG002
        raise LookupError("every request is answered by its head")

    def refuse(self, refusal: Refusal, visit: Visit | None) -> Reply:  # noqa: ARG002
        """Sends a request that cannot be read to the front page."""
        return Reply(307, b"", b"text/plain", ((b"location", f"{self._base_url}/".encode()),), is_last=True)

    def conclude(self, visit: Visit, reply: Reply | None) -> None:
        """Redirects are neither counted nor logged."""
