"""Outbound network: carries requests, and tells what never left from what was never answered.

Timeouts, size caps and the guard over addresses are enforced here; what an answer means is not decided here.
"""

from tollgate.wire.acquirer import HttpWire, Wire
from tollgate.wire.addresses import may_carry_cards
from tollgate.wire.courier import Courier, HttpCourier
from tollgate.wire.faults import Forbidden, Silent, Unsent

__all__ = ["Courier", "Forbidden", "HttpCourier", "HttpWire", "Silent", "Unsent", "Wire", "may_carry_cards"]
