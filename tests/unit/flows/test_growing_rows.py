"""Rows to which every request may add: they stay within the bounds of a single request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.contract.answers import Answer
from tollgate.contract.fields import read_fields
from tollgate.flows.registrations import reregister
from tollgate.flows.schedules import reschedule
from tollgate.operations.app import App, Call
from tollgate.values import TooLarge
from unit.app_fixture import CHANNEL
from unit.flows.scheduling import MONTH_END, NDC, REGISTRATION, plan_payments, register_card

pytestmark = pytest.mark.anyio

Change = Callable[[App, str, list[tuple[str, str]]], Awaitable[Answer]]


async def change_registration(app: App, _schedule_id: str, pairs: list[tuple[str, str]]) -> Answer:
    fields = read_fields(pairs, Situation("update_registration", None))
    return await reregister(app, fields, REGISTRATION, Call(CHANNEL, NDC))


async def change_schedule(app: App, schedule_id: str, pairs: list[tuple[str, str]]) -> Answer:
    fields = read_fields([("amount", "6.00"), *pairs], Situation("schedule", "RS"))
    return await reschedule(app, fields, schedule_id, Call(CHANNEL, NDC))


def make_pairs(round_of: int, count: int, length: int) -> list[tuple[str, str]]:
    return [(f"customParameters[r{round_of}n{number}]", "x" * length) for number in range(count)]


@pytest.mark.parametrize("change", [change_registration, change_schedule])
@pytest.mark.parametrize(
    ("count", "length"), [(LIMITS.parameters_max * 2 // 3, 1), (400, 1500)], ids=["many names", "long texts"]
)
async def test_what_is_added_request_by_request_does_not_grow_for_ever(
    app: App, change: Change, count: int, length: int
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    first = make_pairs(0, count, length)

    await change(app, schedule.id, first)
    again = await change(app, schedule.id, first)
    with pytest.raises(TooLarge):
        await change(app, schedule.id, make_pairs(1, count, length))

    assert again.status == 200
