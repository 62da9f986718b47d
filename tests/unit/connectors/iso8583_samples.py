"""An account, payments and a host's answers for the tests of ISO 8583, and a second decoder written by hand.

The decoder shares nothing with the program, neither the library nor the table of elements.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.exchange import AcquirerAccount, Exchange, Original, WireReply, WireRequest
from tollgate.connectors.iso8583 import codec
from tollgate.connectors.iso8583.codec import Message
from tollgate.payments.accounts import CardAccount
from tollgate.payments.following import Action
from tollgate.payments.payment import Payment, State, Verdict
from tollgate.values import SECOND, Money, PaymentId
from unit.connectors.samples import CAPTURE, CARD, ORDER

NUMBER, CVV = "4200000000000000", "731"
CREATED_AT = 1_790_000_000 * SECOND
"""2026-09-21 13:33:20 UTC."""

ACCOUNT = AcquirerAccount(
    id="8a" + "2" * 30,
    connector=ConnectorName.ISO8583,
    merchant_name="Müller & Söhne",
    merchant_number="777000111",
    acquirer_number="400123",
    terminal_id="TERM01",
    category="5411",
    country="DE",
)


def make_payment(payment_type: str = "PA", number: int = 1, hundredths: int = 9210, **members: object) -> Payment:
    payment = msgspec.structs.replace(
        CAPTURE,
        id=PaymentId(f"8a{number:030x}"),
        payment_type=payment_type,
        money=Money(hundredths, "EUR"),
        created_at=CREATED_AT + number * SECOND,
        referenced_id=None,
        echo={},
    )
    return msgspec.structs.replace(payment, **members)


FIRST = make_payment(
    state=State.APPROVED,
    details={"ConnectorTxID1": "A1B2C3D4E5F6", "ConnectorTxID2": "AB1234", "ConnectorTxID3": "MCC0042"},
)
STORED_CARD: CardAccount = msgspec.structs.replace(CARD, cvv=None)
ORIGINAL = Original(payment=FIRST, first=FIRST, account=STORED_CARD)
PA_ORDER = msgspec.structs.replace(ORDER, payment_type="PA")

ACTIONS = {
    "capture": (Action.CAPTURE, "CP", "0220"),
    "refund": (Action.REFUND, "RF", "0200"),
    "reversal": (Action.VOID, "RV", "0400"),
    "rebill": (Action.REBILL, "RB", "0200"),
    "increment": (Action.INCREMENT, "PA", "0100"),
    "renewal": (Action.RENEWAL, "PA", "0100"),
}
"""The actions that are sent, with the member and the type of the follow-up and the type of its message."""


def make_follow_up(word: str, hundredths: int = 9210, number: int = 2, **members: object) -> Payment:
    action, payment_type, _ = ACTIONS[word]
    return make_payment(
        payment_type, number, hundredths, action=action, chain_id=FIRST.id, referenced_id=FIRST.id, **members
    )


def answer(request: WireRequest | bytes, code: str = "00", **changes: str) -> bytes:
    """Makes a host's answer: what the request has, without its account, and changed elements such as `f4`."""
    message = codec.decode(request if isinstance(request, bytes) else request.body)
    kept = {number: text for number, text in message.fields.items() if number not in (2, 14, 48, 90, 95)}
    fields = kept | {39: code} | {int(name[1:]): text for name, text in changes.items() if name.startswith("f")}
    return codec.encode(Message(changes.get("mti", codec.get_response_type(message.mti)), fields))


def finish(exchange: Exchange, reply: bytes, status: int = 200) -> Verdict:
    """Sends the last reply to an exchange that waits for it."""
    try:
        exchange.send(WireReply(status, reply))
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict
    raise AssertionError("the exchange asked once more")


FIXED = {
    3: 6, 4: 12, 7: 10, 11: 6, 12: 6, 13: 4, 14: 4, 18: 4, 22: 3, 25: 2, 37: 12, 38: 6, 39: 2, 41: 8, 42: 15, 43: 40,
    49: 3, 70: 3, 90: 42, 95: 42,
}  # fmt: skip
LENGTH_DIGITS = {2: 2, 32: 2, 44: 2, 48: 3, 54: 3, 63: 3}


def read_by_hand(data: bytes) -> tuple[str, dict[int, str]]:
    """Reads a message by the standard, as a person with a pencil would."""
    mti, rest = data[:4].decode("ascii"), data[4:]
    bits = "".join(f"{byte:08b}" for byte in rest[:8])
    rest = rest[8:]
    if bits[0] == "1":
        bits += "".join(f"{byte:08b}" for byte in rest[:8])
        rest = rest[8:]
    fields = {}
    for place, bit in enumerate(bits):
        number = place + 1
        if bit == "0" or number == 1:
            continue
        if number in (64, 128):
            fields[number], rest = rest[:8].hex().upper(), rest[8:]
            continue
        digits = LENGTH_DIGITS.get(number, 0)
        length = int(rest[:digits]) if digits else FIXED[number]
        fields[number], rest = rest[digits : digits + length].decode("ascii"), rest[digits + length :]
    assert rest == b""
    return mti, fields


def read_tags_by_hand(text: str) -> Mapping[str, str]:
    tags = {}
    while text:
        length = int(text[2:5])
        tags[text[:2]], text = text[5 : 5 + length], text[5 + length :]
    return tags
