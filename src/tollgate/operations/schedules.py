"""Schedules: signed, checked, and turned into orders. When one falls due is decided in `payments.schedule`."""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest

import msgspec

from tollgate.contract.jobs import recall_plan
from tollgate.contract.orders import read_order
from tollgate.contract.schedules import make_run_fields
from tollgate.operations.app import App
from tollgate.operations.signing import TamperedRow
from tollgate.payments.cron import Cron, parse_plan
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.registration import RegisteredAccount
from tollgate.payments.schedule import Schedule, ScheduleState, is_time_of
from tollgate.values import Money, make_short_id, to_datetime
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac


def sign_schedule(app: App, schedule: Schedule) -> Schedule:
    return msgspec.structs.replace(schedule, mac=_sign_schedule_facts(schedule, app.keyring))


def check_schedule(app: App, schedule: Schedule) -> Schedule:
    """Nobody has a card charged by writing into the store."""
    if has_schedule_signature(schedule, app.keyring):
        return schedule
    raise TamperedRow(f"the seal of schedule {schedule.id} does not fit: run `tollgate verify`")


def has_schedule_signature(schedule: Schedule, keyring: Keyring) -> bool:
    """What is over is built upon by nobody, and has lost its seal."""
    is_over = schedule.state in (ScheduleState.REPLACED, ScheduleState.ENDED)
    return is_over or compare_digest(schedule.mac or b"", _sign_schedule_facts(schedule, keyring))


def recall_cron(schedule: Schedule) -> Cron:
    return parse_plan(recall_plan(schedule.plan))


def check_schedule_times(app: App, schedule: Schedule) -> Cron:
    """How far it has come is not sealed; so a time that its plan does not have is one that somebody wrote there."""
    cron = recall_cron(check_schedule(app, schedule))
    next_at = schedule.next_at
    if next_at is None or next_at < schedule.starts_at or not is_time_of(cron, next_at):
        raise TamperedRow(f"schedule {schedule.id} is due when its plan is not: run `tollgate verify`")
    return cron


def _sign_schedule_facts(schedule: Schedule, keyring: Keyring) -> bytes:
    """Not its state, which has a guard of its own, nor how far it has come."""
    facts = (
        schedule.merchant_id,
        schedule.channel_id,
        schedule.id,
        schedule.series_id,
        schedule.registration_id,
        schedule.payment_type,
        schedule.money.hundredths,
        schedule.money.currency,
        schedule.plan,
        schedule.echo,
        schedule.created_at,
        schedule.starts_at,
        schedule.ends_at,
        schedule.test_mode and schedule.test_mode.value,
    )
    return make_mac("schedule", facts, keyring)


def make_run_order(
    app: App, channel: Channel, payment_type: str, money: Money, echo: Mapping[str, str], stored: RegisteredAccount
) -> Order:
    return read_order(
        make_run_fields(payment_type, money, echo),
        channel,
        today=to_datetime(app.clock.now()).date(),
        short_id=make_short_id(app.random_bytes),
        is_live=app.is_live,
        stored=stored,
    )
