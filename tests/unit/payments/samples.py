"""Transactions of a chain, made in one line, and guards read as the store reads them. No test lives here."""

from __future__ import annotations

from itertools import count
from typing import Any

from msgspec.structs import replace

from tollgate.payments.chain import ChainContext, Plan, Terms
from tollgate.payments.ledger import Balance, BalanceChange, apply_balance_change, expand_closures
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment, State
from tollgate.values import DAY, HOUR, ChannelId, MerchantId, Money, PaymentId

NOON = 20_000 * DAY + 12 * HOUR
TERMS = Terms(now=NOON, authorization_lifetime=7 * DAY, captures_max=98, rebills_max=2)

_numbers = count(1)


def make_payment(payment_type: str = "PA", amount: int = 10_000, **changes: Any) -> Payment:
    """Makes a payment that succeeded at noon, in internal test mode."""
    payment = Payment(
        id=PaymentId(f"8a{next(_numbers):030x}"),
        merchant_id=MerchantId("8a" + "1" * 30),
        channel_id=ChannelId("8a" + "2" * 30),
        payment_type=payment_type,
        state=State.APPROVED,
        money=Money(amount, "EUR"),
        brand="VISA",
        method="CC",
        descriptor="",
        short_id="",
        ndc="",
        created_at=NOON,
        deadline_at=NOON + HOUR,
        test_mode=TestMode.INTERNAL,
        result_code="000.100.110",
        completed_at=NOON,
    )
    return replace(payment, **changes)


def add(named: Payment, payment_type: str, amount: int, **changes: Any) -> Payment:
    """Makes a follow-up of `named`."""
    return make_payment(payment_type, amount, referenced_id=named.id, chain_id=named.first_id, **changes)


def link_alone(named: Payment) -> ChainContext:
    """Builds the context of a payment that begins its chain."""
    return ChainContext(named=named, money_source=named, first=named)


def start(context: ChainContext, plan: Plan, payment_type: str) -> Payment:
    """Starts the attempt that carries out a plan; the result of one that is not sent is known from the start."""
    return add(
        context.named,
        payment_type,
        plan.money.hundredths,
        state=State.STARTED,
        result_code="" if plan.following.wire_word else "000.100.110",
        completed_at=None,
        action=plan.following.action,
        releases=plan.releases,
        closes=plan.closes,
    )


def holds(payment: Payment, balance_change: BalanceChange) -> bool:
    """Whether the bounds of a balance change let it change the balance of this payment."""
    before, after = payment.balance, replace(payment, balance=apply_balance_change(payment.balance, balance_change))
    return (
        balance_change.left_min <= after.left <= balance_change.left_max
        and after.balance.counted <= balance_change.counted_max
        and before.disputed <= balance_change.disputed_max
        and not before.closed & expand_closures(balance_change.barred_by)
        and after.balance.chain_net >= balance_change.net_min
    )


def move(balances: dict[str, Balance], balance_changes: list[BalanceChange]) -> dict[str, Balance]:
    moved = dict(balances)
    for balance_change in balance_changes:
        moved[balance_change.payment_id] = apply_balance_change(moved[balance_change.payment_id], balance_change)
    return moved
