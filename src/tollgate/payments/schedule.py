"""A schedule: which stored account is charged how much, by which plan; and its runs, one for each time it is due.

When a plan is due is computed in `cron`; nothing is read, written or sent here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import msgspec

from tollgate.payments.order import TestMode
from tollgate.values import ChannelId, Instant, MerchantId, Money, PaymentId, RegistrationId, ScheduleId

RUN_TOPIC = "schedule"
"""Of the jobs that make payments of schedules."""


class ScheduleState(IntEnum):
    """The numbers are stored, so a number is never used again for something else."""

    ACTIVE = 0
    REPLACED = 1
    """Rescheduled: another of its series goes on."""
    ENDED = 2
    """Descheduled, run out, or ended by what a card's holder or issuer said."""
    HALTED = 3
    """Its row is not what was written: nothing is paid before somebody has looked at it."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    id: ScheduleId
    merchant_id: MerchantId
    channel_id: ChannelId
    series_id: ScheduleId
    """The first of those that replaced each other; any of their ids names the series."""
    registration_id: RegistrationId
    state: ScheduleState
    payment_type: str
    """The payment type of its runs."""
    money: Money
    plan: Mapping[str, str]
    """What was asked for of the plan, as it is answered again."""
    ndc: str
    created_at: Instant
    starts_at: Instant
    ends_at: Instant | None
    next_at: Instant | None
    """When it is due next; None: never again."""
    test_mode: TestMode | None = None
    echo: Mapping[str, str] = {}
    """What its payments carry: the fields as sent that may be stored."""
    result_code: str = ""
    """Why it ended, where a payment ended it."""
    skipped: int = 0
    """Times that were missed and have no run of their own, because they were too many."""
    mac: bytes | None = None
    """Seals what decides about money: nobody makes a schedule by writing into the store. Gone when it ends, so that
    nobody wakes it up again either."""


class RunState(IntEnum):
    """The numbers are stored, so a number is never used again for something else."""

    DUE = 0
    """Its payment is being made, or waits for its next try."""
    MADE = 1
    MISSED = 2
    """Nobody was there; a later run was made instead."""
    FAILED = 3
    DROPPED = 4
    """Its schedule ended before a payment was made."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    merchant_id: MerchantId
    schedule_id: ScheduleId
    due_at: Instant
    state: RunState
    tries: int = 0
    payment_id: PaymentId | None = None
    """Of the last try."""
    result_code: str = ""
    completed_at: Instant | None = None

    @property
    def job_id(self) -> str:
        return f"{RUN_TOPIC}.{self.schedule_id}.{self.due_at}"
