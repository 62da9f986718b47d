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
    """The tags of element 48. Each is followed by three digits, the length of its value.

    The tags below 70 are places of parameters, and the connector fills some of them by itself; the others are its own.
    """

    STORED_MODE = "10"
    STORED_SOURCE = "11"
    STORED_TYPE = "12"
    STORED_RECURRING_TYPE = "13"
    STORED_REFERENCE = "14"
    STORED_FREQUENCY = "15"
    STORED_EXPIRY = "16"
    INSTALLMENTS = "17"
    INDUSTRY_PRACTICE = "18"
    ECI = "20"
    CAVV = "21"
    DS_TRANSACTION = "22"
    THREEDS_VERSION = "23"
    THREEDS_STATUS = "24"
    EXEMPTION = "25"
    KEY = "70"
    ORIGINAL_KEY = "71"
    ACTION = "72"
    FINAL = "73"
    CVV2 = "74"
    NUMBER_TYPE = "75"
    CRYPTOGRAM = "76"
    WALLET = "77"
    DTVC = "78"
    CVV2_RESULT = "80"
    AVS_RESULT = "81"
    ADVICE = "82"
    WORKING_KEY = "90"
    CHECK_VALUE = "91"


@dataclass(frozen=True, slots=True)
class TagRow:
    name: str
    length_max: int
    secrecy: Secrecy = Secrecy.SHOWN


_HIDDEN = Secrecy.HIDDEN

TAGS: Mapping[str, TagRow] = MappingProxyType(
    {
        "01": TagRow("merchant's reference", 255),
        "02": TagRow("merchant's reference of the chain", 35),
        "03": TagRow("merchant's reference of the customer", 255, _HIDDEN),
        "04": TagRow("category of the transaction", 32),
        "05": TagRow("tax", 15),
        Tag.STORED_MODE: TagRow("stored credential: mode", 32),
        Tag.STORED_SOURCE: TagRow("stored credential: source", 32),
        Tag.STORED_TYPE: TagRow("stored credential: type", 32),
        Tag.STORED_RECURRING_TYPE: TagRow("stored credential: kind of series", 32),
        Tag.STORED_REFERENCE: TagRow("stored credential: first transaction", 255),
        Tag.STORED_FREQUENCY: TagRow("stored credential: days between payments", 4),
        Tag.STORED_EXPIRY: TagRow("stored credential: last day", 10),
        Tag.INSTALLMENTS: TagRow("stored credential: number of instalments", 3),
        Tag.INDUSTRY_PRACTICE: TagRow("stored credential: industry practice", 32),
        Tag.ECI: TagRow("electronic commerce indicator", 2),
        Tag.CAVV: TagRow("3-D Secure authentication value", 255, _HIDDEN),
        Tag.DS_TRANSACTION: TagRow("directory server's transaction", 255),
        Tag.THREEDS_VERSION: TagRow("3-D Secure version", 16),
        Tag.THREEDS_STATUS: TagRow("3-D Secure status", 2),
        Tag.EXEMPTION: TagRow("exemption from authentication", 2),
        "30": TagRow("postcode of the billing address", 40, _HIDDEN),
        "31": TagRow("street of the billing address", 255, _HIDDEN),
        "40": TagRow("submerchant", 255, _HIDDEN),
        "41": TagRow("payment facilitator", 255, _HIDDEN),
        "42": TagRow("marketplace", 255, _HIDDEN),
        "50": TagRow("purchase of a company", 1),
        "51": TagRow("company", 255, _HIDDEN),
        "52": TagRow("company's VAT number", 255, _HIDDEN),
        "60": TagRow("airline: booking", 255, _HIDDEN),
        "61": TagRow("airline: tickets", 255, _HIDDEN),
        "62": TagRow("airline: passengers", 255, _HIDDEN),
        "63": TagRow("airline: carriers", 255, _HIDDEN),
        "64": TagRow("airline: flights", 255, _HIDDEN),
        "65": TagRow("airline: departures", 255, _HIDDEN),
        "66": TagRow("airline: arrivals", 255, _HIDDEN),
        "67": TagRow("airline: departure dates", 255, _HIDDEN),
        "68": TagRow("airline: classes", 255, _HIDDEN),
        "69": TagRow("airline: fares", 255, _HIDDEN),
        Tag.KEY: TagRow("key of the request", 64),
        Tag.ORIGINAL_KEY: TagRow("key of the original request", 64),
        Tag.ACTION: TagRow("effect on the original", 16),
        Tag.FINAL: TagRow("last of its kind for the original", 1),
        Tag.CVV2: TagRow("CVV2", 4, _HIDDEN),
        Tag.NUMBER_TYPE: TagRow("type of the account number", 32),
        Tag.CRYPTOGRAM: TagRow("cryptogram", 255, _HIDDEN),
        Tag.WALLET: TagRow("wallet", 32),
        Tag.DTVC: TagRow("dynamic token verification code", 32, _HIDDEN),
        Tag.CVV2_RESULT: TagRow("result of the CVV2 check", 1),
        Tag.AVS_RESULT: TagRow("result of the address check", 1),
        Tag.ADVICE: TagRow("merchant advice code", 2),
        Tag.WORKING_KEY: TagRow("wrapped working key", 128, _HIDDEN),
        Tag.CHECK_VALUE: TagRow("check value of the working key", 10),
    }
)

RESPONSE_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "00": "approved",
        "01": "refer to the issuer",
        "02": "refer to the issuer, special condition",
        "03": "invalid merchant",
        "04": "pick up the card",
        "05": "do not honour",
        "06": "error",
        "07": "pick up the card, special condition",
        "08": "approved, with identification",
        "10": "approved for a part of the amount",
        "11": "approved, VIP",
        "12": "invalid transaction",
        "13": "invalid amount",
        "14": "invalid card number",
        "15": "no such issuer",
        "19": "enter the transaction again",
        "21": "no action taken",
        "25": "the original was not found",
        "30": "format error",
        "31": "bank not supported",
        "32": "completed in part",
        "33": "expired card, pick up",
        "34": "suspected fraud, pick up",
        "36": "restricted card, pick up",
        "38": "PIN tries exceeded, pick up",
        "39": "no credit account",
        "40": "function not supported",
        "41": "lost card",
        "43": "stolen card",
        "46": "closed account",
        "51": "insufficient funds",
        "52": "no checking account",
        "53": "no savings account",
        "54": "expired card",
        "55": "incorrect PIN",
        "57": "transaction not permitted to the cardholder",
        "58": "transaction not permitted to the terminal",
        "59": "suspected fraud",
        "61": "exceeds the limit of amounts",
        "62": "restricted card",
        "63": "security violation",
        "65": "exceeds the limit of frequency",
        "68": "response received too late",
        "75": "PIN tries exceeded",
        "76": "the original was not found",
        "77": "differs from the original",
        "78": "blocked, first used",
        "82": "wrong CVV",
        "85": "no reason to decline",
        "87": "approved for the purchase only",
        "90": "cutoff in process",
        "91": "issuer not available",
        "92": "no route to the issuer",
        "93": "violation of law",
        "94": "duplicate transmission",
        "96": "system malfunction",
        "1A": "authentication of the shopper required",
        "5C": "not supported by the issuer",
        "6P": "verification of data failed",
        "9G": "blocked by the cardholder",
        "N4": "exceeds the limit of cash",
        "N7": "wrong CVV2",
        "R0": "stop this payment",
        "R1": "stop all payments of the series",
        "R3": "stop all payments",
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
