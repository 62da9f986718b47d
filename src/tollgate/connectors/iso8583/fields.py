"""The data elements of ISO 8583:1987 as rows, and the tags of the private element 48. Nothing is encoded here."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any


class Size(IntEnum):
    """The way in which the length of an element is known; the numbers count the digits before its text."""

    FIXED = 0
    LLVAR = 2
    LLLVAR = 3


class Kind(StrEnum):
    """The characters that an element may have."""

    N = "n"
    """Digits."""
    AN = "an"
    """Letters and digits, padded with blanks on the right."""
    ANS = "ans"
    """Any printable character of ASCII."""
    B = "b"
    """Bytes, which a message shows as hexadecimal digits."""


class Secrecy(StrEnum):
    """The part of an element that a transcript may show."""

    SHOWN = "shown"
    MASKED = "masked"
    """The number of an account: the first six and the last four digits."""
    HIDDEN = "hidden"
    """It proves that somebody has the account, or names a person."""
    NEVER = "never"
    """A message with it is refused, in both directions: nothing here may see a track or a PIN."""


class Form(StrEnum):
    """The dates and times among the elements, by their parts."""

    DATE = "MMDD"
    TIME = "hhmmss"
    DATE_TIME = "MMDDhhmmss"
    MONTH = "YYMM"
    DAY = "YYMMDD"


@dataclass(frozen=True, slots=True)
class Element:
    number: int
    name: str
    size: Size
    kind: Kind
    length: int
    """The length of a fixed element, the greatest length of others; bytes are counted in bytes."""
    secrecy: Secrecy = Secrecy.SHOWN
    form: Form | None = None


_FIXED, _LL, _LLL = Size.FIXED, Size.LLVAR, Size.LLLVAR
_N, _AN, _ANS, _B = Kind.N, Kind.AN, Kind.ANS, Kind.B

_ROWS = (
    Element(2, "primary account number", _LL, _N, 19, Secrecy.MASKED),
    Element(3, "processing code", _FIXED, _N, 6),
    Element(4, "amount of the transaction", _FIXED, _N, 12),
    Element(5, "amount of the settlement", _FIXED, _N, 12),
    Element(6, "amount charged to the cardholder", _FIXED, _N, 12),
    Element(7, "transmission date and time", _FIXED, _N, 10, form=Form.DATE_TIME),
    Element(9, "conversion rate of the settlement", _FIXED, _N, 8),
    Element(10, "conversion rate for the cardholder", _FIXED, _N, 8),
    Element(11, "system trace audit number", _FIXED, _N, 6),
    Element(12, "local time", _FIXED, _N, 6, form=Form.TIME),
    Element(13, "local date", _FIXED, _N, 4, form=Form.DATE),
    Element(14, "expiry of the card", _FIXED, _N, 4, form=Form.MONTH),
    Element(15, "settlement date", _FIXED, _N, 4, form=Form.DATE),
    Element(16, "conversion date", _FIXED, _N, 4, form=Form.DATE),
    Element(17, "capture date", _FIXED, _N, 4, form=Form.DATE),
    Element(18, "merchant category", _FIXED, _N, 4),
    Element(19, "country of the acquirer", _FIXED, _N, 3),
    Element(22, "entry mode", _FIXED, _N, 3),
    Element(23, "sequence number of the card", _FIXED, _N, 3),
    Element(24, "network identifier", _FIXED, _N, 3),
    Element(25, "condition code", _FIXED, _N, 2),
    Element(32, "acquiring institution", _LL, _N, 11),
    Element(33, "forwarding institution", _LL, _N, 11),
    Element(35, "track 2", _LL, _ANS, 37, Secrecy.NEVER),
    Element(36, "track 3", _LLL, _ANS, 104, Secrecy.NEVER),
    Element(37, "retrieval reference number", _FIXED, _AN, 12),
    Element(38, "approval code", _FIXED, _AN, 6),
    Element(39, "response code", _FIXED, _AN, 2),
    Element(40, "service restriction code", _FIXED, _AN, 3),
    Element(41, "terminal", _FIXED, _ANS, 8),
    Element(42, "merchant number", _FIXED, _ANS, 15),
    Element(43, "merchant name and location", _FIXED, _ANS, 40),
    Element(44, "additional response data", _LL, _ANS, 25),
    Element(45, "track 1", _LL, _ANS, 76, Secrecy.NEVER),
    Element(48, "private data", _LLL, _ANS, 999),
    Element(49, "currency of the transaction", _FIXED, _N, 3),
    Element(50, "currency of the settlement", _FIXED, _N, 3),
    Element(51, "currency of the cardholder", _FIXED, _N, 3),
    Element(52, "PIN", _FIXED, _B, 8, Secrecy.NEVER),
    Element(53, "security information of the PIN", _FIXED, _N, 16, Secrecy.NEVER),
    Element(54, "additional amounts", _LLL, _AN, 120),
    # The data of a chip repeats track 2.
    Element(55, "data of the chip", _LLL, _B, 255, Secrecy.NEVER),
    Element(63, "scheme transaction id", _LLL, _ANS, 128),
    Element(64, "message authentication code", _FIXED, _B, 8),
    Element(70, "network management code", _FIXED, _N, 3),
    Element(73, "action date", _FIXED, _N, 6, form=Form.DAY),
    Element(90, "original data elements", _FIXED, _N, 42),
    Element(95, "replacement amounts", _FIXED, _AN, 42),
    Element(102, "first account", _LL, _ANS, 28, Secrecy.HIDDEN),
    Element(103, "second account", _LL, _ANS, 28, Secrecy.HIDDEN),
    Element(128, "message authentication code", _FIXED, _B, 8),
)

ELEMENTS: Mapping[int, Element] = MappingProxyType({row.number: row for row in _ROWS})


class Tag(StrEnum):
    """The tags of element 48. Each is followed by three digits, the length of its value."""

    KEY = "01"
    ORIGINAL_KEY = "02"
    REASON = "03"
    CVV2 = "10"
    CVV2_RESULT = "11"
    AVS_RESULT = "12"
    NUMBER_TYPE = "13"
    CRYPTOGRAM = "14"
    WALLET = "15"
    DTVC = "16"
    ECI = "20"
    CAVV = "21"
    XID = "22"
    THREEDS_VERSION = "23"
    DS_TRANSACTION = "24"
    ACS_TRANSACTION = "25"
    THREEDS_STATUS = "26"
    EXEMPTION = "27"
    STORED_MODE = "30"
    STORED_SOURCE = "31"
    STORED_TYPE = "32"
    STORED_REFERENCE = "33"
    INDUSTRY_PRACTICE = "34"
    INSTALLMENTS = "35"
    ADVICE = "40"
    WORKING_KEY = "90"
    CHECK_VALUE = "91"


@dataclass(frozen=True, slots=True)
class TagRow:
    name: str
    length_max: int
    secrecy: Secrecy = Secrecy.SHOWN


TAGS: Mapping[str, TagRow] = MappingProxyType(
    {
        Tag.KEY: TagRow("key of the request", 64),
        Tag.ORIGINAL_KEY: TagRow("key of the original request", 64),
        Tag.REASON: TagRow("reason of an authorization that names another", 16),
        Tag.CVV2: TagRow("CVV2", 4, Secrecy.HIDDEN),
        Tag.CVV2_RESULT: TagRow("result of the CVV2 check", 1),
        Tag.AVS_RESULT: TagRow("result of the address check", 1),
        Tag.NUMBER_TYPE: TagRow("type of the account number", 32),
        Tag.CRYPTOGRAM: TagRow("cryptogram", 128, Secrecy.HIDDEN),
        Tag.WALLET: TagRow("wallet", 32),
        Tag.DTVC: TagRow("dynamic token verification code", 32, Secrecy.HIDDEN),
        Tag.ECI: TagRow("electronic commerce indicator", 2),
        Tag.CAVV: TagRow("3-D Secure authentication value", 128, Secrecy.HIDDEN),
        Tag.XID: TagRow("3-D Secure transaction (version 1)", 128, Secrecy.HIDDEN),
        Tag.THREEDS_VERSION: TagRow("3-D Secure version", 8),
        Tag.DS_TRANSACTION: TagRow("directory server's transaction", 36),
        Tag.ACS_TRANSACTION: TagRow("issuer's transaction", 36),
        Tag.THREEDS_STATUS: TagRow("3-D Secure status", 1),
        Tag.EXEMPTION: TagRow("exemption from authentication", 32),
        Tag.STORED_MODE: TagRow("stored credential: mode", 16),
        Tag.STORED_SOURCE: TagRow("stored credential: source", 8),
        Tag.STORED_TYPE: TagRow("stored credential: type", 16),
        Tag.STORED_REFERENCE: TagRow("stored credential: first transaction", 128),
        Tag.INDUSTRY_PRACTICE: TagRow("stored credential: industry practice", 32),
        Tag.INSTALLMENTS: TagRow("number of installments", 3),
        Tag.ADVICE: TagRow("merchant advice code", 2),
        Tag.WORKING_KEY: TagRow("wrapped working key", 128, Secrecy.HIDDEN),
        Tag.CHECK_VALUE: TagRow("check value of the working key", 10),
    }
)

MESSAGE_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "0100": "authorization request",
        "0101": "authorization request, repeated",
        "0110": "authorization response",
        "0200": "financial request",
        "0201": "financial request, repeated",
        "0210": "financial response",
        "0220": "financial advice",
        "0221": "financial advice, repeated",
        "0230": "financial advice response",
        "0400": "reversal request",
        "0401": "reversal request, repeated",
        "0410": "reversal response",
        "0420": "reversal advice",
        "0421": "reversal advice, repeated",
        "0430": "reversal advice response",
        "0800": "network management request",
        "0801": "network management request, repeated",
        "0810": "network management response",
    }
)

PRIVATE = 48
MAC_PRIMARY, MAC_SECONDARY = 64, 128


def _specify(size: int, kind: Kind, length: int, name: str) -> Mapping[str, Any]:
    return {
        "data_enc": "b" if kind is Kind.B else "ascii",
        "len_enc": "ascii",
        "len_type": int(size),
        "max_len": length,
        "desc": name,
    }


SPEC: Mapping[str, Mapping[str, Any]] = {
    "h": _specify(0, Kind.ANS, 0, "header"),
    "t": _specify(0, Kind.N, 4, "message type"),
    "p": _specify(0, Kind.B, 8, "primary bitmap"),
    "1": _specify(0, Kind.B, 8, "secondary bitmap"),
    **{
        str(row.number): _specify(row.size, row.kind, row.length, row.name)
        for row in _ROWS
        if row.secrecy is not Secrecy.NEVER
    },
}
"""The table as pyiso8583 reads it. Elements that no message may have are not in it."""
