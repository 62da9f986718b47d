"""A year of schedules on a host whose clock the tests move, month by month: what was paid, tried again, or ended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from api.chains import APPROVED, FORCE, result_of
from api.registration_requests import BANK, register
from api.scheduling import Timetable, deschedule, is_active, list_runs, plan, read, reschedule
from gateway import GatewayProcess
from postgres import PostgresCluster

MONTHS = 12
DAY_S = 24 * 3600
MONTH_END = {"job.dayOfMonth": "L", "job.hour": "10"}
PLANS = {
    "month ends": {**MONTH_END, "merchantTransactionId": "subscription-1"},
    "last working days": {"job.dayOfMonth": "LW", "job.hour": "9"},
    "authorisations": {**MONTH_END, "paymentType": "PA"},
    "hard declines": {**MONTH_END, FORCE: "800.100.159"},
    "stopped by the shopper": {**MONTH_END, FORCE: "800.100.500"},
    "three months": {**MONTH_END, "job.durationUnit": "MONTH", "job.durationNumber": "3"},
}


@dataclass
class Year:
    timetable: Timetable
    ids: dict[str, str]
    began: datetime


# On PostgreSQL years pass in the long run only; that processes share one calendar is proven on the store itself.
@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def timetable(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Timetable]:
    folder = tmp_path_factory.mktemp("timetable")
    if request.param == "sqlite":
        with GatewayProcess(folder) as gateway:
            yield Timetable(gateway, gateway.client())
        return
    cluster: PostgresCluster = request.getfixturevalue("cluster")
    with GatewayProcess(folder, cluster.create_database()) as gateway:
        yield Timetable(gateway, gateway.client())


@pytest.fixture(scope="module")
def year(timetable: Timetable) -> Year:
    client = timetable.client
    registration_id = register(client)
    began = timetable.get_now()
    ids = {name: plan(client, registration_id, fields) for name, fields in PLANS.items()}
    ids["direct debits"] = plan(client, register(client, BANK), MONTH_END)
    for month in range(1, MONTHS + 1):
        timetable.pass_to_next_run(ids["month ends"])
        for name in ("month ends", "last working days", "authorisations", "hard declines", "direct debits"):
            timetable.wait_for_runs(ids[name], month)
    return Year(timetable, ids, began)


def list_month_ends(began: datetime) -> list[str]:
    """Returns the next last days of months at ten o'clock."""
    at = began.replace(hour=10, minute=0, second=0, microsecond=0)
    times: list[datetime] = []
    while len(times) < MONTHS:
        if at > began and (at + timedelta(days=1)).day == 1:
            times.append(at)
        at += timedelta(days=1)
    return [time.strftime("%Y-%m-%d %H:%M:%S+0000") for time in times]


def test_every_month_end_of_a_year_is_paid_once(year: Year) -> None:
    client = year.timetable.client

    runs = list_runs(client, year.ids["month ends"])

    assert [run["due"] for run in runs] == list_month_ends(year.began)
    assert {(run["state"], run["tries"], run["result"]["code"]) for run in runs} == {("MADE", 1, "000.100.110")}
    assert len({run["paymentId"] for run in runs}) == MONTHS


def test_its_payments_are_payments_like_any_other(year: Year) -> None:
    client = year.timetable.client
    run = list_runs(client, year.ids["month ends"])[-1]

    payment = client.get(f"/v1/payments/{run['paymentId']}")

    assert result_of(payment) == APPROVED
    assert (payment.json["amount"], payment.json["paymentType"]) == ("5.00", "DB")
    assert payment.json["registrationId"] == read(client, year.ids["month ends"]).json["registrationId"]
    assert payment.json["merchantTransactionId"] == "subscription-1"
    assert payment.json["standingInstruction"] == {"mode": "REPEATED", "source": "MIT", "type": "RECURRING"}
    assert payment.json["card"]["last4Digits"] == "0000"
    refund = client.post(f"/v1/payments/{run['paymentId']}", {"paymentType": "RF", "amount": "5.00", "currency": "EUR"})
    assert result_of(refund) == APPROVED
    assert "source" not in payment.json.keys() | refund.json.keys()


def test_the_merchants_reference_finds_exactly_the_payments_of_the_runs(year: Year) -> None:
    client = year.timetable.client
    paid = {run["paymentId"] for run in list_runs(client, year.ids["month ends"])}

    found = client.get("/v1/query", {"merchantTransactionId": "subscription-1", "limit": "500"}).json["payments"]

    assert {each["id"] for each in found if each["paymentType"] == "DB"} == paid


def test_last_working_days_are_followed_by_nothing_but_a_weekend(year: Year) -> None:
    runs = list_runs(year.timetable.client, year.ids["last working days"])

    days = [datetime.fromisoformat(run["due"]).date() for run in runs]
    assert len({(day.year, day.month) for day in days}) == len(days) >= MONTHS
    for day in days:
        rest = [day + timedelta(days=n) for n in range(1, 8) if (day + timedelta(days=n)).month == day.month]
        assert day.weekday() < 5
        assert all(other.weekday() >= 5 for other in rest)
    assert {run["state"] for run in runs} == {"MADE"}


@pytest.mark.parametrize(("name", "payment_type"), [("authorisations", "PA"), ("direct debits", "DB")])
def test_other_types_and_brands_are_paid_too(year: Year, name: str, payment_type: str) -> None:
    client = year.timetable.client

    runs = list_runs(client, year.ids[name])

    assert [run["state"] for run in runs] == ["MADE"] * MONTHS
    assert client.get(f"/v1/payments/{runs[0]['paymentId']}").json["paymentType"] == payment_type


def test_hard_declines_fail_each_month_and_the_plan_goes_on(year: Year) -> None:
    client = year.timetable.client

    runs = list_runs(client, year.ids["hard declines"])

    assert {(run["state"], run["tries"], run["result"]["code"]) for run in runs} == {("FAILED", 1, "800.100.159")}
    assert len(runs) == MONTHS
    assert is_active(client, year.ids["hard declines"])


def test_a_shopper_who_had_it_stopped_was_charged_once(year: Year) -> None:
    client = year.timetable.client

    shown = read(client, year.ids["stopped by the shopper"]).json

    assert [run["state"] for run in shown["runs"]] == ["FAILED"]
    assert (shown["plan"]["active"], shown["plan"]["endedBy"]["code"]) == (False, "800.100.500")
    assert reschedule(client, shown["id"], {"amount": "1.00"}).code == "100.360.300"


def test_a_schedule_of_three_months_has_ended_by_itself(year: Year) -> None:
    client = year.timetable.client

    shown = read(client, year.ids["three months"]).json

    assert [run["state"] for run in shown["runs"]] == ["MADE"] * 3
    assert shown["plan"] == {"active": False, "paymentType": "DB"}
    assert deschedule(client, shown["id"]).code == "100.360.303"


def test_after_months_of_nothing_the_last_time_is_made_up_for(year: Year) -> None:
    timetable = year.timetable
    schedule_id = plan(timetable.client, register(timetable.client), MONTH_END)

    timetable.pass_seconds(100 * DAY_S)
    timetable.wait_for_runs(schedule_id, 3)

    runs = list_runs(timetable.client, schedule_id)
    assert [run["state"] for run in runs] == ["MISSED"] * (len(runs) - 1) + ["MADE"]


def test_a_soft_decline_is_tried_five_times_within_twenty_days(year: Year) -> None:
    timetable = year.timetable
    schedule_id = plan(timetable.client, register(timetable.client), {**MONTH_END, FORCE: "800.100.203"})
    timetable.pass_to_next_run(schedule_id)

    tries: list[Any] = []
    for days in (0, 2, 4, 6, 8):
        timetable.pass_seconds(days * DAY_S)
        timetable.wait_for_tries(schedule_id, len(tries) + 1)
        tries.append(list_runs(timetable.client, schedule_id)[0])

    assert [(run["tries"], run["state"]) for run in tries] == [*[(n, "DUE") for n in range(1, 5)], (5, "FAILED")]
    assert len({run["paymentId"] for run in tries}) == 5
    assert is_active(timetable.client, schedule_id)


def test_a_schedule_that_ends_while_it_is_tried_again_is_tried_no_more(year: Year) -> None:
    timetable = year.timetable
    schedule_id = plan(timetable.client, register(timetable.client), {**MONTH_END, FORCE: "800.100.203"})
    timetable.pass_to_next_run(schedule_id)
    timetable.wait_for_tries(schedule_id, 1)

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda _: deschedule(timetable.client, schedule_id), range(2)))
    timetable.wait_for_runs(schedule_id, 1)

    assert sorted(end.code for end in ends) == ["000.100.110", "100.360.303"]
    [run] = list_runs(timetable.client, schedule_id)
    assert (run["state"], run["tries"]) == ("FAILED", 1)
