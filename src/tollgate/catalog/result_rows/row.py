"""The shape of one row of the result tables. What its group adds (the HTTP status) is joined in `results`, not here."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A result code and what it tells the integrator."""

    code: str
    text: str
    wire_text: str = ""
    """Exact description that existing clients compare; empty where they do not."""
    http_status: int = 0
    """Only where it differs from the status of the group."""
