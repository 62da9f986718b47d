"""The events of schedules on both databases: each is written once, in the commit of the change that it announces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from databases.schedule_processes import BEGIN, CountingWire, keep_time, open_app
from outbox import list_events
from tollgate.catalog.rule import Situation
from tollgate.contract.fields import Fields, read_fields
from tollgate.flows.deliver import get_payload, pass_on_announcements
from tollgate.flows.schedules import deschedule, reschedule
from tollgate.operations.app import App, Call
from tollgate.payments.schedule import Schedule, ScheduleEvent
from tollgate.store import schedules
from tollgate.store.events import Event, find_announcement
from tollgate.store.opening import open_database
from tollgate.values import DAY, make_timed_id
from tollgate.vault.keyring import make_keyring
from unit.app_fixture import CHANNEL, MERCHANT
from unit.flows.scheduling import MONTH_END, NDC, REGISTRATION, at, plan_payments, read_id, register_card, spoil

pytestmark = pytest.mark.anyio

CREATED, UPDATED, ENDED = ScheduleEvent


@pytest.fixture
async def apps(url: str, tmp_path: Path) -> AsyncIterator[list[App]]:
    """Two processes on one store."""
    keyring, wire = make_keyring(), CountingWire(tmp_path / "charges")
    databases = [await open_database(url) for _ in range(2)]
    apps = [await open_app(db, wire, keyring, is_first=not place) for place, db in enumerate(databases)]
    await register_card(apps[0])
    yield apps
    for db in databases:
        await db.close()


@pytest.fixture
def app(apps: list[App]) -> App:
    return apps[0]


def read(payment_type: str, **sent: str) -> Fields:
    return read_fields(list(sent.items()), Situation("schedule", payment_type))


async def list_of(app: App, schedule_id: str) -> list[Event]:
    events = await list_events(app.database, MERCHANT.id)
    return [event for event in events if event.subject_id == schedule_id]


async def name_events(app: App, schedule_id: str) -> list[tuple[str, int]]:
    return [(event.topic, event.sequence) for event in await list_of(app, schedule_id)]


async def show_payloads(app: App, schedule_id: str) -> list[dict[str, Any]]:
    return [orjson.loads(await get_payload(app, event)) for event in await list_of(app, schedule_id)]


# ---- which events there are ----


async def test_a_new_schedule_is_announced_with_its_channel(app: App) -> None:
    schedule = await plan_payments(app, MONTH_END)

    [event] = await list_of(app, schedule.id)
    announcement = await find_announcement(app.database, MERCHANT.id, event.id)

    assert event == Event(
        id=make_timed_id(BEGIN, schedule.id),
        merchant_id=MERCHANT.id,
        subject_id=schedule.id,
        topic=CREATED,
        created_at=BEGIN,
    )
    assert announcement is not None
    assert (announcement.channel_id, announcement.payment_type, announcement.payload) == (CHANNEL.id, "", None)


async def test_a_schedule_that_replaces_another_is_announced_and_the_other_is_not_called_ended(app: App) -> None:
    schedule = await plan_payments(app, MONTH_END)

    second = read_id(await reschedule(app, read("RS", amount="7.50"), schedule.id, Call(CHANNEL, NDC)))

    assert await name_events(app, schedule.id) == [(CREATED, 1)]
    assert await name_events(app, second) == [(UPDATED, 1)]


async def test_a_cancelled_schedule_is_announced_even_in_the_moment_of_its_start(app: App) -> None:
    schedule = await plan_payments(app, MONTH_END)

    await deschedule(app, read("DS"), schedule.id, Call(CHANNEL, NDC))

    assert await name_events(app, schedule.id) == [(CREATED, 1), (ENDED, 2)]


async def test_a_schedule_that_runs_out_is_announced_when_it_is_found(app: App) -> None:
    schedule = await plan_payments(app, MONTH_END | {"endDate": "2026-12-01"})

    await keep_time(app, at("2026-12-15"), DAY)

    assert await name_events(app, schedule.id) == [(CREATED, 1), (ENDED, 2)]
    assert (await list_of(app, schedule.id))[1].created_at == at("2026-11-30 12:00")


async def test_all_schedules_that_end_with_their_registration_are_announced(app: App) -> None:
    first, second, over = [await plan_payments(app, MONTH_END) for _ in range(3)]
    assert await app.database.write(schedules.replace_schedule_writes(over, BEGIN), label="test")

    ending = schedules.end_schedules_writes(MERCHANT.id, REGISTRATION, BEGIN + 1, "100.150.202")
    assert await app.database.write(ending, label="test")

    assert [await name_events(app, each.id) for each in (first, second, over)] == [
        [(CREATED, 1), (ENDED, 2)],
        [(CREATED, 1), (ENDED, 2)],
        [(CREATED, 1)],
    ]


async def test_a_halted_schedule_is_not_announced_as_ended(app: App) -> None:
    schedule = await plan_payments(app, MONTH_END)

    assert await schedules.halt_schedule(app.database, schedule)
    ending = schedules.end_schedule_writes(schedule, BEGIN, is_guarded=False)
    assert await app.database.write(ending, label="test")

    assert await name_events(app, schedule.id) == [(CREATED, 1)]


# ---- several processes ----


async def end_with_registration(app: App, schedule: Schedule, place: int) -> None:
    await app.database.write(
        schedules.end_schedules_writes(MERCHANT.id, schedule.registration_id, BEGIN + place), label="test"
    )


async def end_by_decline(app: App, schedule: Schedule, place: int) -> None:
    ending = schedules.end_schedule_writes(schedule, BEGIN + place, "800.100.500", is_guarded=False)
    await app.database.write(ending, label="test")


async def end_by_merchant(app: App, schedule: Schedule, place: int) -> None:
    await app.database.write(schedules.end_schedule_writes(schedule, BEGIN + place), label="test")


async def retire(app: App, schedule: Schedule, place: int) -> None:
    assert schedule.next_at is None
    await schedules.retire_schedules(app.database, BEGIN + place, 10)


WAYS = (end_with_registration, end_by_decline, end_by_merchant, retire)


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
async def test_of_two_processes_that_end_a_schedule_one_announces_it(apps: list[App], first: Any, second: Any) -> None:
    for _ in range(5):
        schedule = await plan_payments(apps[0], MONTH_END)
        await spoil(apps[0], "UPDATE schedules SET next_at = NULL WHERE id = :id", id=schedule.id)
        seen = await schedules.find_schedule(apps[0].database, MERCHANT.id, schedule.id)
        assert seen is not None

        # Each has a time of its own, so two events would have two ids.
        await asyncio.gather(first(apps[0], seen, 1), second(apps[1], seen, 2))

        assert await name_events(apps[0], schedule.id) == [(CREATED, 1), (ENDED, 2)]


# ---- what they say ----


async def test_each_event_shows_the_schedule_by_the_type_of_its_change(app: App) -> None:
    schedule = await plan_payments(app, MONTH_END, merchantTransactionId="subscription-1")
    second = read_id(await reschedule(app, read("RS", amount="7.50"), schedule.id, Call(CHANNEL, NDC)))
    await deschedule(app, read("DS"), second, Call(CHANNEL, NDC))

    assert await pass_on_announcements(app) == 4
    [created] = await show_payloads(app, schedule.id)
    updated, ended = await show_payloads(app, second)

    assert [each["paymentType"] for each in (created, updated, ended)] == ["SD", "RS", "DS"]
    assert {each["source"] for each in (created, updated, ended)} == {"SCHEDULER"}
    assert {each["registrationId"] for each in (created, updated, ended)} == {REGISTRATION}
    assert {each["merchantTransactionId"] for each in (created, updated, ended)} == {"subscription-1"}
    assert [each["amount"] for each in (created, updated, ended)] == ["5.00", "7.50", "7.50"]
    assert (created["id"], updated["id"], updated["referencedId"]) == (schedule.id, second, schedule.id)
    assert created["authentication"] == {"entityId": CHANNEL.id}
    assert not ended["plan"]["active"]
