"""How often an operation may be asked for, as rows that the configuration switches on. Counting is done elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from tollgate.catalog.limits import LIMITS
from tollgate.values import SECOND

_MINUTE_S = 60
_HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Throttle:
    operation: str
    counted_by: Literal["entity", "id", "row", "address"]
    """The caller; what it asks for; the row of what it asks for, which all processes share; or where it calls from."""
    count: int
    window_s: int
    is_on: bool = False
    """All rows but the checkout status wait for the configuration."""
    is_on_when_live: bool = False
    """A test host does without it: there, one address is many shoppers."""


_ROWS = (
    # The specification's own number, and it holds for any number of processes.
    Throttle("read_checkout", "row", 2, _MINUTE_S, is_on=True),
    Throttle(
        "submit_checkout",
        "address",
        LIMITS.checkout_attempts_per_address_max,
        LIMITS.checkout_lifetime // SECOND,
        is_on_when_live=True,
    ),
    Throttle("create_checkout", "entity", 600, _MINUTE_S),
    Throttle("update_checkout", "id", 200, _MINUTE_S),
    Throttle("create_payment", "entity", 600, _MINUTE_S),
    Throttle("read_payment", "id", 2, _MINUTE_S),
    Throttle("follow_up", "id", 200, _MINUTE_S),
    Throttle("create_registration", "entity", 600, _MINUTE_S),
    Throttle("read_registration", "id", 100, _HOUR_S),
    Throttle("read_secure_registration", "id", 100, _HOUR_S),
    Throttle("update_registration", "id", 200, _MINUTE_S),
    Throttle("delete_registration", "id", 200, _MINUTE_S),
    Throttle("extend_registration", "id", 200, _MINUTE_S),
    Throttle("pay_registration", "id", 200, _MINUTE_S),
    Throttle("authenticate", "entity", 600, _MINUTE_S),
    Throttle("read_authentication", "id", 2, _MINUTE_S),
    Throttle("schedule", "entity", 200, _MINUTE_S),
    Throttle("read_schedule", "id", 100, _HOUR_S),
    Throttle("reschedule", "id", 200, _MINUTE_S),
    Throttle("deschedule", "id", 200, _MINUTE_S),
    Throttle("delete_schedule", "id", 200, _MINUTE_S),
    Throttle("query", "id", 2, _MINUTE_S),
    Throttle("query_list", "entity", 2, _MINUTE_S),
    Throttle("reconciliations", "entity", 60, _MINUTE_S),
    Throttle("result_codes", "entity", 60, _MINUTE_S),
)

THROTTLES: Mapping[str, Throttle] = MappingProxyType({row.operation: row for row in _ROWS})
