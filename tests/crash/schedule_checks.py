"""Runs of schedules compared with their payments and the acquirer's ledger: every due time is paid once.

The tables are read directly. Facts about single payments are compared in `store_reader`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from acquirer import Entry, Fate
from crash.store_reader import ASIDE, Record, StoreReader
from tollgate.payments.payment import State
from tollgate.payments.schedule import RunState, make_run_payment_id
from tollgate.values import PaymentId, ScheduleId

_RUNS = """SELECT schedule_id, due_at, state, tries, coalesce(payment_id, '') FROM schedule_runs
 ORDER BY schedule_id, due_at"""
_NEXT = "SELECT id, coalesce(next_at, 0) FROM schedules"
_TRIES_LOOKED_AT = 12
"""A run never has so many tries."""

_WAITING = (
    ("schedules", "next_at", "state = 0"),
    ("jobs", "due_at", "1 = 1"),
    ("payments", "deadline_at", "state = 0"),
)
"""Everything that a worker would look at once its time has come."""


@dataclass(frozen=True)
class RunRow:
    schedule_id: ScheduleId
    due_at: int
    state: RunState
    tries: int
    payment_id: str

    def name_tries(self) -> list[PaymentId]:
        return [make_run_payment_id(self.schedule_id, self.due_at, attempt + 1) for attempt in range(_TRIES_LOOKED_AT)]


@dataclass(frozen=True)
class Timetable:
    """A timetable is what a plan promised for the time that has passed."""

    missed: tuple[int, ...]
    due_at: int
    next_at: int


def read_runs(store: StoreReader) -> dict[str, list[RunRow]]:
    """Reads the runs by schedule, oldest first."""
    runs: dict[str, list[RunRow]] = defaultdict(list)
    for schedule_id, due_at, state, tries, payment_id in store.query(_RUNS):
        row = RunRow(ScheduleId(schedule_id), int(due_at), RunState(int(state)), int(tries), payment_id)
        runs[schedule_id].append(row)
    return runs


# ---- time that stands still for some ----


def set_aside(store: StoreReader) -> None:
    """No worker looks at anything that waits now, until it is brought back as it was."""
    for table, column, where in _WAITING:
        store.query(f"UPDATE {table} SET {column} = {column} + {ASIDE} WHERE {where} AND {column} < {ASIDE}")


def bring_back(store: StoreReader) -> None:
    for table, column, _ in _WAITING:
        store.query(f"UPDATE {table} SET {column} = {column} - {ASIDE} WHERE {column} >= {ASIDE}")


def wake(store: StoreReader, schedule_id: str) -> None:
    store.query(f"UPDATE schedules SET next_at = next_at - {ASIDE} WHERE id = '{schedule_id}' AND next_at >= {ASIDE}")


def put_to_sleep(store: StoreReader, topic: str) -> None:
    store.query(f"UPDATE jobs SET due_at = due_at + {ASIDE} WHERE topic = '{topic}' AND due_at < {ASIDE}")


def wake_jobs(store: StoreReader, subjects: Iterable[str]) -> None:
    named = ", ".join(f"'{subject}'" for subject in subjects)
    store.query(f"UPDATE jobs SET due_at = due_at - {ASIDE} WHERE subject_id IN ({named}) AND due_at >= {ASIDE}")


# ---- what must be true in the end ----


def find_run_lies(store: StoreReader, ledger: Mapping[str, Entry], timetables: Mapping[str, Timetable]) -> list[str]:
    """Returns nothing when no due time is lost or doubled, and each is paid once or, where it failed, not at all."""
    runs = read_runs(store)
    next_times = {schedule_id: int(next_at) for schedule_id, next_at in store.query(_NEXT)}
    return [
        *(f"runs of {each}, which nobody made" for each in runs.keys() - timetables.keys()),
        *(
            lie
            for schedule_id, timetable in timetables.items()
            for lie in _compare_times(schedule_id, timetable, runs.get(schedule_id, []), next_times[schedule_id])
        ),
        *find_run_charges(store, ledger),
    ]


def find_run_charges(store: StoreReader, ledger: Mapping[str, Entry]) -> list[str]:
    """Lists charges for a due time that its run does not account for."""
    records = {record.id: record for record in store.read_payments()}
    rows = [row for rows in read_runs(store).values() for row in rows]
    return [lie for row in rows for lie in _compare_money(row, records, ledger)]


def _compare_times(schedule_id: str, timetable: Timetable, runs: list[RunRow], next_at: int) -> Iterator[str]:
    if [run.due_at for run in runs] != [*timetable.missed, timetable.due_at]:
        yield f"{schedule_id} was due at {timetable}, its runs are {runs}"
    if next_at != timetable.next_at:
        yield f"{schedule_id} is due next at {next_at} instead of {timetable.next_at}"
    for run in runs:
        if (run.state is RunState.MISSED) is not (run.due_at in timetable.missed):
            yield f"of {timetable} there is {run}"


def _compare_money(run: RunRow, records: Mapping[str, Record], ledger: Mapping[str, Entry]) -> Iterator[str]:
    names = run.name_tries()
    standing = [name for name in names if name in ledger and ledger[name].fate is Fate.APPROVED]
    approved = [name for name in names if name in records and records[name].state is State.APPROVED]
    made = [run.payment_id] if run.state is RunState.MADE else []
    if run.state is RunState.DUE:
        yield f"{run} was never decided"
    if standing != made or approved != made:
        yield f"{run}, but {standing} stand at the acquirer and {approved} were recorded as paid"
    if [name for name in names if name in records] != names[: run.tries]:
        yield f"{run} does not know how often it was tried"
