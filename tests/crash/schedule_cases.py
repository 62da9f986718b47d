"""One due time of one schedule, whose gateway dies at a crash point of its run: made, cut off, looked at.

The crash points, and what each may leave behind, are rows elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from acquirer import Entry
from crash.background_cases import BackgroundCase, Stage
from crash.calendars import Plan
from crash.crashes import Request, describe_end
from crash.schedule_checks import RunRow, Timetable, read_runs, wake
from crash.store_reader import Record, StoreReader
from gateway import CARD, Client
from tollgate.payments.schedule import RunState, make_run_payment_id
from tollgate.store.opening import open_database
from tollgate.store.schedules import end_schedule_writes, find_schedule
from tollgate.values import MerchantId, ScheduleId

_TRIES_LOOKED_AT = 12
_NO_SCHEDULE, _NO_TIMES = ScheduleId(""), Timetable((), 0, 0)


@dataclass(frozen=True)
class RunRequest(Request):
    plan: Plan = Plan.YEARLY
    is_ended: bool = False
    """Its merchant ends it after the first death."""


@dataclass
class RunCase(BackgroundCase):
    schedule_id: ScheduleId = _NO_SCHEDULE
    timetable: Timetable = _NO_TIMES

    @property
    def request(self) -> RunRequest:
        assert isinstance(self.crash.request, RunRequest)
        return self.crash.request

    def prepare(self, stage: Stage, client: Client) -> None:
        registration = client.post("/v1/registrations", {**CARD, "testMode": "EXTERNAL"})
        assert registration.status == 200, registration.body
        job, amount = stage.calendar.make_job(self.request.plan), self.crash.amount or ""
        self.schedule_id = make_schedule(client, registration.json["id"], amount, job)
        self.timetable = stage.calendar.make_timetable(self.request.plan)

    def run(self, stage: Stage) -> None:
        wake(stage.world.store, self.schedule_id)
        self.crash_once(stage, self.crash.kill, moves_clock=False)
        if self.request.is_ended:
            self._end(stage)
        for kill in self.crash.recoveries:
            self.crash_once(stage, kill, moves_clock=True)

    def _end(self, stage: Stage) -> None:
        of = f"SELECT merchant_id FROM schedules WHERE id = '{self.schedule_id}'"
        [(merchant_id,)] = stage.world.store.query(of)
        asyncio.run(_end(stage.world.database, MerchantId(merchant_id), self.schedule_id))

    def look(self, stage: Stage, records: Sequence[Record], ledger: dict[str, Entry]) -> None:
        self.records = self.find_records(records)
        received = [describe_end(each, ledger.get(each.id)) for each in self.records]
        self.rows = "; ".join([*received, *self.tell_more(stage.world.store)])

    def find_records(self, records: Iterable[Record]) -> list[Record]:
        own = set(self.name_payments())
        return [each for each in records if each.id in own or each.chain_id in own]

    def name_payments(self) -> list[str]:
        attempts = range(1, _TRIES_LOOKED_AT)
        return [make_run_payment_id(self.schedule_id, self.timetable.due_at, attempt) for attempt in attempts]

    def list_subjects(self, store: StoreReader) -> list[str]:
        return [self.schedule_id, *(each.id for each in self.find_records(store.read_payments()))]

    def tell_more(self, store: StoreReader) -> list[str]:
        runs = read_runs(store).get(self.schedule_id, [])
        return [_tell_runs(runs)] if runs else []


def _tell_runs(runs: list[RunRow]) -> str:
    missed = sum(run.state is RunState.MISSED for run in runs)
    return f"run {runs[-1].state.name.lower()}" + (f" and {missed} missed" if missed else "")


def make_schedule(client: Client, registration_id: str, amount: str, job: dict[str, str]) -> ScheduleId:
    fields = {"registrationId": registration_id, "amount": amount, "currency": "EUR", "paymentType": "SD"}
    answer = client.post("/scheduling/v1/schedules", {**fields, "testMode": "EXTERNAL", **job})
    assert answer.status == 200, answer.body
    return ScheduleId(answer.json["id"])


async def _end(database_url: str, merchant_id: MerchantId, schedule_id: ScheduleId) -> None:
    """Ends the schedule as its merchant does."""
    database = await open_database(database_url)
    schedule = await find_schedule(database, merchant_id, schedule_id)
    assert schedule is not None
    assert await database.write(end_schedule_writes(schedule, schedule.created_at), label="test")
    await database.close()
