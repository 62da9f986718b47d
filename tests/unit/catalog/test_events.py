"""The event catalogue is complete: every type and result of a payment has its event, and every choice its events."""

from __future__ import annotations

import pytest

from tollgate.catalog.events import EVENT_ROWS, SUBSCRIBED_TYPES, SUBSCRIPTIONS, EventType, choose_payment_event
from tollgate.catalog.results import RESULTS, is_pending, is_review
from tollgate.contract.schedules import SCHEDULED_BY
from tollgate.payments.payment import NATURES
from tollgate.payments.registration import RegistrationEvent
from tollgate.payments.schedule import ScheduleEvent

APPROVED, PENDING, REVIEW, DECLINED = "000.100.110", "000.200.000", "000.400.000", "800.100.152"


def list_named(event_type: EventType) -> set[str]:
    return {row.name for row in EVENT_ROWS.values() if row.type is event_type}


def test_a_name_begins_with_the_object_that_it_is_about() -> None:
    for row in EVENT_ROWS.values():
        is_test = row.type is EventType.TEST
        assert row.name.split(".")[0] == ("webhook" if is_test else row.type.lower()), row.name
        assert row.object == ("result" if is_test else row.type.lower()), row.name
        assert row.occasion.endswith("."), row.name
        assert (row.action is not None) == (row.type in (EventType.REGISTRATION, EventType.TEST)), row.name


@pytest.mark.parametrize("payment_type", NATURES)
def test_every_payment_type_has_its_event_for_every_result(payment_type: str) -> None:
    results = [(APPROVED, True), (PENDING, False), (REVIEW, True), (DECLINED, False)]

    approved, *others = [choose_payment_event(payment_type, code, is_approved=good) for code, good in results]

    assert EVENT_ROWS[approved].type is EventType.PAYMENT
    assert f"`{payment_type}`" in EVENT_ROWS[approved].occasion
    assert others == ["payment.pending", "payment.review", "payment.failed"]


@pytest.mark.parametrize("is_approved", [False, True])
def test_every_result_code_has_an_event(is_approved: bool) -> None:
    named = {code: choose_payment_event("DB", code, is_approved=is_approved) for code in RESULTS}

    assert {code for code, name in named.items() if name == "payment.pending"} == {*filter(is_pending, RESULTS)}
    reviewed = {code for code, name in named.items() if name == "payment.review"}
    assert reviewed == ({*filter(is_review, RESULTS)} if is_approved else set())
    others = {"payment.succeeded"} if is_approved else {"payment.failed"}
    assert set(named.values()) - {"payment.pending", "payment.review"} == others


def test_registrations_and_schedules_name_their_events_as_the_catalogue_does() -> None:
    assert {*RegistrationEvent} == list_named(EventType.REGISTRATION)
    assert {*ScheduleEvent} == {*SCHEDULED_BY} == list_named(EventType.SCHEDULE)


def test_an_endpoint_chooses_by_type_or_by_name_and_is_always_tested() -> None:
    assert {*SUBSCRIBED_TYPES} | {*EVENT_ROWS} - {"webhook.test"} == SUBSCRIPTIONS
    assert EventType.TEST not in SUBSCRIPTIONS


def test_risk_events_can_be_chosen_before_there_are_any() -> None:
    assert list_named(EventType.RISK) == set()
    assert EventType.RISK in SUBSCRIPTIONS
