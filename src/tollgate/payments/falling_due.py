"""Which time of a plan is due now, which ones nobody was there for, and which one comes next. Pure."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from tollgate.catalog import LIMITS
from tollgate.payments.cron import Cron
from tollgate.values import Instant, PaymentId, ScheduleId

_ID_BYTES = 15


class Due(msgspec.Struct, frozen=True, kw_only=True):
    due_at: Instant
    """The last time that has come: its payment is made."""
    missed: tuple[Instant, ...]
    """Earlier ones that came while nobody was there, the latest first, as many as are written down."""
    skipped: int
    """How many more there were before; beyond the limit nobody counts."""
    next_at: Instant | None


def find_due(cron: Cron, next_at: Instant, ends_at: Instant | None, now: Instant) -> Due:
    """Of a plan whose `next_at` has come."""
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


def is_time_of(cron: Cron, at: Instant) -> bool:
    return cron.last_until(at) == at


def is_overtaken(cron: Cron, due_at: Instant, ends_at: Instant | None, now: Instant) -> bool:
    """Whether a later time of the plan has come."""
    next_at = find_next(cron, due_at, ends_at)
    return next_at is not None and next_at <= now


def _find_before(cron: Cron, at: Instant, first: Instant) -> Instant | None:
    """What was promised counts as a time of the plan."""
    if at <= first:
        return None
    return max(cron.last_until(at - 1) or first, first)


def name_run_payment(schedule_id: ScheduleId, due_at: Instant, attempt: int) -> PaymentId:
    """The same however often it is asked for, so that the store refuses to make one payment twice.

    No key goes into it: keys are rotated, and this must never change.
    """
    named = f"{schedule_id}.{due_at}.{attempt}".encode()
    return PaymentId("8a" + blake2b(named, digest_size=_ID_BYTES).hexdigest())
