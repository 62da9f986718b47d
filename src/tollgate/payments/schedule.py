"""Schedules, their runs, when they fall due, and when a declined run is tried again. No run is started here."""

from collections.abc import Mapping
from enum import Enum, IntEnum, StrEnum
from hashlib import blake2b

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.payments.cron import Cron
from tollgate.payments.order import TestMode
from tollgate.values import DAY, HOUR, ChannelId, Instant, MerchantId, Money, PaymentId, RegistrationId, ScheduleId

RUN_TOPIC = "schedule"
"""The topic of jobs that make the payments of schedules."""


class ScheduleState(IntEnum):
    """The numbers are stored, so a number is never reused."""

    ACTIVE = 0
    REPLACED = 1
    """Rescheduled: another of its series goes on."""
    ENDED = 2
    """Descheduled, run out, or ended by what a card's holder or issuer said."""
    HALTED = 3
    """Its row is not what was written: nothing is paid before somebody has looked at it."""


class ScheduleEvent(StrEnum):
    """The events of which a merchant is notified."""

    CREATED = "schedule.created"
    UPDATED = "schedule.updated"
    """Announces the schedule that replaces another, which has no event for its own end."""
    ENDED = "schedule.ended"


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
    """The fields of the schedule as they were sent, which answers repeat."""
    ndc: str
    created_at: Instant
    starts_at: Instant
    ends_at: Instant | None
    next_at: Instant | None
    """The next time at which it is due; None means never again."""
    test_mode: TestMode | None = None
    echo: Mapping[str, str] = {}
    """The fields that its payments carry."""
    result_code: str = ""
    """The result code of the payment that ended it."""
    skipped: int = 0
    """Times that were missed and have no run of their own, because they were too many."""
    mac: bytes | None = None
    """The signature. It is removed when the schedule ends, so that nobody can make it active again."""

    @property
    def facts(self) -> tuple[object, ...]:
        """Returns what the signature covers: neither the state, which every write expects, nor how far it has come."""
        return (
            self.merchant_id,
            self.channel_id,
            self.id,
            self.series_id,
            self.registration_id,
            self.payment_type,
            self.money.hundredths,
            self.money.currency,
            self.plan,
            self.echo,
            self.created_at,
            self.starts_at,
            self.ends_at,
            self.test_mode and self.test_mode.value,
        )


class RunState(IntEnum):
    """The numbers are stored, so a number is never reused."""

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
    """The payment of the last try."""
    result_code: str = ""
    completed_at: Instant | None = None

    @property
    def job_id(self) -> str:
        return f"{RUN_TOPIC}.{self.schedule_id}.{self.due_at}"

    def make_payment_id(self, attempt: int) -> PaymentId:
        return make_run_payment_id(self.schedule_id, self.due_at, attempt)


_ID_BYTES = 15


class Due(msgspec.Struct, frozen=True, kw_only=True):
    due_at: Instant
    """The last time that has come; its payment is made."""
    missed: tuple[Instant, ...]
    """The earlier times that came while no worker ran, the latest first, up to the number that is stored."""
    skipped: int
    """The number of times missed before those; it is not counted beyond the limit."""
    next_at: Instant | None


def count_due(cron: Cron, next_at: Instant, ends_at: Instant | None, now: Instant) -> Due:
    """Returns the times that are due of a schedule whose `next_at` has come."""
    until = now if ends_at is None else min(now, ends_at - 1)
    # What was promised is due, even should the plan read otherwise by now.
    due_at = max(cron.last_until(until) or next_at, next_at)
    missed: list[Instant] = []
    skipped = 0
    earlier = _find_before(cron, due_at, next_at)
    while earlier is not None and skipped < LIMITS.missed_runs_counted:
        if len(missed) < LIMITS.missed_runs_kept:
            missed.append(earlier)
        else:
            skipped += 1
        earlier = _find_before(cron, earlier, next_at)
    return Due(due_at=due_at, missed=tuple(missed), skipped=skipped, next_at=find_next(cron, due_at, ends_at))


def find_next(cron: Cron, after: Instant, ends_at: Instant | None) -> Instant | None:
    found = cron.next_after(after)
    return None if found is None or (ends_at is not None and found >= ends_at) else found


def _find_before(cron: Cron, at: Instant, first: Instant) -> Instant | None:
    """Returns the due time before this one; the promised one counts."""
    if at <= first:
        return None
    return max(cron.last_until(at - 1) or first, first)


def make_run_payment_id(schedule_id: ScheduleId, due_at: Instant, attempt: int) -> PaymentId:
    """Returns the same id however often it is called, so that the store refuses to make one payment twice.

    No key goes into it: keys are rotated, and this must never change.
    """
    named = f"{schedule_id}.{due_at}.{attempt}".encode()
    return PaymentId("8a" + blake2b(named, digest_size=_ID_BYTES).hexdigest())


class Reaction(Enum):
    SOFT = "may go through on another day"
    HARD = "will not go through; the next time of the plan is another matter"
    STOP = "ends the series: nobody may be charged for it again"


REACTIONS: Mapping[str, Reaction] = {
    # Money or limits, which come back.
    "800.100.155": Reaction.SOFT,
    "800.100.162": Reaction.SOFT,
    "800.100.163": Reaction.SOFT,
    "800.100.164": Reaction.SOFT,
    "800.100.179": Reaction.SOFT,
    "800.100.203": Reaction.SOFT,
    "800.120.101": Reaction.SOFT,
    "800.120.200": Reaction.SOFT,
    "800.120.201": Reaction.SOFT,
    "800.120.401": Reaction.SOFT,
    # No reason, or one that passes.
    "800.100.100": Reaction.SOFT,
    "800.100.152": Reaction.SOFT,
    "800.100.156": Reaction.SOFT,
    "800.100.161": Reaction.SOFT,
    "800.100.176": Reaction.SOFT,
    "800.100.321": Reaction.SOFT,
    "800.100.322": Reaction.SOFT,
    "800.100.327": Reaction.SOFT,
    "700.600.002": Reaction.SOFT,
    "700.600.025": Reaction.SOFT,
    # The payer or the payer's bank has said that it is over.
    "700.601.003": Reaction.STOP,
    "800.100.197": Reaction.STOP,
    "800.100.202": Reaction.STOP,
    "800.100.204": Reaction.STOP,
    "800.100.205": Reaction.STOP,
    "800.100.403": Reaction.STOP,
    "800.100.500": Reaction.STOP,
    "800.100.501": Reaction.STOP,
    "800.310.200": Reaction.STOP,
    # No line broke: the message itself is at fault, and would be again.
    "900.100.202": Reaction.HARD,
    "900.100.204": Reaction.HARD,
}

GROUP_REACTIONS: Mapping[str, Reaction] = {
    "comm_error": Reaction.SOFT,
    "system_error": Reaction.SOFT,
    # The account cannot be charged at all, whatever the day.
    "registration_validation": Reaction.STOP,
}
"""The reaction to codes that have no row of their own; every other group is a hard decline."""

LINE_GROUPS = frozenset({"comm_error", "system_error"})
"""The groups of technical failures, which are usually mended within hours."""

_LINE_PAUSE, _LINE_GROWTH = HOUR, 4

PAUSES: Mapping[str, Instant] = {"700.600.002": 3 * DAY, "700.600.025": DAY}
"""The pause before a card may be tried again, as its issuer asked."""


def choose_reaction(code: str) -> Reaction:
    return REACTIONS.get(code) or GROUP_REACTIONS.get(get_result(code).group, Reaction.HARD)


def ends_series(code: str) -> bool:
    return choose_reaction(code) is Reaction.STOP


class RetryTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The number of tries of one scheduled payment, and the time within which they are made."""

    tries_max: int = 5
    window: Instant = 20 * DAY

    @property
    def lasts(self) -> Instant:
        """The time after which no other try is made, even if an issuer asked for a pause."""
        return self.window + max(PAUSES.values())

    def find_pause(self, tries: int, code: str) -> Instant | None:
        """Returns the time until the next try, or None if there is no other; `code` is that of the last try.

        The pauses grow by the same step and fill the window together, so that the first ones come soon. After a
        technical failure they are shorter.
        """
        if tries >= self.tries_max or choose_reaction(code) is not Reaction.SOFT:
            return None
        steps = self.tries_max * (self.tries_max - 1) // 2
        pause = self.window * tries // steps
        if get_result(code).group in LINE_GROUPS:
            growth: int = _LINE_GROWTH ** (tries - 1)
            return min(pause, _LINE_PAUSE * growth)
        return max(pause, PAUSES.get(code, 0))
