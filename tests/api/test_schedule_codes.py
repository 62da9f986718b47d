"""Each way to get a schedule wrong has its own code: of the plan, of the schedule, of the registration."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from api.chains import UNKNOWN_ID, debit
from api.registration_requests import FORCE, VIRTUAL, erase, register, remove, store
from api.scheduling import CHARGE, FAR, PATH, deschedule, plan, reschedule, schedule
from gateway import CARD, Client, GatewayProcess

PLANS: list[tuple[str, Mapping[str, str], str | None]] = [
    ("100.250.250", {}, "job.expression"),
    ("100.250.100", {"job.name": "x"}, "job.expression"),
    ("100.250.105", {"job.hour": "1", "job.action": "RF"}, "job.action"),
    ("100.250.105", {"job.hour": "1", "job.action": "PA", "paymentType": "DB"}, "job.action"),
    ("100.250.106", {"job.hour": "1", "job.durationNumber": "1"}, "job.durationUnit"),
    ("100.250.106", {"job.hour": "1", "job.durationNumber": "1", "job.durationUnit": "HOUR"}, "job.durationUnit"),
    ("100.250.107", {"job.hour": "1", "job.noticeNumber": "1"}, "job.noticeUnit"),
    ("100.250.110", {"job.startDate": "2090-01-01"}, "job.expression"),
    ("100.250.111", {"job.expression": "0 0 12"}, "job.expression"),
    ("100.250.120", {"job.dayOfMonth": "1", "job.dayOfWeek": "1"}, None),
    ("100.250.120", {"job.dayOfMonth": "30", "job.month": "FEB"}, None),
    ("100.250.120", {"job.hour": "1", "job.startDate": "2090-02-01", "job.endDate": "2090-01-01"}, "job.endDate"),
    ("100.250.121", {"job.hour": "24"}, "job.hour"),
    ("100.250.122", {"job.minute": "60"}, "job.minute"),
    ("100.250.122", {"job.second": "99"}, "job.second"),
    ("100.250.123", {"job.dayOfMonth": "32"}, "job.dayOfMonth"),
    ("100.250.124", {"job.month": "13"}, "job.month"),
    ("100.250.125", {"job.dayOfWeek": "8"}, "job.dayOfWeek"),
    ("100.250.125", {"job.dayOfWeek": "0"}, "job.dayOfWeek"),
]


@pytest.fixture(scope="module")
def registration_id(client: Client) -> str:
    return register(client)


@pytest.mark.parametrize(("code", "fields", "name"), PLANS)
def test_a_plan_that_cannot_be_kept_says_why(
    client: Client, registration_id: str, code: str, fields: Mapping[str, str], name: str | None
) -> None:
    made = schedule(client, registration_id, fields)
    moved = reschedule(client, plan(client, registration_id), {k: v for k, v in fields.items() if k != "paymentType"})

    assert (made.status, made.code) == (400, code)
    faults = [fault["name"] for fault in made.json["result"]["parameterErrors"]]
    assert name in (None, *faults)
    if "paymentType" not in fields:
        assert moved.code == code


@pytest.mark.parametrize("missing", ["amount", "currency", "registrationId"])
def test_what_a_schedule_needs_is_named(client: Client, registration_id: str, missing: str) -> None:
    sent = {**CHARGE, "registrationId": registration_id, **FAR}

    answer = client.post(PATH, {name: text for name, text in sent.items() if name != missing})

    assert answer.code == "200.300.404"
    assert [fault["name"] for fault in answer.json["result"]["parameterErrors"]] == [missing]


@pytest.mark.parametrize("payment_type", ["RF", "RS", "DS", "PA.CP", "RG"])
def test_a_schedule_of_another_type_is_refused(client: Client, registration_id: str, payment_type: str) -> None:
    assert schedule(client, registration_id, {**FAR, "paymentType": payment_type}).code == "100.360.201"


def test_a_path_whose_type_says_something_else_is_refused(client: Client, registration_id: str) -> None:
    schedule_id = plan(client, registration_id)

    assert reschedule(client, schedule_id, {"amount": "1.00", "paymentType": "DS"}).code == "100.360.201"
    assert deschedule(client, schedule_id, {"paymentType": "RS"}).code == "100.360.201"


def test_what_is_not_scheduled_is_neither_replaced_nor_ended(client: Client, registration_id: str) -> None:
    ended = plan(client, registration_id)
    deschedule(client, ended)

    for named_id in (ended, UNKNOWN_ID, registration_id):
        assert reschedule(client, named_id, {"amount": "1.00"}).code == "100.360.300"
        assert deschedule(client, named_id).code == "100.360.303"


def test_a_registration_that_cannot_be_charged_is_not_scheduled(
    client: Client, stranger: Client, gateway: GatewayProcess
) -> None:
    removed, erased = register(client), register(client)
    remove(client, removed)
    erase(gateway, client, erased)
    refused = store(client, {**CARD, FORCE: "800.100.151"}).json["id"]

    codes = {
        "100.150.101": "8a",
        "100.150.200": register(stranger),
        "100.150.202": removed,
        "100.150.203": refused,
        "100.150.204": debit(client),
        "100.150.206": erased,
    }

    assert {code: schedule(client, named_id).code for code, named_id in codes.items()} == {code: code for code in codes}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"amount": "0.00"}, "100.550.300"),
        ({"amount": "5.50", "currency": "JPY"}, "100.550.303"),
        ({"paymentBrand": "MASTER"}, "200.300.404"),
        ({"standingInstruction.mode": "INITIAL"}, "200.300.404"),
        ({"standingInstruction.source": "CIT"}, "200.300.404"),
    ],
)
def test_what_could_never_be_paid_is_not_scheduled(
    client: Client, registration_id: str, fields: Mapping[str, str], code: str
) -> None:
    assert schedule(client, registration_id, {**FAR, **fields}).code == code


def test_a_brand_that_needs_its_shopper_is_not_scheduled(client: Client) -> None:
    answer = schedule(client, register(client, VIRTUAL), {**FAR, "shopperResultUrl": "https://shop.example"})

    assert answer.code == "600.200.310"
