"""The words that protocols share: JSON over HTTP, amounts in minor units, one key per transaction.

No decisions here.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.payment_types import INITIAL_PAYMENT_TYPES, PAYMENT_TYPES, Direction
from tollgate.payments.payment import Payment
from tollgate.values import Money

FOLLOW_UPS = "/v1/follow-ups"
REVERSALS = "/v1/reversals"
INQUIRIES = "/v1/inquiries"

_MESSAGE_TYPES = {Direction.HOLD: "authorization", Direction.TAKE: "sale", Direction.GIVE: "credit"}
CHARGE_TYPES = {code: _MESSAGE_TYPES[PAYMENT_TYPES[code].direction] for code in INITIAL_PAYMENT_TYPES}
FOLLOW_UP_TYPES = frozenset({"capture", "reversal", "refund", "rebill", "increment", "renewal"})

ShortText = Annotated[str, msgspec.Meta(max_length=128)]
LongText = Annotated[str, msgspec.Meta(max_length=512)]


class FollowUpMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Does something with a transaction that the acquirer has, and so needs no account."""

    key: str
    type: str
    original: str
    """The key of the transaction that it follows; a refund of a capture names the capture."""
    amount: int
    currency: str
    is_final: bool = False
    """Nothing of its type will follow that transaction any more."""


class KeyMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Names an earlier transaction by its key, to reverse it or to ask what became of it."""

    key: str
    blocks: bool = True
    """Whether a key never seen is refused from now on. A reversal always blocks; whoever will repeat must not."""


class AcquirerReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    status: str
    """approved, declined, pending, reversed or unknown"""
    response_code: ShortText = ""
    advice: ShortText = ""
    """The issuer may add its merchant advice code to a declined charge."""
    message: LongText = ""
    authorization_code: ShortText = ""
    reference: ShortText = ""
    scheme_transaction_id: ShortText = ""
    institute: ShortText = ""
    result_code: ShortText = ""
    """Set by a simulator that was asked for a particular result of the gateway's catalogue."""


encode_message = msgspec.json.Encoder().encode
decode_reply = msgspec.json.Decoder(AcquirerReply).decode


def to_minor_units(money: Money) -> int:
    """Hundredths to yen, cents or fils: exactly or not at all."""
    exponent = CURRENCIES[money.currency].exponent
    if exponent >= 2:
        return money.hundredths * int(10 ** (exponent - 2))
    units, rest = divmod(money.hundredths, int(10 ** (2 - exponent)))
    if rest:
        raise ValueError(f"{money.currency} has no such fraction")
    return units


def make_follow_up(attempt: Payment, action: str, *, is_final: bool) -> FollowUpMessage:
    if action not in FOLLOW_UP_TYPES:
        raise ValueError(f"the protocol has no word {action}")
    if attempt.referenced_id is None:
        raise ValueError(f"payment {attempt.id} follows nothing")
    return FollowUpMessage(
        key=attempt.id,
        type=action,
        original=attempt.referenced_id,
        amount=to_minor_units(attempt.money),
        currency=attempt.money.currency,
        is_final=is_final,
    )


def describe_details(details: msgspec.Struct) -> dict[str, Any]:
    """What is absent is left out, so that an acquirer reads only what the merchant said."""
    return {
        name: value if isinstance(value, str) else _describe_member(value)
        for name in details.__struct_fields__
        if (value := getattr(details, name)) is not None and value != ()
    }


def _describe_member(value: object) -> object:
    match value:
        case Money():
            return {"amount": to_minor_units(value), "currency": value.currency}
        case msgspec.Struct():
            return describe_details(value)
        case tuple():
            return [_describe_member(each) for each in value]
        case _:
            return value
