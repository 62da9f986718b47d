"""What is known of one request while it is being served, for its answer and its log line.

Filled in as it becomes known.
"""

from __future__ import annotations

import msgspec


class Visit(msgspec.Struct):
    trace: str
    ndc: str
    method: str
    path: str
    operation: str = "unknown"
    is_for_any_origin: bool = False
