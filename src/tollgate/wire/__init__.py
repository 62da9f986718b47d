"""Outbound network: carries requests, and tells what never left from what was never answered.

Timeouts, size caps and the guard over addresses are enforced here; what an answer means is not decided here.
"""

from tollgate.wire.acquirer import Forbidden, HttpWire, Silent, Unsent, Wire
from tollgate.wire.addresses import may_carry_cards
from tollgate.wire.guard import Guard
from tollgate.wire.iso8583 import Iso8583Wire
from tollgate.wire.notifier import HttpNotifier, Notifier, Outgoing, Received
from tollgate.wire.tls import ClientTls, list_tls_faults
from tollgate.wire.wires import Wires

__all__ = [
    "ClientTls",
    "Forbidden",
    "Guard",
    "HttpNotifier",
    "HttpWire",
    "Iso8583Wire",
    "Notifier",
    "Outgoing",
    "Received",
    "Silent",
    "Unsent",
    "Wire",
    "Wires",
    "list_tls_faults",
    "may_carry_cards",
]
