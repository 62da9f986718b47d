"""Makes the receipt with which the demo shop's result page begins from the gateway's answer.

How the order stands is asked in `till`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tollgate.catalog.brands import find_brand
from tollgate.catalog.results import is_pending, is_success
from tollgate.payments.payment import ABANDONED_DETAIL, LATE_DETAIL, SILENT_CODE
from tollgate.sandbox.shop.goods import CURRENCY, render_price
from tollgate.sandbox.shop.till import SHOP_NAME, Ending, Order

_ANSWER_TIME = "%Y-%m-%d %H:%M:%S%z"


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    mood: str
    """good, open or bad: how the page looks."""
    title: str
    text: str
    amount: str
    facts: tuple[tuple[str, str], ...]
    """Label and value, in the order in which they are read."""


def make_receipt(order: Order, ending: Ending) -> Receipt:
    mood, title, text = _tell(order, ending)
    facts = (
        ("Merchant", SHOP_NAME),
        ("Paid with" if mood == "good" else "Payment method", _name_method(ending.body)),
        ("Date", _render_time(ending.body)),
        ("Order number", order.reference),
        ("Transaction number", ending.body.get("id", "") if _is_payment(ending.body) else ""),
    )
    return Receipt(
        mood=mood,
        title=title,
        text=text,
        amount=f"{render_price(order.cart.total)} {CURRENCY}",
        facts=tuple((label, value) for label, value in facts if value),
    )


def _tell(order: Order, ending: Ending) -> tuple[str, str, str]:
    if is_success(ending.code):
        return "good", "Thank you, it is paid", "Your order is on its way to you, or would be if this were a real shop."
    if is_pending(ending.code):
        if order.checkout.subject_id:
            return "open", "Not decided yet", "Your payment is being processed. It may be paid any moment."
        return "open", "Nothing is paid yet", "You have not been charged."
    if _may_have_taken(ending):
        return "bad", "It was not paid", "The payment was not completed. If anything was taken, you will get it back."
    return "bad", "It was not paid", "You have not been charged."


def _may_have_taken(ending: Ending) -> bool:
    details = ending.body.get("resultDetails", {})
    return ending.code == SILENT_CODE or not details.keys().isdisjoint({LATE_DETAIL, ABANDONED_DETAIL})


def _is_payment(body: Mapping[str, Any]) -> bool:
    return "paymentBrand" in body


def _name_method(body: Mapping[str, Any]) -> str:
    brand = find_brand(body.get("paymentBrand", ""))
    if brand is None:
        return ""
    card, bank = body.get("card", {}), body.get("bankAccount", {})
    tail = card.get("last4Digits") or bank.get("iban", "")[-4:]
    return f"{brand.label} •••• {tail}" if tail else brand.label


def _render_time(body: Mapping[str, Any]) -> str:
    """Renders a time like `17 November 2026, 14:05 UTC`."""
    if not _is_payment(body):
        return ""
    moment = datetime.strptime(body["timestamp"], _ANSWER_TIME)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
