"""The redirect protocol: a session at a bank or provider, on whose page the shopper decides.

Its own words are in messages; what follows a payment is said as all acquirers understand it.
"""

from tollgate.connectors.acquiring import follow_up, repeat
from tollgate.connectors.redirect.exchanges import charge, inquire, reverse
from tollgate.connectors.redirect.messages import (
    SESSION_CANCELLATIONS,
    SESSION_INQUIRIES,
    SESSIONS,
    TRANSFER,
    FieldReply,
    ForwardReply,
    ProviderAccount,
    SessionAccount,
    SessionMessage,
    SessionReply,
)

__all__ = [
    "SESSIONS",
    "SESSION_CANCELLATIONS",
    "SESSION_INQUIRIES",
    "TRANSFER",
    "FieldReply",
    "ForwardReply",
    "ProviderAccount",
    "SessionAccount",
    "SessionMessage",
    "SessionReply",
    "charge",
    "follow_up",
    "inquire",
    "repeat",
    "reverse",
]
