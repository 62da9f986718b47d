"""The end of an attempt changes its checkout by kind and state, and a checkout may be over or unread."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState
from tollgate.payments.completion import complete, find_checkout_end
from tollgate.payments.payment import MOVES, Nature, Outcome, Payment, RecoveryTask, State, Verdict
from tollgate.values import ChannelId, CheckoutId, MerchantId, Money, PaymentId

CHECKOUT_ID = CheckoutId("F" * 32 + ".abc")
PAYMENT = Payment(
    id=PaymentId("8a" + "0" * 30),
    merchant_id=MerchantId("m"),
    channel_id=ChannelId("c"),
    payment_type="DB",
    state=State.STARTED,
    money=Money(9200, "EUR"),
    brand="VISA",
    method="CC",
    descriptor="Shop",
    short_id="1234.5678.9012",
    ndc=CHECKOUT_ID,
    checkout_id=CHECKOUT_ID,
    created_at=1,
    deadline_at=1,
)
CHECKOUT = Checkout(
    id=CHECKOUT_ID,
    merchant_id=MerchantId("m"),
    channel_id=ChannelId("c"),
    kind=CheckoutKind.PAYMENT,
    created_at=0,
    expires_at=100,
    sealed_fields=None,
)


@pytest.mark.parametrize(
    ("kind", "state", "end"),
    [
        ("DB", State.APPROVED, (True, True)),
        ("DB", State.DECLINED, (False, True)),
        # The shopper is away, and may pay otherwise meanwhile.
        ("DB", State.WAITING, (False, True)),
        ("PA", State.APPROVED, (True, True)),
        ("CD", State.APPROVED, (True, False)),
        ("CD", State.DECLINED, (False, False)),
        # It may have paid out: nobody else may begin.
        ("CD", State.WAITING, None),
        ("CD", State.UNRESOLVED, None),
    ],
)
def test_an_attempt_does_it_or_lets_it_go_or_keeps_it(kind: str, state: State, end: tuple[bool, bool] | None) -> None:
    found = find_checkout_end(replace(PAYMENT, payment_type=kind, state=state))

    assert (None if found is None else (found.is_done, found.is_sole)) == end
    assert found is None or (found.id, found.subject_id) == (CHECKOUT_ID, PAYMENT.id)


def test_payments_without_a_checkout_and_what_follows_one_end_none() -> None:
    done = replace(PAYMENT, state=State.APPROVED)

    assert find_checkout_end(replace(done, checkout_id=None)) is None
    assert find_checkout_end(replace(done, chain_id=PaymentId("8a" + "1" * 30))) is None


@pytest.mark.parametrize(("outcome", "code"), [(Outcome.LATE, "800.110.100"), (Outcome.STALE, "900.300.600")])
def test_what_is_approved_too_late_is_declined_and_goes_back(outcome: Outcome, code: str) -> None:
    late = complete(PAYMENT, Verdict(outcome=outcome, code="000.100.110"), 2)

    assert (late.payment.state, late.payment.result_code) == (State.DECLINED, code)
    assert late.recovery_task is RecoveryTask.REVERSE
    assert late.checkout is not None
    assert not late.checkout.is_done
    assert all(MOVES[nature, outcome].recovery_task is None for nature in Nature if nature is not Nature.TAKES)


def test_it_is_over_when_its_time_is_or_its_merchant_has_read_the_result() -> None:
    assert [CHECKOUT.is_over(now) for now in (0, 99, 100, 101)] == [False, False, True, True]
    assert replace(CHECKOUT, state=CheckoutState.SPENT).is_over(0)
    assert not replace(CHECKOUT, state=CheckoutState.DONE).is_over(0)


@pytest.mark.parametrize(
    ("submitted_at", "read_at", "is_unread"),
    [(None, None, False), (None, 5, False), (5, None, True), (5, 4, True), (5, 5, False), (5, 6, False)],
)
def test_it_is_unread_while_nobody_asked_since_the_last_submission(
    submitted_at: int | None, read_at: int | None, is_unread: bool
) -> None:
    assert replace(CHECKOUT, submitted_at=submitted_at, read_at=read_at).is_unread is is_unread
