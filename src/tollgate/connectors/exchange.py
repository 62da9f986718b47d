"""The seam between thinking and talking: a connector is a generator that yields requests and returns a verdict.

No I/O here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

import msgspec

from tollgate.payments import Verdict


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One message to an acquirer. The key belongs to the attempt, so that a repeat is recognised as one."""

    path: str
    body: bytes
    key: str
    levers: Mapping[str, str] = {}
    """What a simulator is asked to do; a wire to a real system drops it."""


class WireReply(msgspec.Struct, frozen=True):
    status: int
    body: bytes


Exchange = Generator[WireRequest, WireReply, Verdict]
