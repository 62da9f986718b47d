"""Events of a processor with the Stripe API, and which of them mean something to a payment."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tollgate.catalog.results import RESULTS
from tollgate.connectors.stripe.events import REASONS, EventKind, choose_kind, read_event
from tollgate.values import Money

DISPUTE = {
    "id": "dp_1",
    "amount": 4000,
    "currency": "eur",
    "reason": "fraudulent",
    "status": "needs_response",
    "payment_intent": "pi_1",
    "charge": "ch_1",
}


def read(about: dict[str, Any], **changes: Any) -> Any:
    envelope = {"id": "evt_1", "type": "charge.dispute.created", "data": {"object": about}, **changes}
    return read_event(json.dumps(envelope).encode())


def test_a_dispute_is_read_with_amount_reason_and_intent() -> None:
    event = read(DISPUTE, livemode=True)

    assert (event.kind, event.reference, event.intent_id) == (EventKind.DISPUTE_OPENED, "dp_1", "pi_1")
    assert (event.money, event.result_code, event.is_live) == (Money(4000, "EUR"), "000.100.220", True)
    assert event.payment_id is None


@pytest.mark.parametrize("name", ["charge", "payment_intent"])
def test_an_event_that_contains_the_charge_or_intent_names_the_payment_itself(name: str) -> None:
    event = read({**DISPUTE, name: {"id": "x_1", "metadata": {"tollgate": "8a01"}}})

    assert event.payment_id == "8a01"


@pytest.mark.parametrize(
    ("amount", "currency", "money"),
    [
        (500, "jpy", Money(50000, "JPY")),
        (1250, "kwd", Money(125, "KWD")),
        (1251, "kwd", None),
        (0, "eur", None),
        (-1, "eur", None),
        (1, "xxx", None),
    ],
)
def test_amounts_are_read_exactly_or_not_at_all(amount: int, currency: str, money: Money | None) -> None:
    assert read({**DISPUTE, "amount": amount, "currency": currency}).money == money


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("charge.dispute.created", "needs_response", EventKind.DISPUTE_OPENED),
        ("charge.dispute.created", "warning_needs_response", None),
        ("charge.dispute.closed", "won", EventKind.DISPUTE_WON),
        ("charge.dispute.closed", "lost", None),
        ("charge.dispute.closed", "warning_closed", None),
        ("refund.failed", "failed", EventKind.REFUND_FAILED),
        ("refund.updated", "failed", EventKind.REFUND_FAILED),
        ("refund.updated", "succeeded", None),
        ("charge.refund.updated", "failed", EventKind.REFUND_FAILED),
        ("payment_intent.succeeded", "succeeded", None),
    ],
)
def test_the_name_and_the_state_say_what_happened(name: str, status: str, kind: EventKind | None) -> None:
    assert choose_kind(name, status) == kind


def test_every_reason_has_the_code_of_a_chargeback() -> None:
    assert {RESULTS[code].group for code in REASONS.values()} == {"chargeback"}


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b"{}", b'{"id": "evt_1", "type": "x", "data": {"object": {"id": "../x"}}}']
)
def test_what_is_no_event_is_not_read(body: bytes) -> None:
    assert read_event(body) is None
