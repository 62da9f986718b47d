"""Plans of schedules in words, as the back office says them."""

from __future__ import annotations

import pytest

from tollgate.office.schedules import describe_plan, list_next_runs
from tollgate.payments.schedule import Schedule, ScheduleState
from tollgate.values import ChannelId, MerchantId, Money, RegistrationId, ScheduleId, to_datetime


def make_schedule(plan: dict[str, str], state: ScheduleState = ScheduleState.ACTIVE) -> Schedule:
    return Schedule(
        id=ScheduleId("8a" + "1" * 30),
        merchant_id=MerchantId("8a" + "2" * 30),
        channel_id=ChannelId("8a" + "3" * 30),
        series_id=ScheduleId("8a" + "1" * 30),
        registration_id=RegistrationId("8a" + "4" * 30),
        state=state,
        payment_type="DB",
        money=Money(500, "EUR"),
        plan=plan,
        ndc="ndc",
        created_at=0,
        starts_at=0,
        ends_at=None,
        next_at=1_798_790_400_000_000,
    )


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"second": "0", "minute": "30", "hour": "8", "dayOfMonth": "1"}, "at 08:30:00 UTC on day 1 of the month"),
        ({"expression": "0 0 12 ? * 2 *"}, "at 12:00:00 UTC on Monday"),
        ({"expression": "0 0 12 1 3 ? 2030"}, "at 12:00:00 UTC on day 1 of the month in March in 2030"),
        ({"expression": "0 0/15 * * * ? *"}, "every hour, minute 0/15, second 0 UTC every day"),
        ({}, "a plan that cannot be read"),
    ],
)
def test_a_plan_is_said_in_words(plan: dict[str, str], words: str) -> None:
    assert describe_plan(make_schedule(plan)) == words


def test_the_next_runs_follow_the_plan_and_a_schedule_that_ended_has_none() -> None:
    plan = {"expression": "0 0 8 1 * ? *"}
    runs = [to_datetime(at) for at in list_next_runs(make_schedule(plan))]
    assert len(runs) == 5
    assert [(run.day, run.hour) for run in runs[1:]] == [(1, 8)] * 4
    assert runs == sorted(runs)
    assert list_next_runs(make_schedule(plan, ScheduleState.ENDED)) == []
