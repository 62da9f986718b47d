"""Whatever a wire answers, each connector ends in exactly one verdict, and believes only what was really said."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from property.wire_answers import Answer, DrawnWire, answers
from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import RESULTS
from tollgate.connectors import card, redirect, sepa
from tollgate.connectors.exchange import Connector, Exchange, Original, WireReply
from tollgate.connectors.table import get_connector
from tollgate.operations.dispatch import dispatch
from tollgate.payments.accounts import BankAccount, CardAccount, VirtualAccount, make_card_summary
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, State, Verdict
from tollgate.values import ChannelId, MerchantId, Money, PaymentId, Secret
from tollgate.wire import Silent, Unsent

APPROVED_CODE = "000.100.110"

CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034")
CARD_ORDER = Order(
    payment_type="DB",
    money=Money(9200, "EUR"),
    brand="VISA",
    network="VISA",
    method="CC",
    account=CARD,
    card_summary=make_card_summary("4200000000000000", CARD),
    statement="Shop",
    descriptor="Shop",
    short_id="1234.5678.9012",
)
WALLET_ORDER = replace(
    CARD_ORDER,
    brand="PAYPAL",
    network="PAYPAL",
    method="VA",
    account=VirtualAccount(account_id="jane"),
    card_summary=None,
)
DEBIT_ORDER = replace(
    WALLET_ORDER,
    brand="DIRECTDEBIT_SEPA",
    network="DIRECTDEBIT_SEPA",
    method="DD",
    account=BankAccount(holder="Jane Jones", iban=Secret("DE75512108001245126199")),
)
REFUND = Payment(
    id=PaymentId("8a02"),
    merchant_id=MerchantId("8a" + "1" * 30),
    channel_id=ChannelId("8a" + "2" * 30),
    payment_type="RF",
    state=State.STARTED,
    money=Money(4000, "EUR"),
    brand="VISA",
    method="CC",
    descriptor="Shop",
    short_id="1234.5678.9013",
    ndc="8a" + "3" * 30,
    created_at=0,
    deadline_at=1,
    referenced_id=PaymentId("8a01"),
    chain_id=PaymentId("8a01"),
)

HOLD = replace(REFUND, id=PaymentId("8a01"), payment_type="PA", referenced_id=None, chain_id=None)
ORIGINAL = Original(payment=HOLD, first=HOLD)

ORDERS: dict[Connector, Order] = {card: CARD_ORDER, redirect: WALLET_ORDER, sepa: DEBIT_ORDER}

OPERATIONS: dict[str, Callable[[Connector], Exchange]] = {
    "charge": lambda of: of.charge(ORDERS[of], HOLD, APPROVED_CODE, back_url="https://gate.example/back"),
    "follow up": lambda of: of.follow_up(REFUND, "refund", APPROVED_CODE, original=ORIGINAL),
    "reverse a hold": lambda of: of.follow_up(REFUND, "reversal", APPROVED_CODE, original=ORIGINAL, is_final=True),
    "repeat": lambda of: of.repeat(REFUND, "refund", APPROVED_CODE, original=ORIGINAL),
    "repeat what was accepted": lambda of: of.repeat(
        REFUND, "refund", APPROVED_CODE, original=ORIGINAL, was_accepted=True
    ),
    "reverse": lambda of: of.reverse(ORIGINAL),
    "inquire": lambda of: of.inquire(ORIGINAL, APPROVED_CODE),
}

SAID: dict[Outcome, frozenset[str]] = {
    Outcome.APPROVED: frozenset({"approved", "account"}),
    Outcome.DECLINED: frozenset({"declined", "cancelled", "expired", "unknown"}),
    Outcome.WAITING: frozenset({"pending", "redirect"}),
}
"""The words without which an outcome is not believed."""
UNDONE = frozenset({"reversed", "unknown", "cancelled"})

_Told = TypeVar("_Told")


def finish(work: Coroutine[Any, Any, _Told]) -> _Told:
    """Runs what never really waits, without a loop."""
    try:
        work.send(None)
    except StopIteration as end:
        received: _Told = end.value
        return received
    raise AssertionError("it waits for something")


def read_status(answer: Answer) -> str | None:
    """Returns what another JSON parser finds in the answer; None where there is no answer that may be believed."""
    if not isinstance(answer, WireReply) or answer.status >= 500:
        return None
    try:
        received = json.loads(answer.body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return received.get("status") if isinstance(received, dict) else None


def list_words(operation: str, outcome: Outcome) -> frozenset[str]:
    return UNDONE if operation == "reverse" and outcome is Outcome.APPROVED else SAID[outcome]


def test_all_connectors_are_tried() -> None:
    brands = {Protocol.CARD: "VISA", Protocol.REDIRECT: "PAYPAL", Protocol.SEPA: "DIRECTDEBIT_SEPA"}

    assert set(brands) == set(Protocol)
    assert {get_connector(brand) for brand in brands.values()} == set(ORDERS)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("connector", ORDERS, ids=lambda connector: connector.__name__.rpartition(".")[2])
@given(script=st.lists(answers, min_size=1, max_size=4))
@example(script=[WireReply(200, b'{"status":"unknown"}'), WireReply(200, b'{"status":"approved"}')])
@example(script=[WireReply(200, b'{"status":"approved"}\xff')])
@example(script=[WireReply(200, b'{"status":"declined","status":"approved"}')])
@example(script=[WireReply(200, b'{"status":"approved","message":"\\ud800"}')])
@example(script=[WireReply(500, b'{"status":"approved"}')])
@example(script=[WireReply(200, b'{"status":"approved","x":' + b"[" * 100_000)])
def test_whatever_a_wire_answers_a_connector_ends_in_one_verdict(
    connector: Connector, operation: str, script: list[Answer]
) -> None:
    wire = DrawnWire(script)

    verdict = finish(dispatch(OPERATIONS[operation](connector), wire, timeout_s=1.0, label="test"))

    check_form(operation, verdict)
    assert len(wire.sent) <= 2 * LIMITS.acquirer_sends_max
    if verdict.outcome is Outcome.UNSENT:
        assert wire.last is Unsent
    elif verdict.outcome is not Outcome.SILENT:
        assert read_status(wire.last) in list_words(operation, verdict.outcome)
    elif wire.last is not Silent:
        assert isinstance(wire.last, WireReply)


def check_form(operation: str, verdict: Verdict) -> None:
    """It can be stored, sealed and answered."""
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is not Outcome.CHALLENGED
    is_undone = operation == "reverse" and verdict.outcome is Outcome.APPROVED
    assert verdict.code == "" if is_undone else verdict.code in RESULTS
    assert all(isinstance(text, str) for pair in verdict.details.items() for text in pair)
    assert orjson.loads(orjson.dumps(dict(verdict.details))) == verdict.details


@pytest.mark.parametrize("connector", ORDERS, ids=lambda connector: connector.__name__.rpartition(".")[2])
@given(code=st.sampled_from(sorted(RESULTS)))
def test_no_other_side_chooses_a_result_code_by_itself(connector: Connector, code: str) -> None:
    body = msgspec.json.encode({"status": "declined", "response_code": "51", "result_code": code})

    verdict = finish(
        dispatch(OPERATIONS["charge"](connector), DrawnWire([WireReply(200, body)]), timeout_s=1.0, label="test")
    )

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, "800.100.203")
