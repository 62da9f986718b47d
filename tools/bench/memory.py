"""Measures the memory of one server while it makes very many payments, all of which are found. Judges nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tools.bench.plan import Plan, Side
from tools.bench.subject import Subject
from tools.bench.wrk import send_load

CONNECTIONS = 64
TENTHS = 10
SETTLED_AT = 2
"""The caches of the database and of the interpreter are full after so many tenths."""


@dataclass
class MemoryResult:
    planned: int
    read_mb: dict[int, float] = field(default_factory=dict)
    """The memory of the process after each tenth of what was planned."""
    at_end_mb: float = 0.0
    answered: int = 0
    payments: int = 0
    """Found in the database afterwards, each with its event."""

    @property
    def growth(self) -> float:
        """Returns how many times as much it needs at the end as when its caches were full."""
        return self.at_end_mb / self.read_mb[SETTLED_AT]


def measure_memory(side: Side, folder: Path, plan: Plan, tell: Callable[[str], None]) -> MemoryResult:
    result = MemoryResult(plan.memory_payments)
    with ExitStack() as stack:
        subject = Subject(folder / "memory", side.create_database())
        stack.callback(subject.stop)
        subject.start()
        call, given_up_at = subject.make_call(), time.monotonic() + plan.memory_s
        while result.answered < result.planned and time.monotonic() < given_up_at:
            result.answered += send_load(call, CONNECTIONS, plan.seconds).answered
            result.at_end_mb = subject.read_memory_mb()
            tenth = result.answered * TENTHS // result.planned
            if tenth and tenth not in result.read_mb:
                result.read_mb[tenth] = result.at_end_mb
                tell(f"{side.name}: {result.at_end_mb:.0f} MiB after {result.answered} payments")
        subject.stop()
        result.payments, events = side.count_completed(subject.database)
    if SETTLED_AT not in result.read_mb:
        raise RuntimeError(f"only {result.answered} payments of {result.planned} were made in {plan.memory_s} s")
    if result.payments != events or result.payments < result.answered:
        raise RuntimeError(f"{result.answered} payments answered, {result.payments} completed, {events} events")
    return result
