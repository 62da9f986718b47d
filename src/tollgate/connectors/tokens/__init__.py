"""Network tokens, the side of the token requestor: get a token for a stored card, use it, hear of it, give it back.

The words are in messages, the reasons for a no in reasons, the talk in conversations.
"""

from tollgate.connectors.tokens.conversations import (
    Cryptogram,
    TokenTold,
    can_have_token,
    describe_use,
    inquire,
    make_network_token,
    provision,
    read_event,
    remove,
    request_cryptogram,
)
from tollgate.connectors.tokens.messages import (
    CRYPTOGRAMS,
    DELETIONS,
    INQUIRIES,
    NETWORKS,
    PROVISIONS,
    CardReply,
    CryptogramMessage,
    CryptogramReply,
    EventMessage,
    KeyMessage,
    ProvisionMessage,
    TokenReply,
    write_message,
)
from tollgate.connectors.tokens.reasons import REASONS, SILENT, Reason, get_reason

__all__ = [
    "CRYPTOGRAMS",
    "DELETIONS",
    "INQUIRIES",
    "NETWORKS",
    "PROVISIONS",
    "REASONS",
    "SILENT",
    "CardReply",
    "Cryptogram",
    "CryptogramMessage",
    "CryptogramReply",
    "EventMessage",
    "KeyMessage",
    "ProvisionMessage",
    "Reason",
    "TokenReply",
    "TokenTold",
    "can_have_token",
    "describe_use",
    "get_reason",
    "inquire",
    "make_network_token",
    "provision",
    "read_event",
    "remove",
    "request_cryptogram",
    "write_message",
]
