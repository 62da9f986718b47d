"""The row of a result code, and its cause. The HTTP status of a group is joined in `results`."""

from enum import Enum
from typing import NamedTuple


class Origin(Enum):
    """Names the party that decides to answer a code."""

    GATEWAY = "decided here"
    PARTNER = "only by an acquirer, bank, issuer or provider"
    FAULT = "not answered: `200.300.404` names the parameter"
    OTHER_CODE = "not answered: another code tells it"
    UNTOLD = "only forced in the sandbox: no message from a partner tells it"
    NAMED = "only by a risk rule that names it"
    ABSENT = "feature that does not exist here"

    @property
    def is_answered(self) -> bool:
        """Is true if the code can be answered without being forced in the sandbox."""
        return self in (Origin.GATEWAY, Origin.PARTNER, Origin.NAMED)


class Cause(NamedTuple):
    """The reason why the gateway answers a code, or why it never does."""

    origin: Origin
    words: str


class Row(NamedTuple):
    """A result code and its text for the integrator."""

    code: str
    text: str
    wire_text: str = ""
    """The exact description that existing clients compare, if they do."""
    http_status: int = 0
    """The status, where it differs from that of the group."""
    cause: Cause | None = None
    """A code that a row of `declines` causes has none."""


def join_causes(*items: Cause | Row) -> tuple[Row, ...]:
    """Gives every row the cause above it."""
    cause: Cause | None = None
    rows: list[Row] = []
    for item in items:
        if isinstance(item, Cause):
            cause = item
        else:
            rows.append(item._replace(cause=cause))
    return tuple(rows)
