"""Between rows and values: how a payment is laid out in columns. No statement lives here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

from tollgate.payments.accounts import CardSummary
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Outcome, Payment, State
from tollgate.store.database import Unreadable
from tollgate.store.jobs import PAYMENT_COMPLETED, Event
from tollgate.store.schema import payments
from tollgate.values import Instant, Money, make_timed_id

_log = logging.getLogger("tollgate.store")

UNREADABLE = (ValueError, TypeError, msgspec.MsgspecError)
"""What reading a row ends in that is none of ours."""

_card_encoder = msgspec.json.Encoder()
_decode_card = msgspec.json.Decoder(CardSummary).decode
_NO_DETAILS = "{}"

SHOWN = tuple(column for column in payments.columns if column.name not in {"idempotency_key", "sealed_account"})
"""The columns that make a `Payment`."""
_NAMES = tuple(column.name for column in SHOWN)
_ID = _NAMES.index("id")
_BALANCE = Balance.__struct_fields__


def encode_map(mapping: Mapping[str, str]) -> str:
    return orjson.dumps(mapping, default=dict).decode() if mapping else _NO_DETAILS


def encode_card(card: CardSummary) -> str:
    return _card_encoder.encode(card).decode()


def get_completed_at(payment: Payment) -> Instant:
    if payment.completed_at is None:
        raise ValueError("a settlement says when it happened")
    return payment.completed_at


def make_event(payment: Payment) -> Event:
    completed_at = get_completed_at(payment)
    return Event(
        id=make_timed_id(completed_at, payment.id),
        merchant_id=payment.merchant_id,
        subject_id=payment.id,
        topic=PAYMENT_COMPLETED,
        created_at=completed_at,
        result_code=payment.result_code,
    )


def flatten_payment(payment: Payment) -> dict[str, Any]:
    """Without the columns that only the first write of a payment fills: its sealed account and its key."""
    flat = msgspec.structs.asdict(payment)
    money: Money = flat.pop("money")
    balance: Balance = flat.pop("balance")
    return (
        flat
        | msgspec.structs.asdict(balance)
        | {
            "amount": money.hundredths,
            "currency": money.currency,
            "state": int(payment.state),
            "card": None if payment.card is None else encode_card(payment.card),
            "echo": encode_map(payment.echo),
            "details": encode_map(payment.details),
        }
    )


def read_payment(row: tuple[Any, ...]) -> Payment:
    """Returns the payment of a row; one that the gateway cannot have written raises `Unreadable` with its id."""
    try:
        return _read(row)
    except UNREADABLE:
        raise Unreadable(f"payment {row[_ID]} cannot be read: run `tollgate verify`") from None


def read_if_sound(row: tuple[Any, ...]) -> Payment | None:
    """Returns the payment of a row for a list; one that cannot be read is logged, and None."""
    try:
        return _read(row)
    except UNREADABLE:
        _log.error("payment cannot be read: run `tollgate verify`", extra={"payment": row[_ID]})
        return None


def _read(row: tuple[Any, ...]) -> Payment:
    named = dict(zip(_NAMES, row, strict=True))
    amount, currency, card = named.pop("amount"), named.pop("currency"), named["card"]
    test_mode, action, outcome = named["test_mode"], named["action"], named["outcome"]
    balance = Balance(**{name: named.pop(name) for name in _BALANCE})
    return Payment(
        **named
        | {
            "money": Money(amount, currency),
            "state": State(named["state"]),
            "test_mode": None if test_mode is None else TestMode(test_mode),
            "card": None if card is None else _decode_card(card),
            "echo": orjson.loads(named["echo"]),
            "details": orjson.loads(named["details"]),
            "outcome": None if outcome is None else Outcome(outcome),
            "action": None if action is None else Action(action),
            "balance": balance,
        }
    )
