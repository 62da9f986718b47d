"""What is known of one request while it is being served, for its answer and its log line.

Filled in as it becomes known.
"""

from __future__ import annotations

import msgspec

from tollgate.payments.merchants import Credential
from tollgate.web.head import Head
from tollgate.web.request import Reply
from tollgate.web.routes import Match


class Visit(msgspec.Struct):
    trace: str
    ndc: str
    method: str
    path: str
    """Returns the form that a log may show."""
    operation: str = "unknown"
    is_for_any_origin: bool = False
    checkout_id: str = ""
    """The ndc of refusals of a checkout's form. Whoever has this id can pay the checkout, so no log shows it."""
    head: Head | None = None
    match: Match | None = None
    address: str = ""
    is_secure: bool = False
    body_bytes_max: int = 0
    credential: Credential | None = None
    """Found by the Authorization header, before the body is read."""
    began: float = 0.0
    warning: bytes = b""
    """On a test host: the parameters that have no row in the catalogue."""
    refused: Reply | None = None
    """The answer if the head alone was reason to refuse; the body is then not read."""

    @property
    def refusal_ndc(self) -> str:
        """Returns the ndc of a refusal: the checkout's id for a payment form, the request's own trace otherwise."""
        return self.checkout_id or self.ndc
