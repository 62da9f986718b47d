"""The crash points of deliveries of events, as rows. No engine here."""

from __future__ import annotations

from crash.crashes import Ending, Kill
from crash.delivery_cases import EVENT, ROTATED, DeliveryCrash

_PAID = "DB approved `000.100.112`, executed once; delivery delivered"
ONCE, TWICE = Ending(f"{_PAID}; heard once", ""), Ending(f"{_PAID}; heard twice", "")
ANNOUNCED, PENDING, DELIVERED = (
    f"DB approved, {each}" for each in ("event announced", "delivery pending", "delivery delivered")
)

DELIVERY_CRASHES = (
    DeliveryCrash(401, EVENT, Kill("before events passed on"), (ONCE,)),
    # The lane of the endpoint may have gone on before the crash.
    DeliveryCrash(402, EVENT, Kill("during events passed on", (ANNOUNCED, PENDING, DELIVERED)), (ONCE, TWICE)),
    DeliveryCrash(403, EVENT, Kill("after events passed on"), (ONCE,)),
    DeliveryCrash(404, EVENT, Kill("before delivery request"), (ONCE,)),
    DeliveryCrash(405, EVENT, Kill("during delivery request", (PENDING, DELIVERED)), (ONCE, TWICE)),
    DeliveryCrash(406, EVENT, Kill("after delivery request"), (TWICE,)),
    DeliveryCrash(407, EVENT, Kill("during delivery ended", (PENDING, DELIVERED)), (ONCE, TWICE)),
    DeliveryCrash(408, EVENT, Kill("after delivery ended"), (ONCE,)),
    DeliveryCrash(409, ROTATED, Kill("after delivery attempt recorded"), (TWICE,)),
)
