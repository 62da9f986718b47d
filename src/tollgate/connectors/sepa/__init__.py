"""Direct debits and credits between bank accounts in euro: what is told to the bank desk, and the banks' own files.

The desk itself, which keeps instructions until a file takes them, is not known here.
"""

from tollgate.connectors.acquiring import KeyMessage
from tollgate.connectors.sepa.exchanges import charge, follow_up, inquire, repeat, reverse
from tollgate.connectors.sepa.files import Entry, FileHead, Scheme, build_file
from tollgate.connectors.sepa.messages import (
    CANCELLATIONS,
    CHARGE_DIRECTIONS,
    INQUIRIES,
    INSTRUCTIONS,
    REVERSALS,
    CancellationMessage,
    Direction,
    InstructionMessage,
    QueueReply,
    Response,
)
from tollgate.connectors.sepa.returns import BankReturn, read_returns, write_sample_return

__all__ = [
    "CANCELLATIONS",
    "CHARGE_DIRECTIONS",
    "INQUIRIES",
    "INSTRUCTIONS",
    "REVERSALS",
    "BankReturn",
    "CancellationMessage",
    "Direction",
    "Entry",
    "FileHead",
    "InstructionMessage",
    "KeyMessage",
    "QueueReply",
    "Response",
    "Scheme",
    "build_file",
    "charge",
    "follow_up",
    "inquire",
    "read_returns",
    "repeat",
    "reverse",
    "write_sample_return",
]
