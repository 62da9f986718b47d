"""A table says what an authentication means for its payment, and each of its rows is a result code of the catalogue."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.catalog.results import RESULTS
from tollgate.connectors.threeds import exchanges, refusals
from tollgate.connectors.threeds.refusals import BY_CANCELLATION, BY_ERROR, BY_REASON, BY_STATUS
from tollgate.payments.authentication import AuthenticationCase, AuthenticationResult
from tollgate.payments.order import Authentication
from unit.connectors.threeds_samples import ACS_ID, CASE, CHALLENGED, DS_ID, PROOF

FRICTIONLESS = AuthenticationCase(server_id=CASE.server_id, ds_id=DS_ID, acs_id=ACS_ID, flow="frictionless")


def judge(
    status: str, reason: str | None = None, cancelled: str | None = None, case: AuthenticationCase = FRICTIONLESS
) -> str | None:
    result = AuthenticationResult(status=status, reason=reason, cancelled=cancelled)
    return refusals.find_authentication_refusal(replace(case, result=result))


@pytest.mark.parametrize("status", ["Y", "A", "I"])
def test_who_passed_may_pay(status: str) -> None:
    assert judge(status) is None


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        ("N", None, "100.390.114"),
        ("N", "01", "100.390.114"),
        ("N", "08", "000.400.108"),
        ("N", "13", "000.400.102"),
        ("N", "19", "100.390.119"),
        ("R", None, "100.390.114"),
        ("R", "11", "100.390.118"),
        ("U", None, "100.390.112"),
        ("U", "03", "100.390.113"),
        ("U", "20", "100.390.120"),
        ("U", "21", "100.390.121"),
        ("U", "22", "100.390.112"),
        ("U", "23", "100.390.122"),
        ("U", "24", "100.390.122"),
        ("U", "25", "100.390.122"),
        ("U", "87", "000.400.101"),
        ("U", exchanges.MALFORMED, "100.390.115"),
        ("U", exchanges.UNREACHABLE, "100.390.111"),
        ("U", exchanges.UNANSWERED, "100.390.112"),
        ("U", exchanges.EXPIRED, "100.380.501"),
    ],
)
def test_a_no_has_the_code_of_its_reason(status: str, reason: str | None, code: str) -> None:
    assert judge(status, reason) == code


@pytest.mark.parametrize(
    ("cancelled", "code"),
    [(None, "100.380.401"), ("01", "100.390.124"), ("04", "100.380.501"), ("08", "100.380.501"), ("07", "100.380.401")],
)
def test_a_lost_challenge_says_how_it_was_lost(cancelled: str | None, code: str) -> None:
    assert judge("N", cancelled=cancelled, case=CHALLENGED) == code


def test_no_result_at_all_is_a_technical_failure() -> None:
    assert refusals.find_authentication_refusal(CHALLENGED) == "100.390.112"
    assert judge("Q") == "100.390.112"


def test_every_refusal_is_a_failure_of_the_catalogue() -> None:
    codes = {*BY_CANCELLATION.values(), *BY_ERROR.values(), *BY_REASON.values(), *BY_STATUS.values()}

    assert all(RESULTS[code].http_status == 400 for code in codes)


def test_every_no_has_a_code_in_both_flows() -> None:
    assert set(BY_STATUS) == {(status, flow) for status in "NUR" for flow in ("frictionless", "challenge")}


def test_the_merchant_is_answered_what_is_known() -> None:
    result = AuthenticationResult(status="Y", eci="05", value=PROOF, reason="17")
    case = replace(FRICTIONLESS, result=result, is_mandated="N", card_holder_text="Call us")

    assert refusals.describe_case(case) == {
        "threeDSecure.eci": "05",
        "threeDSecure.verificationId": PROOF,
        "threeDSecure.version": "2.2.0",
        "threeDSecure.flow": "frictionless",
        "threeDSecure.dsTransactionId": DS_ID,
        "threeDSecure.acsTransactionId": ACS_ID,
        "threeDSecure.authenticationStatus": "Y",
        "threeDSecure.challengeMandatedIndicator": "N",
        "threeDSecure.transactionStatusReason": "17",
        "threeDSecure.cardHolderInfo": "Call us",
    }


def test_our_own_marks_are_not_shown_as_reasons_of_the_issuer() -> None:
    case = exchanges.fail_case(CASE, exchanges.UNREACHABLE)

    assert refusals.describe_case(case) == {"threeDSecure.version": "2.2.0", "threeDSecure.authenticationStatus": "U"}


def test_the_acquirer_is_shown_the_proof() -> None:
    case = replace(FRICTIONLESS, result=AuthenticationResult(status="A", eci="06", value=PROOF))

    assert refusals.make_authentication(case) == Authentication(
        eci="06",
        verification_id=PROOF,
        version="2.2.0",
        ds_transaction_id=DS_ID,
        acs_transaction_id=ACS_ID,
        authentication_status="A",
    )
    assert refusals.make_authentication(CASE) == Authentication(version="2.2.0")
