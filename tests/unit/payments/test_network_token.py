"""The states of a network token decide whether a payment uses it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.catalog.results import RESULTS
from tollgate.payments import registration
from tollgate.payments.accounts import CardSummary

CARD_SUMMARY = CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034", holder="Jane Jones")
TOKEN = registration.NetworkToken(
    state=registration.TokenState.ACTIVE, updated_at=7, reference="ref-1", last_digits="3478"
)


def test_every_state_but_one_is_an_obstacle_with_a_code_of_the_catalogue() -> None:
    assert set(registration.TOKEN_OBSTACLES) == set(registration.TokenState) - {registration.TokenState.ACTIVE}
    assert all(code in RESULTS for code in registration.TOKEN_OBSTACLES.values())


@pytest.mark.parametrize(
    ("token", "code"),
    [
        (None, "800.100.311"),
        (TOKEN, None),
        (replace(TOKEN, state=registration.TokenState.SUSPENDED), "800.100.317"),
        (replace(TOKEN, state=registration.TokenState.DELETED), "800.100.326"),
        (replace(TOKEN, state=registration.TokenState.REFUSED, code="800.100.301"), "800.100.301"),
        (replace(TOKEN, state=registration.TokenState.REFUSED), "800.100.310"),
    ],
)
def test_why_a_card_is_charged_by_its_own_number(token: registration.NetworkToken | None, code: str | None) -> None:
    assert registration.find_token_obstacle(token) == code


@pytest.mark.parametrize(
    ("year", "month", "is_taken"),
    [("2038", "01", True), ("2034", "06", True), ("2034", "05", True), ("2034", "04", False), ("2033", "12", False)],
)
def test_a_card_summary_is_renewed_by_what_is_not_older(year: str, month: str, is_taken: bool) -> None:
    news = registration.CardNews(last_digits="9876", expiry_month=month, expiry_year=year)

    renewed = registration.renew_card_summary(CARD_SUMMARY, news)

    assert renewed == (
        replace(CARD_SUMMARY, last_digits="9876", expiry_month=month, expiry_year=year) if is_taken else CARD_SUMMARY
    )
    assert registration.renew_card_summary(CARD_SUMMARY, None) == CARD_SUMMARY
    assert registration.renew_card_summary(None, news) is None


def test_what_ended_keeps_the_trace_of_a_token_that_there_was() -> None:
    refused = registration.NetworkToken(state=registration.TokenState.REFUSED, updated_at=7, code="800.100.301")

    assert registration.end_token(TOKEN) == replace(TOKEN, state=registration.TokenState.DELETED)
    assert registration.end_token(refused) == refused
    assert registration.end_token(None) is None


def test_every_occasion_has_a_job_of_its_own() -> None:
    names = {
        registration.make_token_job_id("8a01"),
        registration.make_token_job_id("8a01", "e-1"),
        registration.make_token_job_id("8a01", "e-2"),
        registration.make_token_job_id("8a02"),
    }

    assert len(names) == 4
