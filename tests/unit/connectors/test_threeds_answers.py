"""Answers of directory servers and issuers become a result, a challenge, or neither."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.connectors.threeds import exchanges, messages, refusals
from tollgate.payments.accounts import CardAccount
from tollgate.payments.authentication import AuthenticationRequest, AuthenticationResult
from tollgate.payments.order import Order
from tollgate.values import Money, Secret
from unit.connectors.threeds_samples import (
    ACS_ID,
    CASE,
    CHALLENGED,
    DS_ID,
    PROOF,
    SERVER_ID,
    SHOPPER_ORDER,
    TEST_ORDER,
    ask,
    hold,
    make_ares,
    make_rreq,
)

OTHER_ID = "00000000-0000-4000-8000-00000000000f"
MALFORMED = AuthenticationResult(status="U", reason=exchanges.MALFORMED)


def test_a_frictionless_yes_is_a_result_with_its_proof() -> None:
    case = hold(ask(), make_ares("Y", eci="05", authenticationValue=PROOF, acsChallengeMandated="N"))

    assert case.result == AuthenticationResult(status="Y", eci="05", value=PROOF)
    assert (case.ds_id, case.acs_id, case.flow, case.is_mandated) == (DS_ID, ACS_ID, "frictionless", "N")


def test_a_challenge_is_a_page_and_no_result() -> None:
    case = hold(ask(), make_ares("C", acsURL="https://bank.example/c", acsChallengeMandated="Y"))

    assert (case.result, case.acs_url, case.flow) == (None, "https://bank.example/c", "challenge")
    assert (case.ds_id, case.acs_id, case.is_mandated) == (DS_ID, ACS_ID, "Y")


def test_a_decoupled_answer_is_neither_a_page_nor_a_result() -> None:
    order = replace(SHOPPER_ORDER, authentication=AuthenticationRequest(is_decoupled=True))
    case = hold(ask(order), make_ares("D", cardholderInfo="Look at your phone"))

    assert (case.result, case.acs_url, case.card_holder_text) == (None, None, "Look at your phone")


def test_an_app_is_challenged_without_a_page() -> None:
    order = replace(SHOPPER_ORDER, authentication=AuthenticationRequest(device="{}"))
    case = hold(ask(order), make_ares("C"))

    assert (case.result, case.acs_url, case.flow) == (None, None, "challenge")


@pytest.mark.parametrize("status", ["N", "U", "R"])
def test_a_no_keeps_its_reason(status: str) -> None:
    case = hold(ask(), make_ares(status, transStatusReason="11", eci="07"))

    assert case.result == AuthenticationResult(status=status, reason="11", eci="07")


def test_a_yes_without_money_needs_no_proof() -> None:
    case = hold(ask(replace(SHOPPER_ORDER, money=Money(0, "EUR"))), make_ares("Y"))

    assert case.result == AuthenticationResult(status="Y")


@pytest.mark.parametrize(
    "answer",
    [
        make_ares("Y", eci="05"),
        make_ares("A", eci="06"),
        make_ares("Y", authenticationValue=PROOF, threeDSServerTransID=OTHER_ID),
        make_ares("Y", authenticationValue=PROOF, threeDSServerTransID=None),
        make_ares("Y", authenticationValue=PROOF, dsTransID="7"),
        make_ares("Y", authenticationValue=PROOF, acsTransID=None),
        make_ares("Y", authenticationValue=PROOF, messageVersion="2.1.0"),
        make_ares("Y", authenticationValue=PROOF, messageType="RReq"),
        make_ares("Y", authenticationValue="x" * 100),
        make_ares("Y", authenticationValue=PROOF, cardholderInfo="x" * 129),
        make_ares("Y\n", authenticationValue=PROOF),
        make_ares("Z"),
        make_ares("C"),
        make_ares("C", acsURL="http://bank.example/plain"),
        make_ares("C", acsURL="javascript:alert(1)"),
        make_ares("C", acsURL="https://bank.example/\nx"),
        make_ares("D"),
        {},
        b"",
        b"\xff",
        b"[" * 100_000,
        b'{"messageType":"ARes"',
    ],
)
def test_whatever_is_no_answer_to_this_request_is_malformed(answer: dict[str, Any] | bytes) -> None:
    case = hold(ask(), answer)

    assert case == replace(CASE, result=MALFORMED)
    assert refusals.find_authentication_refusal(case) == "100.390.115"


@pytest.mark.parametrize("status", [200, 400])
def test_an_error_message_loses_the_numbers_in_it(status: int) -> None:
    complaint = {
        "errorCode": "203",
        "errorComponent": "D",
        "errorDescription": "no",
        "errorDetail": "acctNumber 4200 0000 0000 0018",
    }
    case = hold(ask(), {"messageType": "Erro", **complaint}, status)

    received = refusals.describe_case(case)
    assert refusals.find_authentication_refusal(case) == "100.390.115"
    assert (received["threeDSecure.errorCode"], received["threeDSecure.errorSource"]) == ("203", "D")
    assert received["threeDSecure.errorDescription"] == "no: acctNumber ***"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("201", "100.390.115"),
        ("102", "000.400.113"),
        ("303", "100.390.116"),
        ("305", "100.390.117"),
        ("403", "100.390.112"),
    ],
)
def test_an_error_is_judged_by_its_own_code(error: str, code: str) -> None:
    assert refusals.find_authentication_refusal(hold(ask(), {"messageType": "Erro", "errorCode": error}, 200)) == code


@pytest.mark.parametrize("status", [301, 400, 404, 500, 503])
def test_a_failed_request_has_no_answer(status: int) -> None:
    assert hold(ask(), make_ares("Y", authenticationValue=PROOF), status).result == MALFORMED


def test_a_test_host_takes_plain_pages() -> None:
    assert hold(ask(TEST_ORDER), make_ares("C", acsURL="http://127.0.0.1/c")).acs_url == "http://127.0.0.1/c"


def test_only_cards_can_be_authenticated() -> None:
    conversation = ask(replace(SHOPPER_ORDER, account=None))

    with pytest.raises(StopIteration) as end:
        next(conversation)
    assert end.value.value.result == MALFORMED


@pytest.mark.parametrize(
    "changes", [{"requestor_reason": "RECURRING"}, {"requestor_reason": "RECURRING", "is_decoupled": False}]
)
def test_nobody_is_challenged_who_is_not_there(changes: dict[str, Any]) -> None:
    order: Order = replace(SHOPPER_ORDER, authentication=AuthenticationRequest(**changes))

    assert hold(ask(order), make_ares("C", acsURL="https://bank.example/c")).result == MALFORMED


# --- card ranges ---


def make_pres(*rows: dict[str, str], **members: Any) -> dict[str, Any]:
    head = {"messageType": "PRes", "messageVersion": "2.2.0", "threeDSServerTransID": SERVER_ID, "dsTransID": DS_ID}
    return {**head, "cardRangeData": rows, **members}


def make_range(start: str, end: str, lowest: str = "2.1.0", highest: str = "2.2.0", **more: str) -> dict[str, str]:
    versions = {"acsStartProtocolVersion": lowest, "acsEndProtocolVersion": highest}
    return {"startRange": start, "endRange": end, **versions, **more}


def test_ranges_come_with_the_newest_version_both_sides_speak() -> None:
    ranges = hold(
        exchanges.ask_ranges(SERVER_ID),
        make_pres(
            make_range("4000000000000000", "4000000000000099", threeDSMethodURL="https://bank.example/m"),
            make_range("5000000000000000", "5000000000000099", "2.1.0", "2.1.0"),
            make_range("5100000000000000", "5100000000000099", "2.2.0", "2.10.0"),
            make_range("6000000000000000", "6000000000000099", "2.3.1", "2.3.1"),
            make_range("6100000000000000", "61000000000000999"),
        ),
    )

    assert ranges == (
        exchanges.CardRange("4000000000000000", "4000000000000099", "https://bank.example/m", "2.2.0"),
        exchanges.CardRange("5000000000000000", "5000000000000099", None, "2.1.0"),
        exchanges.CardRange("5100000000000000", "5100000000000099", None, "2.2.0"),
    )


@pytest.mark.parametrize(
    ("number", "is_found"),
    [
        ("4000000000000000", True),
        ("4000000000000099", True),
        ("4000000000000100", False),
        ("400000000000005", False),
        ("40000000000000505", False),
    ],
)
def test_a_range_holds_numbers_of_its_own_length_only(number: str, is_found: bool) -> None:
    card_range = exchanges.CardRange("4000000000000000", "4000000000000099", None, "2.2.0")
    account = CardAccount(number=Secret(number), expiry_month="05", expiry_year="2034")

    assert (exchanges.find_range([card_range], account) is card_range) is is_found


def test_a_card_is_found_among_many_ranges_in_any_order() -> None:
    starts = [f"4{number:03d}000000000000" for number in range(0, 900, 2)]
    rows = [make_range(start, start[:4] + "999999999999") for start in reversed(starts)]
    longer = make_range("4000000000000000000", "4999999999999999999")
    ranges = hold(exchanges.ask_ranges(SERVER_ID), make_pres(longer, *rows))

    assert ranges is not None
    for number, start in (
        ("4000000000000000", "4000000000000000"),
        ("4898123412341234", "4898000000000000"),
        ("4899000000000000", None),
        ("4001000000000000", None),
        ("3999999999999999", None),
        ("4001000000000000000", "4000000000000000000"),
    ):
        found = exchanges.find_range(ranges, CardAccount(number=Secret(number), expiry_month="05", expiry_year="2034"))
        assert (found and found.start) == start, number


@pytest.mark.parametrize(
    ("number", "start"),
    [
        ("4000000000000000", "4000000000000000"),
        ("4100000000000050", "4100000000000000"),
        ("4150000000000000", "4000000000000000"),
        ("4300000000000000", "4000000000000000"),
        ("4999999999999999", "4000000000000000"),
        ("5000000000000000", None),
        ("5100000000000000", None),
    ],
)
def test_a_card_between_inner_ranges_belongs_to_the_outer_one(number: str, start: str | None) -> None:
    rows = (
        make_range("4000000000000000", "4999999999999999"),
        make_range("4100000000000000", "4100000000000099"),
        make_range("4200000000000000", "4200000000000099"),
        make_range("400000000000000", "599999999999999"),
    )
    ranges = hold(exchanges.ask_ranges(SERVER_ID), make_pres(*rows))
    found = exchanges.find_range(
        ranges or (), CardAccount(number=Secret(number), expiry_month="05", expiry_year="2034")
    )

    assert (found.start if found else None) == start


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (make_pres(threeDSServerTransID=OTHER_ID), 200),
        (make_pres(), 500),
        (make_pres(make_range("4", "5")), 200),
        (make_pres(cardRangeData=[7]), 200),
        ({"messageType": "Erro", "errorCode": "203"}, 200),
        (b"<html>", 200),
    ],
)
def test_an_unusable_answer_about_ranges_is_none(answer: dict[str, Any] | bytes, status: int) -> None:
    assert hold(exchanges.ask_ranges(SERVER_ID), answer, status) is None


# --- results after a challenge ---


def test_a_result_is_read_and_answered() -> None:
    body = make_rreq(interactionCounter="01")

    assert exchanges.read_result(body, CHALLENGED) == AuthenticationResult(status="Y", eci="05", value=PROOF)
    assert json.loads(exchanges.answer_result(body, CHALLENGED, accepted=True)) == {
        "messageType": "RRes",
        "messageVersion": "2.2.0",
        "threeDSServerTransID": SERVER_ID,
        "dsTransID": DS_ID,
        "acsTransID": ACS_ID,
        "resultsStatus": "01",
    }


def test_a_cancelled_challenge_says_why() -> None:
    result = exchanges.read_result(
        make_rreq(transStatus="N", authenticationValue=None, challengeCancel="01"), CHALLENGED
    )

    assert result == AuthenticationResult(status="N", eci="05", cancelled="01")


@pytest.mark.parametrize(
    "members",
    [
        {"threeDSServerTransID": OTHER_ID},
        {"dsTransID": OTHER_ID},
        {"acsTransID": OTHER_ID},
        {"messageVersion": "2.1.0"},
        {"messageType": "ARes"},
        {"transStatus": "C"},
        {"transStatus": "I"},
        {"transStatus": "D"},
        {"transStatus": None},
        {"authenticationValue": None},
        {"transStatus": "A", "authenticationValue": None},
        {"challengeCancel": "01"},
        {"messageCategory": None},
    ],
)
def test_a_result_of_something_else_or_half_a_result_is_none(members: dict[str, Any]) -> None:
    assert exchanges.read_result(make_rreq(**members), CHALLENGED) is None


def test_a_case_that_never_reached_a_directory_has_no_result() -> None:
    assert exchanges.read_result(make_rreq(dsTransID=None, acsTransID=None), CASE) is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "203"),
        (make_rreq(dsTransID=OTHER_ID), "301"),
        (make_rreq(), "305"),
    ],
)
def test_a_refused_result_is_answered_with_the_reason(body: bytes, code: str) -> None:
    answer = json.loads(exchanges.answer_result(body, CHALLENGED, accepted=False))

    assert (answer["messageType"], answer["errorCode"], answer["errorComponent"]) == ("Erro", code, "S")
    assert answer["errorMessageType"] == "RReq"


def test_a_result_for_nobody_is_not_known() -> None:
    assert json.loads(exchanges.answer_result(make_rreq(), None, accepted=False))["errorCode"] == "301"


# --- what the browser brings back ---


def encode(message: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(message).encode()).decode()


CRES = {
    "messageType": "CRes",
    "messageVersion": "2.2.0",
    "threeDSServerTransID": SERVER_ID,
    "acsTransID": ACS_ID,
    "transStatus": "Y",
}


@pytest.mark.parametrize("text", [encode(CRES), encode(CRES).rstrip("=")])
def test_the_browsers_answer_is_read_with_and_without_padding(text: str) -> None:
    answer = messages.unwrap(text, messages.CRes)

    assert answer is not None
    assert (answer.three_ds_server_trans_id, answer.trans_status) == (SERVER_ID, "Y")


@pytest.mark.parametrize("text", ["", "%", "é", "A", encode({}), encode([1]), encode({**CRES, "messageType": "Erro"})])
def test_whatever_else_the_browser_brings_is_none(text: str) -> None:
    assert messages.unwrap(text, messages.CRes) is None
    assert exchanges.read_method_data(text) is None or text == encode({**CRES, "messageType": "Erro"})
