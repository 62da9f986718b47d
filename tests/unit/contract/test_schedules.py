"""Requests about schedules: what is charged and when, which fields its payments carry, and how it is answered."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract import schedules
from tollgate.contract.answers import Envelope
from tollgate.contract.fields import Fields, read_fields
from tollgate.payments.schedule import Run, RunState, Schedule, ScheduleState
from tollgate.values import (
    ChannelId,
    InvalidParameters,
    MerchantId,
    Money,
    PaymentId,
    Refusal,
    RegistrationId,
    ScheduleId,
    to_instant,
)

NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
NEW_YEAR = to_instant(datetime(2027, 1, 1, tzinfo=UTC))
REGISTRATION = "8a" + "7" * 30
REQUEST = {"registrationId": REGISTRATION, "amount": "5.00", "currency": "EUR", "paymentType": "SD"}
PLAN = {"job.dayOfMonth": "1", "job.month": "1"}
BUILD = Envelope("build")
ACTIVE = Schedule(
    id=ScheduleId("8a" + "1" * 30),
    merchant_id=MerchantId("8a" + "2" * 30),
    channel_id=ChannelId("8a" + "3" * 30),
    series_id=ScheduleId("8a" + "1" * 30),
    registration_id=RegistrationId(REGISTRATION),
    state=ScheduleState.ACTIVE,
    payment_type="DB",
    money=Money(500, "EUR"),
    plan={"dayOfMonth": "1", "month": "1"},
    ndc="trace",
    created_at=NOW,
    starts_at=NOW,
    ends_at=None,
    next_at=NEW_YEAR,
    echo={"merchantTransactionId": "subscription", "customParameters[a]": "1"},
)


def read(*, payment_type: str = "SD", **changes: str) -> Fields:
    renamed = {name.replace("__", "."): value for name, value in changes.items()}
    return read_fields(
        list({**(REQUEST if payment_type == "SD" else {}), **renamed}.items()), Situation("schedule", payment_type)
    )


def test_a_schedule_charges_its_amount_by_its_plan() -> None:
    order = schedules.read_schedule(read(**PLAN), NOW)

    assert (order.registration_id, order.money, order.payment_type) == (REGISTRATION, Money(500, "EUR"), "DB")
    assert (order.starts_at, order.ends_at, order.next_at) == (NOW, None, NEW_YEAR)
    assert order.plan == {"dayOfMonth": "1", "month": "1"}
    assert order.echo == {}


@pytest.mark.parametrize(
    ("sent", "action", "payment_type"),
    [
        ("SD", None, "DB"),
        ("SD", "PA", "PA"),
        ("SD", "CD", "CD"),
        ("DB", None, "DB"),
        ("PA", None, "PA"),
        ("CD", "CD", "CD"),
        (None, None, "DB"),
    ],
)
def test_the_type_of_its_payments_may_be_sent_in_either_place(
    sent: str | None, action: str | None, payment_type: str
) -> None:
    changes = {"paymentType": sent or "", "job.action": action or ""}

    assert schedules.read_schedule(read(**PLAN, **changes), NOW).payment_type == payment_type


@pytest.mark.parametrize("sent", ["RF", "RS", "PA.CP", "RG", "3D"])
def test_a_schedule_of_another_type_has_a_code_of_its_own(sent: str) -> None:
    with pytest.raises(Refusal) as refused:
        schedules.read_schedule(read(**PLAN, paymentType=sent), NOW)

    assert refused.value.result.code == "100.360.201"


def test_two_types_that_differ_are_refused() -> None:
    with pytest.raises(InvalidParameters) as refused:
        schedules.read_schedule(read(**PLAN, **{"paymentType": "DB", "job.action": "PA"}), NOW)

    assert refused.value.result.code == "100.250.105"
    assert refused.value.faults[0].name == "job.action"


def test_its_payments_carry_what_may_be_stored_and_is_not_good_for_one_payment_only() -> None:
    carried = {
        "merchantTransactionId": "subscription",
        "descriptor": "Monthly",
        "customer.givenName": "Jane",
        "customer.surname": "Jones",
        "billing.city": "London",
        "customParameters[SHOPPER_a]": "b",
        "standingInstruction.recurringType": "SUBSCRIPTION",
        "testMode": "INTERNAL",
    }
    left = {
        "card.cvv": "123",
        "createRegistration": "true",
        "shopperResultUrl": "https://shop.example",
        "transactionDueDate": "2027-01-01",
        "sequence": "FINAL",
        "threeDSecure.eci": "05",
        "threeDSecure.verificationId": "AAACAgSRBklmQCFgMpEGAAAAAAA=",
    }

    assert schedules.read_schedule(read(**PLAN, **carried, **left), NOW).echo == carried


@pytest.mark.parametrize(
    ("name", "sent"), [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")]
)
def test_nobody_is_there_when_a_schedule_is_due(name: str, sent: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        schedules.read_schedule(read(**PLAN, **{name: sent}), NOW)

    assert [fault.name for fault in refused.value.faults] == [name]


def test_a_payment_of_a_schedule_says_of_itself_that_it_repeats_unless_the_merchant_said_more() -> None:
    plain = schedules.make_run_fields("DB", Money(500, "EUR"), {})
    received = schedules.make_run_fields("PA", Money(0, "USD"), {"standingInstruction.type": "INSTALLMENT"})

    assert plain.echo == {**plain.values, "source": "SCHEDULER"}
    assert plain.values == {
        "paymentType": "DB",
        "amount": "5.00",
        "currency": "EUR",
        "standingInstruction.mode": "REPEATED",
        "standingInstruction.source": "MIT",
        "standingInstruction.type": "RECURRING",
    }
    assert plain.groups == {"paymentType", "amount", "currency", "standingInstruction"}
    assert (received.values["standingInstruction.type"], received.values["amount"]) == ("INSTALLMENT", "0.00")


# ---- changes ----


def test_another_amount_leaves_the_plan_and_its_next_time_alone() -> None:
    order = schedules.read_reschedule(read(payment_type="RS", amount="7.50"), ACTIVE, NOW)

    assert order.money == Money(750, "EUR")
    assert (order.plan, order.next_at, order.starts_at) == (ACTIVE.plan, ACTIVE.next_at, ACTIVE.starts_at)
    assert (order.payment_type, order.registration_id, order.echo) == ("DB", REGISTRATION, ACTIVE.echo)


def test_another_plan_is_read_as_a_whole_and_leaves_the_amount_alone() -> None:
    order = schedules.read_reschedule(
        read(payment_type="RS", **{"job.dayOfMonth": "15", "job.action": "PA"}), ACTIVE, NOW
    )

    assert (order.money, order.payment_type) == (ACTIVE.money, "PA")
    assert order.plan == {"dayOfMonth": "15", "action": "PA"}
    assert order.next_at == to_instant(datetime(2026, 12, 15, tzinfo=UTC))


def test_another_card_and_more_fields_may_come_with_a_change() -> None:
    changes = {"registrationId": "8a" + "9" * 30, "customParameters[branch]": "2", "currency": "USD"}
    order = schedules.read_reschedule(read(payment_type="RS", **changes), ACTIVE, NOW)

    assert order.registration_id == "8a" + "9" * 30
    assert order.money == Money(500, "USD")
    assert order.echo == {**ACTIVE.echo, "customParameters[branch]": "2"}


def test_a_change_that_changes_nothing_is_refused() -> None:
    with pytest.raises(InvalidParameters) as refused:
        schedules.read_reschedule(read(payment_type="RS"), ACTIVE, NOW)

    assert refused.value.result.code == "100.250.250"


def test_one_that_is_never_due_again_needs_a_new_plan() -> None:
    over = Schedule(**{name: getattr(ACTIVE, name) for name in ACTIVE.__struct_fields__} | {"next_at": None})

    with pytest.raises(InvalidParameters) as refused:
        schedules.read_reschedule(read(payment_type="RS", amount="7.50"), over, NOW)

    assert refused.value.result.code == "100.250.250"


def test_the_path_says_what_happens_and_a_type_may_not_say_otherwise() -> None:
    schedules.check_change(read(payment_type="DS"), schedules.DESCHEDULES)
    schedules.check_change(read(payment_type="DS", paymentType="DS"), schedules.DESCHEDULES)

    with pytest.raises(Refusal) as refused:
        schedules.check_change(read(payment_type="DS", paymentType="SD"), schedules.DESCHEDULES)
    assert refused.value.result.code == "100.360.201"


# ---- answers ----


def test_a_schedule_is_answered_with_its_plan_and_next_due_time() -> None:
    answer = schedules.answer_schedule(ACTIVE, "000.100.110", BUILD)

    body = orjson.loads(answer.body)
    assert answer.status == 200
    assert list(body) == [
        "id",
        "registrationId",
        "paymentType",
        "amount",
        "currency",
        "merchantTransactionId",
        "result",
        "customParameters",
        "job",
        "plan",
        "buildNumber",
        "timestamp",
        "ndc",
    ]
    assert body["plan"] == {"active": True, "paymentType": "DB", "nextRun": "2027-01-01 00:00:00+0000"}
    assert body["job"] == {"dayOfMonth": "1", "month": "1"}


def test_runs_are_listed_newest_first_with_their_payments_and_what_was_only_counted() -> None:
    made = Run(
        merchant_id=ACTIVE.merchant_id,
        schedule_id=ACTIVE.id,
        due_at=NEW_YEAR,
        state=RunState.MADE,
        tries=2,
        payment_id=PaymentId("8a01"),
        result_code="000.100.110",
    )
    missed = Run(merchant_id=ACTIVE.merchant_id, schedule_id=ACTIVE.id, due_at=NOW, state=RunState.MISSED)
    skipping = Schedule(**{name: getattr(ACTIVE, name) for name in ACTIVE.__struct_fields__} | {"skipped": 3})

    body = orjson.loads(schedules.answer_schedule(skipping, "000.100.110", BUILD, runs=[made, missed]).body)

    first, second = body["runs"]
    assert first["result"]["code"] == "000.100.110"
    assert first | {"result": None} == {
        "due": "2027-01-01 00:00:00+0000",
        "state": "MADE",
        "tries": 2,
        "paymentId": "8a01",
        "result": None,
    }
    assert second == {"due": "2026-11-15 12:00:00+0000", "state": "MISSED", "tries": 0}
    assert body["runsSkipped"] == 3


@pytest.mark.parametrize("state", [ScheduleState.REPLACED, ScheduleState.ENDED, ScheduleState.HALTED])
def test_one_that_is_over_is_inactive_and_says_which_code_ended_it(state: ScheduleState) -> None:
    members = {name: getattr(ACTIVE, name) for name in ACTIVE.__struct_fields__}
    over = Schedule(**members | {"state": state, "result_code": "800.100.500", "series_id": ScheduleId("8a00")})

    body = orjson.loads(
        schedules.answer_schedule(over, "000.100.110", BUILD, payment_type="DS", ndc="other", at=NEW_YEAR).body
    )

    assert (body["plan"]["active"], body["plan"]["endedBy"]["code"]) == (False, "800.100.500")
    assert "nextRun" not in body["plan"]
    assert (body["paymentType"], body["referencedId"], body["ndc"]) == ("DS", "8a00", "other")
    assert body["timestamp"] == "2027-01-01 00:00:00+0000"


def test_the_schedules_of_a_registration_are_a_list() -> None:
    body = orjson.loads(schedules.answer_schedules(REGISTRATION, [ACTIVE], "000.100.110", BUILD, "trace", NOW).body)

    assert [each["id"] for each in body["schedules"]] == [ACTIVE.id]
    assert body["registrationId"] == REGISTRATION
