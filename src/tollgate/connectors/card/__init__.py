"""The card protocol: charge, follow up, repeat, reverse and inquire.

The protocol's words are in messages, their meaning in exchanges.
"""

from tollgate.connectors.card.exchanges import FORCED_CODE, charge, classify, follow_up, inquire, repeat, reverse
from tollgate.connectors.card.messages import (
    CHARGES,
    FOLLOW_UP_TYPES,
    FOLLOW_UPS,
    INQUIRIES,
    REVERSALS,
    AcquirerReply,
    ChargeMessage,
    FollowUpMessage,
    KeyMessage,
)

__all__ = [
    "CHARGES",
    "FOLLOW_UPS",
    "FOLLOW_UP_TYPES",
    "FORCED_CODE",
    "INQUIRIES",
    "REVERSALS",
    "AcquirerReply",
    "ChargeMessage",
    "FollowUpMessage",
    "KeyMessage",
    "charge",
    "classify",
    "follow_up",
    "inquire",
    "repeat",
    "reverse",
]
