"""Schedules in a house with a clock in the hand: a stored card, a plan for it, and time that passes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson
import sqlalchemy as sa

from tollgate.catalog import Situation
from tollgate.contract import Answer, read_fields
from tollgate.flows import create_schedule
from tollgate.payments import InitialPayment, Payment, RegistrationState, Run, Schedule
from tollgate.steps import House, seal_registration, start_registration
from tollgate.store import Step, find_payment, find_schedule, list_runs, steps_insert_registration
from tollgate.store.statements import Statement
from tollgate.values import FixedClock, Instant, RegistrationId, to_datetime, to_instant
from tollgate.workers.reconcile import reconcile, run_errands
from tollgate.workers.schedules import order_runs, pay_runs
from unit.premises import CARD, CHANNEL, MERCHANT, ORDER, ScriptedWire

REGISTRATION = RegistrationId("8a" + "7" * 30)
NDC = "trace"
RUNS_MAX = 10_000
NO_MONEY = b'{"status":"declined","response_code":"51","message":"No money"}'
MONTH_END = {"dayOfMonth": "L", "hour": "10"}
FIRST: Instant = to_instant(datetime(2026, 11, 30, 10, tzinfo=UTC))
"""When such a plan is due for the first time."""


def at(text: str) -> Instant:
    return to_instant(datetime.fromisoformat(text).replace(tzinfo=UTC))


def tell(instants: list[Instant]) -> list[str]:
    """As people write them, to the minute."""
    return [to_datetime(instant).strftime("%Y-%m-%d %H:%M") for instant in instants]


async def register_card(
    house: House, registration_id: RegistrationId = REGISTRATION, initial: InitialPayment | None = None
) -> RegistrationId:
    bare = start_registration(house, ORDER, CHANNEL, NDC, registration_id)
    active = msgspec.structs.replace(bare, state=RegistrationState.ACTIVE, initial=initial)
    new = seal_registration(house, active, CARD)
    assert await house.database.write(steps_insert_registration(new))
    return registration_id


def make_pairs(plan: dict[str, str], **more: str) -> list[tuple[str, str]]:
    sent = {"registrationId": REGISTRATION, "amount": "5.00", "currency": "EUR", "paymentType": "SD", **more}
    return [(name, text) for name, text in sent.items() if text] + [
        (f"job.{name}", text) for name, text in plan.items()
    ]


async def plan_payments(house: House, plan: dict[str, str], **more: str) -> Schedule:
    fields = read_fields(make_pairs(plan, **more), Situation("schedule", "SD"))
    return await get_schedule(house, read_id(await create_schedule(house, fields, CHANNEL, NDC, None)))


def read_id(answer: Answer) -> str:
    schedule_id: str = orjson.loads(answer.body)["id"]
    return schedule_id


async def get_schedule(house: House, schedule_id: str) -> Schedule:
    schedule = await find_schedule(house.database, MERCHANT.id, schedule_id)
    assert schedule is not None
    return schedule


async def get_runs(house: House, schedule: Schedule) -> list[Run]:
    """Oldest first."""
    return (await list_runs(house.database, MERCHANT.id, schedule.id, RUNS_MAX))[::-1]


async def get_payment_of(house: House, run: Run) -> Payment:
    assert run.payment_id is not None
    payment = await find_payment(house.database, MERCHANT.id, run.payment_id)
    assert payment is not None
    return payment


async def work(house: House) -> None:
    """All workers have their turn until nothing is left to do at this moment."""
    while await order_runs(house) + await pay_runs(house) + await run_errands(house) + await reconcile(house):
        pass
    await order_runs(house)


def get_clock(house: House) -> FixedClock:
    assert isinstance(house.clock, FixedClock)
    return house.clock


async def pass_time(house: House, until: Instant, step: Instant) -> None:
    """Workers that look in now and then."""
    clock = get_clock(house)
    while clock.at < until:
        clock.at = min(clock.at + step, until)
        await work(house)


async def spoil(house: House, text: str, **params: Any) -> None:
    """Somebody writes into the store."""
    assert await house.database.write([Step(Statement(sa.text(text), is_write=True), params, rows=1)])


def list_charges(wire: ScriptedWire) -> list[str]:
    """The names under which the acquirer was asked for money."""
    return [request.key or "" for request in wire.sent if request.path == "/v1/charges"]
