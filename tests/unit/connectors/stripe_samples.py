"""A scripted processor with the Stripe API, and the payments that the tests of its connector start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.exchange import AcquirerAccount, Conversation, Original, WireReply, WireRequest
from tollgate.connectors.stripe.exchanges import StripeConnector
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment, State
from tollgate.values import SECOND, Money, PaymentId, Secret
from unit.connectors.samples import CAPTURE, CARD, ORDER

APPROVED_CODE = "000.100.112"
CREATED_S = 1_700_000_000
ACCOUNT = AcquirerAccount(
    id="8a" + "2" * 30,
    connector=ConnectorName.STRIPE,
    merchant_name="Jones",
    secrets={"api-key": Secret("sk_test_12345"), "webhook-secret": Secret("whsec_1")},
)
CONNECTOR = StripeConnector(ACCOUNT)

DEBIT = replace(
    CAPTURE,
    id=PaymentId("8a01"),
    payment_type="DB",
    money=Money(9210, "EUR"),
    referenced_id=None,
    created_at=CREATED_S * SECOND,
    deadline_at=(CREATED_S + 60) * SECOND,
)
HOLD = replace(DEBIT, payment_type="PA")
INTENT_ID = "pi_1"
KNOWN = {"ConnectorTxID1": INTENT_ID}
METHOD = {"id": "pm_1"}


@dataclass
class Talk:
    """The requests of an exchange, and what it ended with."""

    requests: list[WireRequest] = field(default_factory=list)
    result: Any = None

    @property
    def steps(self) -> list[str]:
        return [f"{each.method} {each.path.partition('?')[0]}" for each in self.requests]

    def form(self, number: int) -> dict[str, str]:
        """Returns the form of a request, or its query."""
        request = self.requests[number]
        return dict(parse_qsl(request.body.decode() or request.path.partition("?")[2]))


Reply = Mapping[str, object] | bytes | tuple[int, Mapping[str, object] | bytes]


def talk(conversation: Conversation[Any], *replies: Reply) -> Talk:
    """Plays the replies one after the other; the exchange must end with the last of them."""
    heard = Talk()
    waiting = [*replies]
    try:
        request = next(conversation)
        while True:
            heard.requests.append(request)
            assert waiting, f"nobody answers {request.method} {request.path}"
            request = conversation.send(make_reply(waiting.pop(0)))
    except StopIteration as end:
        heard.result = end.value
    assert not waiting, f"never asked for {waiting}"
    return heard


def make_reply(reply: Reply) -> WireReply:
    status, body = reply if isinstance(reply, tuple) else (200, reply)
    return WireReply(status, body if isinstance(body, bytes) else json.dumps(body).encode())


def intent(status: str, **changes: object) -> dict[str, object]:
    shown = {"id": INTENT_ID, "status": status, "amount": 9210, "currency": "eur", "metadata": {"tollgate": "8a01"}}
    return {**shown, **changes}


def charge(**changes: object) -> dict[str, object]:
    return {"id": "ch_1", "amount": 9210, "amount_refunded": 0, "refunded": False, **changes}


def refund(**changes: object) -> dict[str, object]:
    shown = {"id": "re_1", "status": "succeeded", "amount": 4000, "currency": "eur"}
    return {**shown, "metadata": {"tollgate": "8a02"}, **changes}


def page(*objects: Mapping[str, object], has_more: bool = False) -> dict[str, object]:
    return {"object": "list", "data": [*objects], "has_more": has_more}


def failure(status: int, **members: object) -> tuple[int, dict[str, object]]:
    return status, {"error": members}


def decline(**members: object) -> tuple[int, dict[str, object]]:
    return failure(402, type="card_error", **members)


def follow(action: Action, payment_type: str, hundredths: int = 4000) -> Payment:
    return replace(CAPTURE, action=action, payment_type=payment_type, money=Money(hundredths, "EUR"))


def original(payment: Payment = DEBIT, *, drawn: int = 0, reserved: int = 0, **details: str) -> Original:
    held = replace(
        payment,
        state=State.APPROVED,
        details=details or KNOWN,
        balance=Balance(drawn=drawn, reserved=reserved),
    )
    return Original(payment=held, first=held, account=replace(CARD, cvv=None))


def doubtful(payment: Payment = DEBIT, **details: str) -> Original:
    """Returns a payment whose outcome is unknown, by default without a trace of its intent."""
    silent = replace(payment, state=State.DECLINED, details=details)
    return Original(payment=silent, first=silent)


CREATED = intent("requires_confirmation")
PAID = intent("succeeded", amount_received=9210, latest_charge=charge())
STEPS = ["POST /v1/payment_methods", "POST /v1/payment_intents", "POST /v1/payment_intents/pi_1/confirm"]
LOOK = "GET /v1/payment_intents/pi_1"


def sell(*replies: Reply, order: Order = ORDER, attempt: Payment = DEBIT) -> Talk:
    return talk(CONNECTOR.charge(order, attempt, APPROVED_CODE), *replies)
