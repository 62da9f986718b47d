"""Schedules in an app with a clock that tests move: a registered card, a plan for it, and time that passes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson
import sqlalchemy as sa

from tollgate.catalog.rule import Situation
from tollgate.contract.answers import Answer
from tollgate.contract.fields import read_fields
from tollgate.flows.schedules import create_schedule
from tollgate.operations.accounts import seal_registration, start_registration
from tollgate.operations.app import App, Call
from tollgate.payments.payment import Payment
from tollgate.payments.registration import InitialPayment, RegistrationState
from tollgate.payments.schedule import Run, Schedule
from tollgate.store.payments import find_payment
from tollgate.store.registrations import insert_registration_writes
from tollgate.store.schedules import find_schedule, list_runs
from tollgate.store.statements import Statement, Write
from tollgate.values import FixedClock, Instant, RegistrationId, to_datetime, to_instant
from tollgate.workers.jobs import order_runs, pay_runs, recover_payments, run_recovery_tasks
from unit.app_fixture import CARD, CHANNEL, MERCHANT, ORDER, ScriptedWire

REGISTRATION = RegistrationId("8a" + "7" * 30)
NDC = "trace"
RUNS_MAX = 10_000
NO_MONEY = b'{"status":"declined","response_code":"51","message":"No money"}'
MONTH_END = {"dayOfMonth": "L", "hour": "10"}
FIRST: Instant = to_instant(datetime(2026, 11, 30, 10, tzinfo=UTC))
"""Such a plan is due then for the first time."""


def at(text: str) -> Instant:
    return to_instant(datetime.fromisoformat(text).replace(tzinfo=UTC))


def tell(instants: list[Instant]) -> list[str]:
    """Renders instants as people write them, to the minute."""
    return [to_datetime(instant).strftime("%Y-%m-%d %H:%M") for instant in instants]


async def register_card(
    app: App, registration_id: RegistrationId = REGISTRATION, initial: InitialPayment | None = None
) -> RegistrationId:
    bare = start_registration(app, ORDER, Call(CHANNEL, NDC), registration_id)
    active = msgspec.structs.replace(bare, state=RegistrationState.ACTIVE, initial=initial)
    new = seal_registration(app, active, CARD)
    assert await app.database.write(insert_registration_writes(new), label="test")
    return registration_id


def make_pairs(plan: dict[str, str], **more: str) -> list[tuple[str, str]]:
    sent = {"registrationId": REGISTRATION, "amount": "5.00", "currency": "EUR", "paymentType": "SD", **more}
    return [(name, text) for name, text in sent.items() if text] + [
        (f"job.{name}", text) for name, text in plan.items()
    ]


async def plan_payments(app: App, plan: dict[str, str], **more: str) -> Schedule:
    fields = read_fields(make_pairs(plan, **more), Situation("schedule", "SD"))
    return await get_schedule(app, read_id(await create_schedule(app, fields, Call(CHANNEL, NDC))))


def read_id(answer: Answer) -> str:
    schedule_id: str = orjson.loads(answer.body)["id"]
    return schedule_id


async def get_schedule(app: App, schedule_id: str) -> Schedule:
    schedule = await find_schedule(app.database, MERCHANT.id, schedule_id)
    assert schedule is not None
    return schedule


async def get_runs(app: App, schedule: Schedule) -> list[Run]:
    """Returns the runs, oldest first."""
    return (await list_runs(app.database, MERCHANT.id, schedule.id, RUNS_MAX))[::-1]


async def get_payment_of(app: App, run: Run) -> Payment:
    assert run.payment_id is not None
    payment = await find_payment(app.database, MERCHANT.id, run.payment_id)
    assert payment is not None
    return payment


async def work(app: App) -> None:
    """All workers have their turn until nothing is left to do at this moment."""
    while await order_runs(app) + await pay_runs(app) + await run_recovery_tasks(app) + await recover_payments(app):
        pass
    await order_runs(app)


def get_clock(app: App) -> FixedClock:
    assert isinstance(app.clock, FixedClock)
    return app.clock


async def pass_time(app: App, until: Instant, step: Instant) -> None:
    """Workers that look in now and then."""
    clock = get_clock(app)
    while clock.at < until:
        clock.at = min(clock.at + step, until)
        await work(app)


async def spoil(app: App, text: str, **params: Any) -> None:
    """Changes the store directly."""
    assert await app.database.write([Write(Statement(sa.text(text), is_write=True), params, rows=1)], label="test")


def list_charges(wire: ScriptedWire) -> list[str]:
    """Returns the names under which the acquirer was asked for money."""
    return [request.key or "" for request in wire.sent if request.path == "/v1/charges"]
