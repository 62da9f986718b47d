"""One file or folder per protocol; each thinks and none talks.

The driver in `steps` carries what they yield to a wire.
"""

from tollgate.connectors import card
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest

__all__ = ["Exchange", "WireReply", "WireRequest", "card"]
