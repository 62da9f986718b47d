"""The crash points of a payment whose first acquirer account cannot be reached, as rows. No engine here."""

from __future__ import annotations

from crash.crashes import Crash, Kill, Request
from crash.payment_crashes import given_back, never_taken, taken

_MOVED = Request("DB", title="DB whose first account cannot be reached")

ROUTING_CRASHES = (
    Crash(51, _MOVED, Kill("before account changed"), (never_taken("DB"),)),
    Crash(52, _MOVED, Kill("during account changed", ("DB started",)), (never_taken("DB"), given_back("DB"))),
    Crash(53, _MOVED, Kill("after account changed"), (never_taken("DB"),)),
    Crash(54, _MOVED, Kill("after charge request"), (given_back("DB"),)),
    Crash(55, _MOVED, Kill("after completion"), (taken("DB"),)),
)
