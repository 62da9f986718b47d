"""The card connector's judgement: every answer, however odd, ends in one verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from tollgate.catalog.results import RESULTS
from tollgate.connectors import acquiring, card
from tollgate.connectors.acquiring import ADVICES, RESPONSES, UNLISTED
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest
from tollgate.payments.payment import Outcome, Verdict
from unit.connectors.samples import ATTEMPT, ORDER, ORIGINAL

APPROVED_CODE = "000.100.110"


def run(exchange: Exchange, reply: Mapping[str, object] | bytes, status: int = 200) -> tuple[WireRequest, Verdict]:
    body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
    request = next(exchange)
    with pytest.raises(StopIteration) as end:
        exchange.send(WireReply(status, body))
    return request, end.value.value


def charge(reply: Mapping[str, object] | bytes, status: int = 200) -> Verdict:
    return run(card.charge(ORDER, ATTEMPT, APPROVED_CODE), reply, status)[1]


def test_an_approval_has_the_code_of_its_mode_and_the_acquirers_references() -> None:
    verdict = charge({"status": "approved", "message": "Fine", "reference": "R-1", "response_code": "00"})

    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, APPROVED_CODE)
    assert verdict.details == {"ExtendedDescription": "Fine", "ConnectorTxID1": "R-1", "AcquirerResponse": "00"}


@pytest.mark.parametrize(("response", "code"), [*RESPONSES.items(), ("ZZ", UNLISTED), ("", UNLISTED)])
def test_a_decline_is_translated_by_table(response: str, code: str) -> None:
    verdict = charge({"status": "declined", "response_code": response})

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, code)


@pytest.mark.parametrize(
    ("advice", "code"), [*ADVICES.items(), ("04", RESPONSES["51"]), ("", RESPONSES["51"]), ("x", RESPONSES["51"])]
)
def test_the_issuers_advice_counts_more_than_the_response(advice: str, code: str) -> None:
    verdict = charge({"status": "declined", "response_code": "51", "advice": advice})

    assert (verdict.outcome, verdict.code, verdict.details["AcquirerResponse"]) == (Outcome.DECLINED, code, "51")


def test_an_approval_is_no_less_one_for_an_advice() -> None:
    assert charge({"status": "approved", "advice": "03"}).code == APPROVED_CODE


def test_every_translation_is_a_failure_of_the_catalogue() -> None:
    codes = (*RESPONSES.values(), *ADVICES.values(), UNLISTED)

    assert [code for code in codes if RESULTS[code].http_status != 400] == []


def test_a_pending_answer_waits() -> None:
    assert charge({"status": "pending"}) == Verdict(
        outcome=Outcome.WAITING, code="000.200.000", details={"ExtendedDescription": ""}
    )


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("800.100.151", Outcome.DECLINED),
        ("000.400.000", Outcome.APPROVED),
        ("000.200.000", Outcome.WAITING),
        ("000.000.000", Outcome.APPROVED),
    ],
)
def test_a_forced_code_decides_the_outcome(code: str, outcome: Outcome) -> None:
    asking = replace(ORDER, simulator_overrides={acquiring.FORCED_CODE: code})

    _, verdict = run(card.charge(asking, ATTEMPT, APPROVED_CODE), {"status": "approved", "result_code": code})

    assert (verdict.outcome, verdict.code) == (outcome, code)


def test_no_acquirer_chooses_a_code_of_the_catalogue_by_itself() -> None:
    assert charge({"status": "declined", "response_code": "51", "result_code": "000.000.000"}).code == "800.100.203"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (b"", 200),
        (b"{", 200),
        (b"\xff\xfe", 200),
        (b"[]", 200),
        (b"null", 200),
        ({"status": "dancing"}, 200),
        ({"status": 1}, 200),
        ({"response_code": "00"}, 200),
        ({"status": "approved", "message": "x" * 600}, 200),
        ({"status": "approved"}, 500),
        ({"status": "approved"}, 503),
    ],
)
def test_an_answer_nobody_understands_is_silence(reply: Mapping[str, object] | bytes, status: int) -> None:
    assert charge(reply, status) == Verdict(outcome=Outcome.SILENT, code="900.100.300")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("reversed", Outcome.APPROVED), ("unknown", Outcome.APPROVED), ("approved", Outcome.SILENT), ("", Outcome.SILENT)],
)
def test_a_charge_never_seen_counts_as_reversed(status: str, outcome: Outcome) -> None:
    request, verdict = run(card.reverse(ORIGINAL), {"status": status})

    assert verdict.outcome is outcome
    assert (request.path, request.key, json.loads(request.body)) == (
        acquiring.REVERSALS,
        "8a01-reversal",
        {"key": "8a01"},
    )


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("approved", Outcome.APPROVED),
        ("declined", Outcome.DECLINED),
        ("unknown", Outcome.DECLINED),
        ("pending", Outcome.WAITING),
        ("reversed", Outcome.SILENT),
    ],
)
def test_an_inquiry_answers_what_became_of_a_charge(status: str, outcome: Outcome) -> None:
    request, verdict = run(card.inquire(ORIGINAL, APPROVED_CODE), {"status": status})

    assert verdict.outcome is outcome
    assert request.path == acquiring.INQUIRIES


def test_a_charge_carries_the_key_of_its_attempt() -> None:
    request, _ = run(card.charge(ORDER, ATTEMPT, APPROVED_CODE), {"status": "approved"})

    assert (request.path, request.key) == (card.CHARGES, "8a01")
    assert request.simulator_overrides == ORDER.simulator_overrides
