"""The shape of one row of the result tables, and what causes its code.
What a group adds (the HTTP status) is joined in `results`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Origin(Enum):
    """Names the party that decides to answer a code."""

    GATEWAY = "decided here"
    PARTNER = "only by an acquirer, bank, issuer or provider"
    FAULT = "not answered: `200.300.404` names the parameter"
    OTHER_CODE = "not answered: another code tells it"
    UNTOLD = "only forced in the sandbox: no message from a partner tells it"
    LATER = "later: risk rules"
    ABSENT = "feature that does not exist here"

    @property
    def is_answered(self) -> bool:
        """Whether the code can be answered without being forced in the sandbox."""
        return self in (Origin.GATEWAY, Origin.PARTNER)


class Cause(NamedTuple):
    """What makes the gateway answer a code, or why nothing here does."""

    origin: Origin
    words: str


class Row(NamedTuple):
    """A result code and what it tells the integrator."""

    code: str
    text: str
    wire_text: str = ""
    """Exact description that existing clients compare; empty where they do not."""
    http_status: int = 0
    """Only where it differs from the status of the group."""
    cause: Cause | None = None
    """None where a row of `declines` says when it is answered."""


def join_causes(*items: Cause | Row) -> tuple[Row, ...]:
    """Gives every row the cause that stands above it."""
    cause: Cause | None = None
    rows: list[Row] = []
    for item in items:
        if isinstance(item, Cause):
            cause = item
        else:
            rows.append(item._replace(cause=cause))
    return tuple(rows)
