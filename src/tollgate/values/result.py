"""The type of a result row: what a code means and how it is answered. The rows themselves live in the catalog."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the result catalogue."""

    code: str
    group: str
    http_status: int
    text: str
    """What it means, in our own words; shown in the reference."""
    wire_text: str = ""
    """The exact description clients compare, where they do; otherwise the text goes out."""

    @property
    def description(self) -> str:
        return self.wire_text or self.text
