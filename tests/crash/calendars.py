"""A day some months ahead on which schedules are due, plans for it, and gateways whose time flies. Nobody dies here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from crash.schedule_checks import Timetable
from crash.store_reader import StoreReader
from gateway import Client
from tollgate.values import to_instant

STEP_S = 600
"""A gateway's clock moves by this at every look: more than most of what is waited for."""
DEADLINE_S = 9
"""This is more than the time-out of the acquirer and the margin after it."""
_MONTHS_AHEAD = 3
_MONTHS_KNOWN = _MONTHS_AHEAD + 12


class Plan(StrEnum):
    YEARLY = "yearly"
    MONTHLY = "monthly"
    """Its first due times come while no gateway runs."""


@dataclass(frozen=True)
class Calendar:
    now: datetime
    """The time at which the calendar was opened."""

    @property
    def months(self) -> list[datetime]:
        """The first day of each month from the next one on."""
        counted = [self.now.year * 12 + self.now.month + ahead for ahead in range(_MONTHS_KNOWN)]
        return [datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in counted]

    @property
    def due_on(self) -> datetime:
        return self.months[_MONTHS_AHEAD - 1]

    def make_job(self, plan: Plan) -> dict[str, str]:
        job = {"job.second": "0", "job.minute": "0", "job.hour": "0", "job.dayOfMonth": "1"}
        return job if plan is Plan.MONTHLY else {**job, "job.month": str(self.due_on.month)}

    def make_timetable(self, plan: Plan) -> Timetable:
        """Counted without cron, which is doubted here."""
        months = [to_instant(month) for month in self.months]
        place = _MONTHS_AHEAD - 1
        if plan is Plan.MONTHLY:
            return Timetable(tuple(months[:place]), months[place], months[place + 1])
        return Timetable((), months[place], months[place + 12])

    def jump(self, client: Client) -> None:
        """Moves the clock to shortly after everything is due."""
        ahead_s = int((self.due_on - self.now).total_seconds()) + STEP_S
        assert client.post("/sandbox/clock", {"advance": str(ahead_s)}).status == 200


def read_calendar(client: Client) -> Calendar:
    return Calendar(datetime.fromisoformat(client.send("GET", "/sandbox/clock").json["now"]))


def pass_deadlines(store: StoreReader) -> None:
    """Moves the clock past every time-out of the acquirer, so that no test has to wait for it."""
    store.query("INSERT INTO settings (name, value) VALUES ('clock_offset', '0') ON CONFLICT (name) DO NOTHING")
    move_clock(store, DEADLINE_S)


def move_clock(store: StoreReader, seconds: int = STEP_S) -> None:
    """Moves the clock that all gateways share, dead or alive."""
    moved = f"CAST(CAST(value AS BIGINT) + {seconds * 1_000_000} AS TEXT)"
    store.query(f"UPDATE settings SET value = {moved} WHERE name = 'clock_offset'")
