"""The card protocol: charge, reverse and inquire. The protocol's words are in messages, their meaning in exchanges."""

from tollgate.connectors.card.exchanges import FORCED_CODE, charge, classify, inquire, reverse
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
    "FORCED_CODE",
    "INQUIRIES",
    "REVERSALS",
    "AcquirerReply",
    "ChargeMessage",
    "KeyMessage",
    "charge",
    "classify",
    "inquire",
    "reverse",
]
