"""The card connector: how a payment with a card begins; the rest is said as all acquirers understand it.

Every answer, however odd, ends in one verdict.
"""

from __future__ import annotations

from tollgate.connectors import acquiring
from tollgate.connectors.acquiring import ACQUIRER, encode_message, perform
from tollgate.connectors.card.messages import CHARGES, make_charge
from tollgate.connectors.exchange import Exchange, WireRequest
from tollgate.payments.order import Order


def charge(order: Order, key: str, approved_code: str, *, back_url: str = "") -> Exchange:  # noqa: ARG001, no page
    """Authorise, debit or credit a card."""
    request = WireRequest(
        path=CHARGES,
        body=encode_message(make_charge(order, key)),
        key=key,
        simulator_overrides=order.simulator_overrides,
    )
    return perform(ACQUIRER, request, approved_code)


def reverse(key: str) -> Exchange:
    return acquiring.reverse(ACQUIRER, key)


def inquire(key: str, approved_code: str) -> Exchange:
    return acquiring.inquire(ACQUIRER, key, approved_code)
