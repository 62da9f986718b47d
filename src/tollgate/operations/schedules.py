"""Schedules: signed, checked, and turned into orders. When one falls due is decided in `payments.schedule`."""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.contract.jobs import recall_plan
from tollgate.contract.orders import read_order
from tollgate.contract.schedules import make_run_fields
from tollgate.operations.app import App
from tollgate.operations.signing import TamperedRow, trust
from tollgate.payments.cron import Cron, parse_plan
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.registration import RegisteredAccount
from tollgate.payments.schedule import Schedule, is_time_of
from tollgate.values import Money, make_short_id


def recall_cron(schedule: Schedule) -> Cron:
    return parse_plan(recall_plan(schedule.plan))


def check_schedule_times(app: App, schedule: Schedule) -> Cron:
    """How far it has come is not sealed; so a time that its plan does not have is one that somebody wrote there."""
    cron = recall_cron(trust(app, schedule))
    next_at = schedule.next_at
    if next_at is None or next_at < schedule.starts_at or not is_time_of(cron, next_at):
        raise TamperedRow(f"schedule {schedule.id} is due when its plan is not: run `tollgate verify`")
    return cron


def make_run_order(
    app: App, channel: Channel, payment_type: str, money: Money, echo: Mapping[str, str], stored: RegisteredAccount
) -> Order:
    return read_order(
        make_run_fields(payment_type, money, echo),
        channel,
        today=app.today,
        short_id=make_short_id(app.random_bytes),
        is_live=app.is_live,
        stored=stored,
    )
