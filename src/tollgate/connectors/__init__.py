"""One file or folder per protocol; each thinks and none talks.

The driver in `steps` carries what they yield to a wire.
"""

from tollgate.connectors import card, redirect, sepa, threeds, tokens
from tollgate.connectors.exchange import Connector, Conversation, Exchange, WireReply, WireRequest
from tollgate.connectors.table import get_connector

__all__ = [
    "Connector",
    "Conversation",
    "Exchange",
    "WireReply",
    "WireRequest",
    "card",
    "get_connector",
    "redirect",
    "sepa",
    "threeds",
    "tokens",
]
