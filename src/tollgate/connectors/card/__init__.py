"""The card protocol: charge, follow up, repeat, reverse and inquire.

Its own words are in messages; those it shares with other protocols are in acquiring.
"""

from tollgate.connectors.acquiring import (
    FOLLOW_UP_TYPES,
    FOLLOW_UPS,
    FORCED_CODE,
    INQUIRIES,
    RESPONSES,
    REVERSALS,
    AcquirerReply,
    FollowUpMessage,
    KeyMessage,
    classify,
    follow_up,
    repeat,
)
from tollgate.connectors.card.exchanges import charge, inquire, reverse
from tollgate.connectors.card.messages import CHARGES, ChargeMessage

__all__ = [
    "CHARGES",
    "FOLLOW_UPS",
    "FOLLOW_UP_TYPES",
    "FORCED_CODE",
    "INQUIRIES",
    "RESPONSES",
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
