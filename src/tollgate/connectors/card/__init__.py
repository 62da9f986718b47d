"""The card protocol: charge, reverse and inquire. The protocol's words are in messages, their meaning in exchanges."""

from tollgate.connectors.card.exchanges import charge, inquire, reverse
from tollgate.connectors.card.messages import (
    CHARGES,
    INQUIRIES,
    REVERSALS,
    AcquirerReply,
    ChargeMessage,
    KeyMessage,
)

__all__ = [
    "CHARGES",
    "INQUIRIES",
    "REVERSALS",
    "AcquirerReply",
    "ChargeMessage",
    "KeyMessage",
    "charge",
    "inquire",
    "reverse",
]
