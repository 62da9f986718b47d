"""The table of moves: what a verdict does to an attempt, and that nothing is taken by a failed answer."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from tollgate.catalog.payment_types import FOLLOW_UP_PAYMENT_TYPES, INITIAL_PAYMENT_TYPES
from tollgate.catalog.results import get_result
from tollgate.payments import payment
from tollgate.payments.completion import complete
from tollgate.values import ChannelId, MerchantId, Money, PaymentId

STARTED = payment.Payment(
    id=PaymentId("8a01"),
    merchant_id=MerchantId("8a02"),
    channel_id=ChannelId("8a03"),
    payment_type="DB",
    state=payment.State.STARTED,
    money=Money(100, "EUR"),
    brand="VISA",
    method="CC",
    descriptor="",
    short_id="",
    ndc="",
    created_at=1,
    deadline_at=2,
)


def test_every_outcome_of_every_nature_has_a_move_and_no_move_is_left_over() -> None:
    assert set(payment.MOVES) == set(product(payment.Nature, payment.Outcome))


def test_every_kind_that_begins_or_follows_has_a_nature() -> None:
    assert set(payment.NATURES) == {*INITIAL_PAYMENT_TYPES, *FOLLOW_UP_PAYMENT_TYPES, "3D"}


def test_no_completion_leaves_an_attempt_started() -> None:
    assert payment.State.STARTED not in {move.state for move in payment.MOVES.values()}


def test_what_is_not_decided_is_given_back_or_asked_for_never_forgotten() -> None:
    recovery_tasks = {key: move.recovery_task for key, move in payment.MOVES.items() if move.recovery_task}

    assert recovery_tasks == {
        (payment.Nature.TAKES, payment.Outcome.SILENT): payment.RecoveryTask.REVERSE,
        (payment.Nature.TAKES, payment.Outcome.LATE): payment.RecoveryTask.REVERSE,
        (payment.Nature.TAKES, payment.Outcome.STALE): payment.RecoveryTask.REVERSE,
        (payment.Nature.TAKES, payment.Outcome.REFUSED): payment.RecoveryTask.REVERSE,
        (payment.Nature.TAKES, payment.Outcome.ABANDONED): payment.RecoveryTask.REVERSE,
        (payment.Nature.GIVES, payment.Outcome.SILENT): payment.RecoveryTask.INQUIRE,
        (payment.Nature.TAKES, payment.Outcome.WAITING): payment.RecoveryTask.INQUIRE,
        (payment.Nature.GIVES, payment.Outcome.WAITING): payment.RecoveryTask.INQUIRE,
        (payment.Nature.FOLLOWS, payment.Outcome.SILENT): payment.RecoveryTask.REPEAT,
        (payment.Nature.FOLLOWS, payment.Outcome.WAITING): payment.RecoveryTask.REPEAT,
        (payment.Nature.CHECKS, payment.Outcome.WAITING): payment.RecoveryTask.EXPIRE,
        **{(nature, payment.Outcome.CHALLENGED): payment.RecoveryTask.EXPIRE for nature in payment.Nature},
    }


def test_every_open_state_has_somebody_who_asks_or_ends_it() -> None:
    asking = {payment.RecoveryTask.INQUIRE, payment.RecoveryTask.REPEAT, payment.RecoveryTask.EXPIRE}

    assert all(move.recovery_task in asking for move in payment.MOVES.values() if move.state in payment.OPEN_STATES)


def test_only_what_stays_open_answers_pending() -> None:
    for move in payment.MOVES.values():
        if move.code:
            assert (get_result(move.code).http_status == 200) == (move.state is payment.State.UNRESOLVED)


@pytest.mark.parametrize(
    ("payment_type", "outcome", "state", "code", "recovery_task"),
    [
        ("DB", payment.Outcome.APPROVED, payment.State.APPROVED, "000.100.110", None),
        ("PA", payment.Outcome.DECLINED, payment.State.DECLINED, "000.100.110", None),
        ("DB", payment.Outcome.WAITING, payment.State.WAITING, "000.100.110", payment.RecoveryTask.INQUIRE),
        ("DB", payment.Outcome.UNSENT, payment.State.DECLINED, "000.100.110", None),
        ("DB", payment.Outcome.SILENT, payment.State.DECLINED, "900.100.300", payment.RecoveryTask.REVERSE),
        ("CD", payment.Outcome.SILENT, payment.State.UNRESOLVED, "000.200.000", payment.RecoveryTask.INQUIRE),
        ("RF", payment.Outcome.SILENT, payment.State.UNRESOLVED, "000.200.000", payment.RecoveryTask.REPEAT),
        ("CP", payment.Outcome.UNSENT, payment.State.DECLINED, "000.100.110", None),
    ],
)
def test_a_verdict_completes_an_attempt(
    payment_type: str,
    outcome: payment.Outcome,
    state: payment.State,
    code: str,
    recovery_task: payment.RecoveryTask | None,
) -> None:
    verdict = payment.Verdict(outcome=outcome, code="000.100.110", details={"ExtendedDescription": "said"})

    completion = complete(replace(STARTED, payment_type=payment_type), verdict, now=9)

    assert (completion.payment.state, completion.payment.result_code) == (state, code)
    assert (completion.payment.completed_at, completion.recovery_task) == (9, recovery_task)
    assert completion.payment.details == {"ExtendedDescription": "said"}
    assert completion.payment.id == STARTED.id


def test_numbers_of_stored_states_never_change() -> None:
    assert {state.name: state.value for state in payment.State} == {
        "STARTED": 0,
        "APPROVED": 1,
        "DECLINED": 2,
        "WAITING": 3,
        "UNRESOLVED": 4,
    }
