"""The page of an endpoint says what its rows say: parameters, needs, rules, scopes, limits and answers."""

from __future__ import annotations

import pytest

from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.docs import endpoint_facts
from tollgate.docs.calls import get_summary, list_rules
from tollgate.docs.endpoint_facts import Line

PAY = ENDPOINTS["POST /v1/payments"]
CHECKOUT = ENDPOINTS["POST /v1/checkouts"]


def list_lines(key: str) -> dict[str, Line]:
    groups = endpoint_facts.list_parameters(ENDPOINTS[key])
    return {line.name: line for group in groups for line in group.lines}


@pytest.mark.parametrize("key", ENDPOINTS)
def test_every_parameter_that_an_endpoint_takes_is_shown_once(key: str) -> None:
    endpoint = ENDPOINTS[key]
    expected = {name for name in PARAMETERS if first_word(name) in endpoint.takes} | {own.name for own in endpoint.own}
    groups = endpoint_facts.list_parameters(endpoint)

    names = [line.name for group in groups for line in group.lines]

    assert set(names) - {"entityId"} == expected - {"entityId"}
    assert len(names) == len(set(names))
    assert ("entityId" in names) is (endpoint.access != "open")


def test_a_need_is_that_of_the_endpoint() -> None:
    assert list_lines(PAY.key)["paymentType"].need == "required"
    assert list_lines(CHECKOUT.key)["paymentType"].need == "conditional"
    assert list_lines(PAY.key)["entityId"].need == "required"
    assert list_lines("GET /v1/webhooks")["entityId"].need == "optional"
    assert list_lines("POST /v1/webhooks")["url"].need == "required"


def test_rules_are_those_that_the_endpoint_can_break() -> None:
    named = {rule.name for rule in list_rules(ENDPOINTS["GET /v3/query"])}

    assert "report_dates" in named
    assert "report_dates" not in {rule.name for rule in list_rules(PAY)}
    assert list_rules(ENDPOINTS["GET /v1/webhooks"]) == []


def test_access_and_limit_are_said_in_words() -> None:
    assert "needs `payments`; for `CD`" in endpoint_facts.describe_access(PAY)
    assert "A token with scopes is refused." in endpoint_facts.describe_access(ENDPOINTS["GET /v1/webhooks"])
    assert "without a token" in endpoint_facts.describe_access(ENDPOINTS["GET /healthz"])
    assert endpoint_facts.describe_limit(ENDPOINTS["GET /v1/checkouts/{id}/payment"]) == (
        "2 requests in one minute for each id."
    )
    assert endpoint_facts.describe_limit(PAY).startswith("12,000 requests in one minute for each entity. A test host")
    assert endpoint_facts.describe_limit(ENDPOINTS["GET /sandbox/clock"]) == "None."


def test_result_codes_are_shown_where_an_answer_has_a_result() -> None:
    assert endpoint_facts.list_result_groups(ENDPOINTS["GET /healthz"]) == []
    of_payments = {group.id for group in endpoint_facts.list_result_groups(PAY)}
    assert {"success", "pending", "rejected_by_bank"} <= of_payments
    assert of_payments.isdisjoint({"job_validation", "chargeback"})
    assert {group.id for group in endpoint_facts.list_result_groups(ENDPOINTS["POST /v1/webhooks"])} == {
        "success",
        "format_validation",
        "risk_validation",
    }


@pytest.mark.parametrize("key", ENDPOINTS)
def test_every_endpoint_has_a_summary_and_members_of_its_answer(key: str) -> None:
    assert get_summary(ENDPOINTS[key])
    assert endpoint_facts.list_members(ENDPOINTS[key].answer)[0].lines
