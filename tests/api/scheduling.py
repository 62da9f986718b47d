"""Schedules in the words of a merchant; every function sends one request. No test lives here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from api.merchants import wait_until
from gateway import Answer, Client, GatewayProcess

PATH = "/scheduling/v1/schedules"
OLDER_PATH = "/v1/schedules"
FAR = {"job.dayOfMonth": "L", "job.startDate": "2090-01-01"}
"""Never due while tests run."""
CHARGE = {"amount": "5.00", "currency": "EUR", "paymentType": "SD"}
MINUTE_S = 60


def schedule(
    client: Client,
    registration_id: str,
    fields: Mapping[str, str | None] = FAR,
    headers: Mapping[str, str] | None = None,
    *,
    path: str = PATH,
) -> Answer:
    return client.post(path, {**CHARGE, "registrationId": registration_id, **fields}, headers)


def plan(client: Client, registration_id: str, fields: Mapping[str, str | None] = FAR) -> str:
    """Makes a schedule and returns its id."""
    answer = schedule(client, registration_id, fields)
    assert answer.status == 200, answer.body
    schedule_id: str = answer.json["id"]
    return schedule_id


def read(client: Client, named_id: str) -> Answer:
    return client.get(f"{PATH}/{named_id}")


def reschedule(
    client: Client, schedule_id: str, fields: Mapping[str, str | None], headers: Mapping[str, str] | None = None
) -> Answer:
    return client.post(f"{PATH}/{schedule_id}/reschedule", fields, headers)


def deschedule(
    client: Client,
    schedule_id: str,
    fields: Mapping[str, str | None] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    return client.post(f"{PATH}/{schedule_id}/deschedule", fields or {}, headers)


def delete(client: Client, schedule_id: str) -> Answer:
    sent = urlencode({"entityId": client.entity_id})
    return client.send("DELETE", f"{OLDER_PATH}/{schedule_id}?{sent}", None, client.authorized())


def is_active(client: Client, schedule_id: str) -> bool:
    active: bool = read(client, schedule_id).json["plan"]["active"]
    return active


def list_runs(client: Client, schedule_id: str) -> list[Any]:
    """Lists the runs of a schedule, oldest first."""
    runs: list[Any] = read(client, schedule_id).json["runs"]
    return runs[::-1]


@dataclass
class Timetable:
    """A server whose years belong to these tests alone."""

    gateway: GatewayProcess
    client: Client

    def get_now(self) -> datetime:
        return datetime.fromisoformat(self.client.send("GET", "/sandbox/clock").json["now"])

    def pass_seconds(self, seconds: int) -> None:
        answer = self.client.post("/sandbox/clock", {"advance": str(seconds), "entityId": None})
        assert answer.status == 200, answer.body

    def pass_to_next_run(self, schedule_id: str) -> None:
        """Moves the clock to a minute after the next run is due."""
        next_run = datetime.fromisoformat(read(self.client, schedule_id).json["plan"]["nextRun"])
        self.pass_seconds(int((next_run - self.get_now()).total_seconds()) + MINUTE_S)

    def wait_for_runs(self, schedule_id: str, count: int) -> None:
        """Waits until there are so many runs and none of them is due."""

        def is_done() -> bool:
            states = [run["state"] for run in list_runs(self.client, schedule_id)]
            return len(states) >= count and "DUE" not in states

        wait_until(is_done)

    def wait_for_tries(self, schedule_id: str, count: int) -> None:
        """Waits until the first run was tried so often."""
        wait_until(lambda: sum(run["tries"] for run in list_runs(self.client, schedule_id)[:1]) >= count)
