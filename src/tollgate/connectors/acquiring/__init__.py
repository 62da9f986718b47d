"""What all protocols of keyed JSON messages share: follow-ups, questions by key, and what an answer comes to.

What begins a payment is said in each protocol's own folder.
"""

from tollgate.connectors.acquiring.exchanges import (
    ACQUIRER,
    FORCED_CODE,
    SILENT,
    Dialect,
    classify,
    describe,
    follow_up,
    inquire,
    perform,
    read_verdict,
    repeat,
    reverse,
    send_again,
)
from tollgate.connectors.acquiring.messages import (
    CHARGE_TYPES,
    FOLLOW_UP_TYPES,
    FOLLOW_UPS,
    INQUIRIES,
    REVERSALS,
    AcquirerReply,
    FollowUpMessage,
    KeyMessage,
    LongText,
    ShortText,
    describe_details,
    encode_message,
    make_follow_up,
    to_minor_units,
)
from tollgate.connectors.acquiring.responses import RESPONSES

__all__ = [
    "ACQUIRER",
    "CHARGE_TYPES",
    "FOLLOW_UPS",
    "FOLLOW_UP_TYPES",
    "FORCED_CODE",
    "INQUIRIES",
    "RESPONSES",
    "REVERSALS",
    "SILENT",
    "AcquirerReply",
    "Dialect",
    "FollowUpMessage",
    "KeyMessage",
    "LongText",
    "ShortText",
    "classify",
    "describe",
    "describe_details",
    "encode_message",
    "follow_up",
    "inquire",
    "make_follow_up",
    "perform",
    "read_verdict",
    "repeat",
    "reverse",
    "send_again",
    "to_minor_units",
]
