"""The table of moves: what a verdict does to an attempt, and that nothing is taken by a failed answer."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from tollgate.catalog import FOLLOW_UP_PAYMENT_TYPES, INITIAL_PAYMENT_TYPES, get_result
from tollgate.payments import (
    MOVES,
    NATURES,
    OPEN_STATES,
    Nature,
    Outcome,
    Payment,
    RecoveryTask,
    State,
    Verdict,
    complete,
)
from tollgate.values import ChannelId, MerchantId, Money, PaymentId

STARTED = Payment(
    id=PaymentId("8a01"),
    merchant_id=MerchantId("8a02"),
    channel_id=ChannelId("8a03"),
    payment_type="DB",
    state=State.STARTED,
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
    assert set(MOVES) == set(product(Nature, Outcome))


def test_every_kind_that_begins_or_follows_has_a_nature() -> None:
    assert set(NATURES) == {*INITIAL_PAYMENT_TYPES, *FOLLOW_UP_PAYMENT_TYPES, "3D"}


def test_no_settlement_leaves_an_attempt_started() -> None:
    assert State.STARTED not in {move.state for move in MOVES.values()}


def test_what_is_not_decided_is_given_back_or_asked_for_never_forgotten() -> None:
    recovery_tasks = {key: move.recovery_task for key, move in MOVES.items() if move.recovery_task}

    assert recovery_tasks == {
        (Nature.TAKES, Outcome.SILENT): RecoveryTask.REVERSE,
        (Nature.TAKES, Outcome.LATE): RecoveryTask.REVERSE,
        (Nature.TAKES, Outcome.STALE): RecoveryTask.REVERSE,
        (Nature.TAKES, Outcome.ABANDONED): RecoveryTask.REVERSE,
        (Nature.GIVES, Outcome.SILENT): RecoveryTask.INQUIRE,
        (Nature.TAKES, Outcome.WAITING): RecoveryTask.INQUIRE,
        (Nature.GIVES, Outcome.WAITING): RecoveryTask.INQUIRE,
        (Nature.FOLLOWS, Outcome.SILENT): RecoveryTask.REPEAT,
        (Nature.FOLLOWS, Outcome.WAITING): RecoveryTask.REPEAT,
        (Nature.CHECKS, Outcome.WAITING): RecoveryTask.EXPIRE,
        **{(nature, Outcome.CHALLENGED): RecoveryTask.EXPIRE for nature in Nature},
    }


def test_every_open_state_has_somebody_who_asks_or_ends_it() -> None:
    asking = {RecoveryTask.INQUIRE, RecoveryTask.REPEAT, RecoveryTask.EXPIRE}

    assert all(move.recovery_task in asking for move in MOVES.values() if move.state in OPEN_STATES)


def test_only_what_stays_open_answers_pending() -> None:
    for move in MOVES.values():
        if move.code:
            assert (get_result(move.code).http_status == 200) == (move.state is State.UNRESOLVED)


@pytest.mark.parametrize(
    ("kind", "outcome", "state", "code", "recovery_task"),
    [
        ("DB", Outcome.APPROVED, State.APPROVED, "000.100.110", None),
        ("PA", Outcome.DECLINED, State.DECLINED, "000.100.110", None),
        ("DB", Outcome.WAITING, State.WAITING, "000.100.110", RecoveryTask.INQUIRE),
        ("DB", Outcome.UNSENT, State.DECLINED, "000.100.110", None),
        ("DB", Outcome.SILENT, State.DECLINED, "900.100.300", RecoveryTask.REVERSE),
        ("CD", Outcome.SILENT, State.UNRESOLVED, "000.200.000", RecoveryTask.INQUIRE),
        ("RF", Outcome.SILENT, State.UNRESOLVED, "000.200.000", RecoveryTask.REPEAT),
        ("CP", Outcome.UNSENT, State.DECLINED, "000.100.110", None),
    ],
)
def test_a_verdict_settles_an_attempt(
    kind: str, outcome: Outcome, state: State, code: str, recovery_task: RecoveryTask | None
) -> None:
    verdict = Verdict(outcome=outcome, code="000.100.110", details={"ExtendedDescription": "said"})

    completion = complete(replace(STARTED, payment_type=kind), verdict, now=9)

    assert (completion.payment.state, completion.payment.result_code) == (state, code)
    assert (completion.payment.completed_at, completion.recovery_task) == (9, recovery_task)
    assert completion.payment.details == {"ExtendedDescription": "said"}
    assert completion.payment.id == STARTED.id


def test_numbers_of_stored_states_never_change() -> None:
    assert {state.name: state.value for state in State} == {
        "STARTED": 0,
        "APPROVED": 1,
        "DECLINED": 2,
        "WAITING": 3,
        "UNRESOLVED": 4,
    }
