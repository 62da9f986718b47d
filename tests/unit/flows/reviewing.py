"""Helpers for tests of reviews: a rule that opens them, payments under review, decisions. No test here."""

from __future__ import annotations

from typing import Any

from tollgate.flows.reviews import decide
from tollgate.operations.app import App
from tollgate.operations.risk_rules import add_rule
from tollgate.payments.payment import Payment
from tollgate.payments.reviews import Decision
from tollgate.values import Money
from unit.app_fixture import MERCHANT, NOW
from unit.flows.chains import begin

LARGE = Money(60_000, "EUR")


async def review_large_amounts(app: App) -> None:
    """Reviews payments of more than 500.00 EUR; those of 92.00 EUR, which other tests make, are left alone."""
    rule = {"kind": "amount", "outcome": "review", "mode": "active", "amount": "500.00", "currency": "EUR"}
    await add_rule(app.database, MERCHANT.id, rule, by="jo", now=NOW, new_id="8a" + "7" * 30)
    await app.merchants.refresh(app.database)


async def begin_review(app: App, payment_type: str = "DB", **changes: Any) -> Payment:
    payment = await begin(app, payment_type, **{"money": LARGE, **changes})
    assert payment.result_code == "000.400.000"
    return payment


async def reject(app: App, payment: Payment) -> Payment:
    return await decide(app, MERCHANT.id, payment.id, Decision.REJECT, "jo")


async def accept(app: App, payment: Payment) -> Payment:
    return await decide(app, MERCHANT.id, payment.id, Decision.ACCEPT, "jo")
