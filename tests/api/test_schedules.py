"""Schedules over HTTP: made, read, replaced and ended, on both paths; another merchant's is as unknown as none."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from api.chains import APPROVED, UNKNOWN_ID, result_of
from api.registration_requests import BANK, register, remove
from api.scheduling import (
    CHARGE,
    FAR,
    OLDER_PATH,
    PATH,
    delete,
    deschedule,
    is_active,
    plan,
    read,
    reschedule,
    schedule,
)
from gateway import Answer, Client

pytestmark = pytest.mark.both_databases

MORE = {
    "merchantTransactionId": "subscription-1",
    "descriptor": "Monthly",
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "customParameters[branch]": "7",
    "standingInstruction.type": "RECURRING",
    "standingInstruction.mode": "REPEATED",
    "standingInstruction.source": "MIT",
    "card.cvv": "123",
}
HOSTILE = ["no-id", "%00", "%27", "8A" + "0" * 30, UNKNOWN_ID + "0", "..%2f..%2fhealth"]


@pytest.fixture(scope="module")
def registration_id(client: Client) -> str:
    return register(client)


# ---- made and read ----


def test_a_schedule_is_answered_with_its_plan_in_a_stable_order(client: Client, registration_id: str) -> None:
    answer = schedule(client, registration_id, {**FAR, **MORE})

    body = answer.json
    assert result_of(answer) == APPROVED
    assert list(body) == [
        "id",
        "registrationId",
        "paymentType",
        "amount",
        "currency",
        "descriptor",
        "merchantTransactionId",
        "result",
        "customer",
        "standingInstruction",
        "customParameters",
        "job",
        "plan",
        "buildNumber",
        "timestamp",
        "ndc",
    ]
    assert (body["registrationId"], body["paymentType"], body["amount"]) == (registration_id, "SD", "5.00")
    assert body["job"] == {"dayOfMonth": "L", "startDate": "2090-01-01"}
    assert body["plan"] == {"active": True, "paymentType": "DB", "nextRun": "2090-01-31 00:00:00+0000"}
    # Any number may stand in an id or a build number by chance.
    shown = {name: value for name, value in body.items() if name not in ("id", "registrationId", "buildNumber", "ndc")}
    assert "123" not in str(shown)


def test_reading_answers_the_same_and_cancels_nothing(client: Client, registration_id: str) -> None:
    answer = schedule(client, registration_id, {**FAR, **MORE})

    again = [read(client, answer.json["id"]) for _ in range(3)]

    assert [each.json for each in again] == [{**answer.json, "runs": []}] * 3
    assert is_active(client, answer.json["id"])


def test_reading_needs_a_token_and_no_entity(client: Client, registration_id: str) -> None:
    schedule_id = plan(client, registration_id)

    assert client.get(f"{PATH}/{schedule_id}", {"entityId": None}).status == 200
    assert client.send("GET", f"{PATH}/{schedule_id}").status == 401


def test_a_registration_shows_its_schedules(client: Client) -> None:
    registration_id = register(client)
    empty = read(client, registration_id)
    first = plan(client, registration_id)
    second = plan(client, registration_id, {**FAR, "amount": "7.00"})

    answer = read(client, registration_id)

    assert result_of(empty) == result_of(answer) == APPROVED
    assert empty.json["schedules"] == []
    assert {each["id"]: each["amount"] for each in answer.json["schedules"]} == {first: "5.00", second: "7.00"}


@pytest.mark.parametrize("payment_type", ["SD", "DB", "PA", "CD", None])
def test_a_type_says_what_its_payments_are(client: Client, registration_id: str, payment_type: str | None) -> None:
    answer = schedule(client, registration_id, {**FAR, "paymentType": payment_type})

    assert answer.json["plan"]["paymentType"] == (payment_type if payment_type not in (None, "SD") else "DB")


def test_direct_debits_may_be_scheduled(client: Client) -> None:
    assert result_of(schedule(client, register(client, BANK))) == APPROVED


def test_the_lenient_channel_and_other_channels_use_the_same_registrations(
    client: Client, lenient: Client, registration_id: str
) -> None:
    schedule_id = plan(lenient, registration_id)

    assert read(client, schedule_id).status == 200
    assert result_of(deschedule(client, schedule_id)) == APPROVED


# ---- keys ----


def test_a_key_makes_one_schedule(client: Client) -> None:
    registration_id, key = register(client), {"Idempotency-Key": "schedule-once"}

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: schedule(client, registration_id, FAR, key), range(4)))
    last = schedule(client, registration_id, FAR, key)

    assert {answer.body for answer in answers} == {last.body}
    assert last.headers["idempotency-replayed"] == "true"
    assert len(read(client, registration_id).json["schedules"]) == 1
    assert schedule(client, registration_id, {**FAR, "amount": "6.00"}, key).status == 409


def test_a_key_replaces_and_ends_once(client: Client, registration_id: str) -> None:
    schedule_id = plan(client, registration_id)
    moved = [reschedule(client, schedule_id, {"amount": "6.00"}, {"Idempotency-Key": "move-once"}) for _ in range(2)]
    ended = [deschedule(client, schedule_id, {}, {"Idempotency-Key": "end-once"}) for _ in range(2)]

    assert moved[0].body == moved[1].body
    assert ended[0].body == ended[1].body
    assert result_of(ended[1]) == APPROVED


# ---- replaced and ended ----


def test_a_schedule_that_is_replaced_has_a_new_id_and_the_old_plan_is_inactive(
    client: Client, registration_id: str
) -> None:
    first = plan(client, registration_id, {**FAR, **MORE})

    answer = reschedule(client, first, {"paymentType": "RS", "job.dayOfMonth": "15", "job.startDate": "2091-02-01"})

    body = answer.json
    assert result_of(answer) == APPROVED
    assert (body["paymentType"], body["referencedId"], body["amount"]) == ("RS", first, "5.00")
    assert body["merchantTransactionId"] == "subscription-1"
    assert body["plan"]["nextRun"] == "2091-02-15 00:00:00+0000"
    assert body["id"] != first
    assert not is_active(client, first)
    assert is_active(client, body["id"])


@pytest.mark.parametrize("named", ["first", "last"])
def test_any_id_of_a_series_ends_it(client: Client, registration_id: str, named: str) -> None:
    first = plan(client, registration_id)
    last = reschedule(client, first, {"amount": "6.00"}).json["id"]

    answer = deschedule(client, {"first": first, "last": last}[named], {"paymentType": "DS"})

    assert result_of(answer) == APPROVED
    assert (answer.json["id"], answer.json["paymentType"]) == (last, "DS")
    assert answer.json["plan"]["active"] is False
    assert not is_active(client, last)


def test_a_refused_change_leaves_everything_as_it_was(client: Client, registration_id: str) -> None:
    schedule_id = plan(client, registration_id)
    before = read(client, schedule_id).json

    for fields in ({"job.hour": "24"}, {"amount": "0.00"}, {"registrationId": UNKNOWN_ID}, {}):
        assert reschedule(client, schedule_id, fields).status == 400

    assert read(client, schedule_id).json == before


def test_parallel_changes_and_ends_are_each_answered_with_the_truth(client: Client) -> None:
    registration_id = register(client)
    first = plan(client, registration_id)

    def change(number: int) -> Answer:
        if number == 4:
            return deschedule(client, first)
        return reschedule(client, first, {"amount": f"{number}.00"})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(change, range(1, 9)))

    rows = read(client, registration_id).json["schedules"]
    moved = [answer.json["id"] for number, answer in enumerate(answers, 1) if number != 4 and answer.status == 200]
    assert {answer.code for answer in answers} <= {"000.100.110", "100.360.300"}
    assert result_of(answers[3]) == APPROVED
    assert sorted(row["id"] for row in rows) == sorted([first, *moved])
    assert not [row for row in rows if row["plan"]["active"]]


def test_the_older_paths_do_the_same(client: Client, registration_id: str) -> None:
    answer = schedule(client, registration_id, path=OLDER_PATH)
    assert result_of(answer) == APPROVED

    ended = delete(client, answer.json["id"])

    assert result_of(ended) == APPROVED
    assert not is_active(client, answer.json["id"])
    assert delete(client, answer.json["id"]).code == "100.360.303"


def test_deleting_a_registration_ends_its_schedules_and_says_why(client: Client) -> None:
    registration_id = register(client)
    schedule_id = plan(client, registration_id)

    remove(client, registration_id)

    shown = read(client, schedule_id).json
    assert (shown["plan"]["active"], shown["plan"]["endedBy"]["code"]) == (False, "100.150.202")
    assert schedule(client, registration_id).code == "100.150.202"
    assert reschedule(client, schedule_id, {"amount": "6.00"}).code == "100.360.300"


# ---- others ----


def test_another_merchants_schedule_and_registration_are_unknown(
    client: Client, stranger: Client, registration_id: str
) -> None:
    schedule_id = plan(client, registration_id)

    for named_id in (schedule_id, registration_id):
        theirs, unknown = read(stranger, named_id), read(stranger, UNKNOWN_ID)
        assert (theirs.status, theirs.json["result"]) == (404, unknown.json["result"])
    assert schedule(stranger, registration_id).json["result"] == schedule(stranger, UNKNOWN_ID).json["result"]
    for change in (lambda who, named: reschedule(who, named, {"amount": "1.00"}), deschedule, delete):
        theirs, unknown = change(stranger, schedule_id), change(stranger, UNKNOWN_ID)
        assert (theirs.status, theirs.json["result"]) == (unknown.status, unknown.json["result"])
        assert theirs.status == 400
    assert is_active(client, schedule_id)


@pytest.mark.parametrize("named_id", HOSTILE)
def test_what_cannot_be_an_id_is_unknown(client: Client, named_id: str) -> None:
    assert result_of(read(client, named_id)) in ((404, "700.400.580"), (404, "200.300.404"), (400, "200.300.404"))
    for answer in (reschedule(client, named_id, {"amount": "1.00"}), deschedule(client, named_id)):
        assert answer.status in (400, 404)
        assert answer.code in ("100.360.300", "100.360.303", "200.300.404")


@pytest.mark.parametrize("changes", [{"job.hour": "\x00"}, {"job.month": "é"}, {"job.expression": "0 " * 300}])
def test_hostile_plans_are_refused(client: Client, registration_id: str, changes: Mapping[str, str]) -> None:
    assert result_of(schedule(client, registration_id, changes)) == (400, "200.300.404")


def test_a_schedule_begins_after_now(client: Client, registration_id: str) -> None:
    now = datetime.fromisoformat(client.send("GET", "/sandbox/clock").json["now"])

    answer = client.post(PATH, {**CHARGE, "registrationId": registration_id, "job.hour": "*"})

    next_run = datetime.fromisoformat(answer.json["plan"]["nextRun"])
    assert next_run > now
    assert (next_run.minute, next_run.second) == (0, 0)
    assert result_of(deschedule(client, answer.json["id"])) == APPROVED
