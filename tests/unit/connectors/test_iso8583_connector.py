"""An answer of a host becomes a verdict if it is the answer to this request; anything else is silence."""

from __future__ import annotations

import msgspec
import pytest

from tollgate.catalog import codes
from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.acquiring import RESPONSES, UNLISTED
from tollgate.connectors.exchange import AcquirerAccount, Exchange, Original, WireReply
from tollgate.connectors.iso8583 import codec, connector, messages
from tollgate.connectors.iso8583.fields import Tag
from tollgate.connectors.table import CONNECTORS
from tollgate.payments.payment import Outcome, Verdict
from tollgate.values import Refusal, Secret
from unit.connectors.iso8583_samples import (
    ACCOUNT,
    ACTIONS,
    CVV,
    FIRST,
    ORIGINAL,
    PA_ORDER,
    answer,
    finish,
    make_follow_up,
    make_payment,
)
from unit.connectors.samples import CARD

APPROVED_CODE = "000.100.112"
SILENT = Verdict(outcome=Outcome.SILENT, code=codes.ACQUIRER_SILENT)
CONNECTOR = connector.make(ACCOUNT)

DECLINES = {code: result for code, result in RESPONSES.items() if code != "94"}
"""A duplicate is no answer."""

NO_ANSWERS = {
    "no bytes": (b"", {}),
    "garbage": (b"HTTP/1.1 400 Bad Request", {}),
    "another amount": (None, {"f4": "000000009211"}),
    "another currency": (None, {"f49": "840"}),
    "another trace number": (None, {"f11": "999999"}),
    "another terminal": (None, {"f41": "TERM02  "}),
    "another reference": (None, {"f37": "000000000000"}),
    "another type": (None, {"mti": "0210"}),
    "an echo of the request": (None, {"mti": "0100"}),
    "another processing code": (None, {"f3": "200000"}),
    "a part of the amount": (None, {"code": "10"}),
    "a duplicate": (None, {"code": "94"}),
}


def charge() -> Exchange:
    return CONNECTOR.charge(PA_ORDER, FIRST, APPROVED_CODE)


def end(exchange: Exchange) -> Verdict:
    """Runs an exchange that sends nothing."""
    with pytest.raises(StopIteration) as stopped:
        next(exchange)
    verdict: Verdict = stopped.value.value
    return verdict


def test_the_table_has_a_row_for_it() -> None:
    row = CONNECTORS[ConnectorName.ISO8583]

    assert isinstance(row.make(ACCOUNT), connector.Iso8583Connector)
    assert (row.needs_account, row.secrets) == (True, ("key-encryption-key",))


def test_a_charge_is_one_message_under_the_key_of_its_attempt() -> None:
    request = next(charge())

    assert (request.path, request.key, request.content_type) == ("0100", FIRST.id, "application/x-iso8583")
    assert request.simulator_overrides == {}
    assert codec.decode(request.body) == messages.make_charge(ACCOUNT, PA_ORDER, FIRST)


def test_an_approval_tells_the_references_of_the_host() -> None:
    exchange = charge()
    request = next(exchange)
    tags = codec.render_tags({Tag.CVV2_RESULT: "M", Tag.AVS_RESULT: "Z"})
    verdict = finish(exchange, answer(request, f38="AB12  ", f63="MCC0042", f48=tags))

    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, APPROVED_CODE)
    assert verdict.details == {
        "ExtendedDescription": "approved",
        "ConnectorTxID1": messages.make_reference(FIRST.id),
        "ConnectorTxID2": "AB12",
        "ConnectorTxID3": "MCC0042",
        "CardholderInitiatedTransactionID": "MCC0042",
        "AcquirerResponse": "00",
        "result.cvvResponse": "M",
        "result.avsResponse": "Z",
    }


@pytest.mark.parametrize(("code", "result"), [*DECLINES.items(), ("ZZ", UNLISTED)])
def test_a_decline_has_the_result_code_of_its_response(code: str, result: str) -> None:
    exchange = charge()
    verdict = finish(exchange, answer(next(exchange), code))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, result)
    assert verdict.details["AcquirerResponse"] == code


def test_an_advice_of_the_issuer_counts_more_than_its_response() -> None:
    exchange = charge()
    verdict = finish(exchange, answer(next(exchange), "05", f48=codec.render_tags({Tag.ADVICE: "03"})))

    assert verdict.code == "700.601.003"


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_does_not_answer_this_request_is_silence(name: str) -> None:
    body, changes = NO_ANSWERS[name]
    exchange = charge()
    request = next(exchange)

    assert finish(exchange, answer(request, **changes) if body is None else body) == SILENT


@pytest.mark.parametrize("number", [11, 37, 39, 41])
def test_an_answer_without_an_element_that_identifies_it_is_silence(number: int) -> None:
    exchange = charge()
    request = next(exchange)
    message = codec.decode(answer(request))
    cut = codec.Message(message.mti, {each: text for each, text in message.fields.items() if each != number})

    assert finish(exchange, codec.encode(cut)) == SILENT


def test_an_approval_beside_a_breakdown_is_silence() -> None:
    exchange = charge()

    assert finish(exchange, answer(next(exchange)), status=502) == SILENT


def test_an_answer_with_track_data_is_silence() -> None:
    exchange = charge()
    reply = answer(next(exchange))
    bitmap = int.from_bytes(reply[4:12]) | 1 << (64 - 35)

    assert finish(exchange, reply[:4] + bitmap.to_bytes(8) + reply[12:]) == SILENT


@pytest.mark.parametrize(
    ("hundredths", "number", "code"),
    [(10**12, "4200000000000000", codes.AMOUNT_TOO_LARGE), (9210, "4" * 20, RESPONSES["30"])],
)
def test_what_does_not_fit_into_a_message_is_declined_and_not_sent(hundredths: int, number: str, code: str) -> None:
    order = msgspec.structs.replace(PA_ORDER, account=msgspec.structs.replace(CARD, number=Secret(number)))
    verdict = end(CONNECTOR.charge(order, make_payment(hundredths=hundredths), APPROVED_CODE))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, code)


@pytest.mark.parametrize("word", ACTIONS)
def test_a_follow_up_is_judged_like_a_charge(word: str) -> None:
    attempt = make_follow_up(word)
    for code, outcome in (("00", Outcome.APPROVED), ("12", Outcome.DECLINED), ("94", Outcome.SILENT)):
        exchange = CONNECTOR.follow_up(attempt, word, APPROVED_CODE, original=ORIGINAL)
        request = next(exchange)

        assert (request.path, request.key) == (ACTIONS[word][2], attempt.id)
        assert finish(exchange, answer(request, code)).outcome is outcome


@pytest.mark.parametrize("word", ["capture", "refund", "reversal", "rebill"])
def test_a_repeat_is_the_same_message_with_the_type_of_a_repeat(word: str) -> None:
    attempt = make_follow_up(word, 4000)
    first = next(CONNECTOR.follow_up(attempt, word, APPROVED_CODE, original=ORIGINAL))
    exchange = CONNECTOR.repeat(attempt, word, APPROVED_CODE, original=ORIGINAL)
    repeat = next(exchange)

    assert (repeat.path, repeat.key) == (f"{first.path[:3]}1", first.key)
    assert (repeat.body[:4], repeat.body[4:]) == (repeat.path.encode(), first.body[4:])
    assert finish(exchange, answer(repeat)).outcome is Outcome.APPROVED


def test_no_request_but_the_first_has_the_cvv() -> None:
    card = Original(payment=FIRST, first=FIRST, account=CARD)
    exchanges = [CONNECTOR.reverse(card), CONNECTOR.inquire(card, APPROVED_CODE)]
    for word in ACTIONS:
        attempt = make_follow_up(word)
        exchanges += [
            CONNECTOR.follow_up(attempt, word, APPROVED_CODE, original=card),
            CONNECTOR.repeat(attempt, word, APPROVED_CODE, original=card),
        ]

    tag = codec.render_tags({Tag.CVV2: CVV}).encode()
    assert tag in next(charge()).body
    assert not [exchange for exchange in exchanges if tag in next(exchange).body]


@pytest.mark.parametrize("code", ["00", "21", "25"])
def test_a_reversal_is_confirmed_by_a_host_that_undid_it_or_never_saw_it(code: str) -> None:
    exchange = CONNECTOR.reverse(ORIGINAL)
    request = next(exchange)

    assert (request.path, request.key) == ("0420", f"{FIRST.id}-reversal")
    verdict = finish(exchange, answer(request, code))
    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, "")


@pytest.mark.parametrize("code", ["05", "12", "91", "96"])
def test_a_reversal_that_the_host_refuses_is_not_confirmed(code: str) -> None:
    exchange = CONNECTOR.reverse(ORIGINAL)

    assert finish(exchange, answer(next(exchange), code)) == SILENT


@pytest.mark.parametrize(("body", "code"), [(b"garbage", ""), (None, "94")])
def test_a_reversal_without_an_answer_is_repeated_once(body: bytes | None, code: str) -> None:
    for last, outcome in (("00", Outcome.APPROVED), ("94", Outcome.SILENT)):
        exchange = CONNECTOR.reverse(ORIGINAL)
        first = next(exchange)
        second = exchange.send(WireReply(200, answer(first, code) if body is None else body))

        assert (second.path, second.key, second.body[4:]) == ("0421", first.key, first.body[4:])
        assert finish(exchange, answer(second, last)).outcome is outcome


def test_every_run_of_a_reversal_sends_the_same_bytes() -> None:
    assert next(CONNECTOR.reverse(ORIGINAL)).body == next(connector.make(ACCOUNT).reverse(ORIGINAL)).body


def test_a_credit_whose_outcome_is_unknown_is_undone_and_never_paid_out_later() -> None:
    credit = make_payment("CD")
    exchange = CONNECTOR.inquire(Original(payment=credit, first=credit), APPROVED_CODE)
    request = next(exchange)
    sent = codec.decode(request.body)

    assert (sent.mti, sent.fields[3], sent.fields[90][:4]) == ("0420", "200000", "0200")
    verdict = finish(exchange, answer(request, "25"))
    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, codes.TIMED_OUT_BEFORE_SENDING)


def test_a_credit_whose_reversal_is_not_confirmed_stays_open() -> None:
    exchange = CONNECTOR.inquire(ORIGINAL, APPROVED_CODE)

    assert finish(exchange, answer(next(exchange), "96")) == SILENT


@pytest.mark.parametrize(
    "account",
    [
        None,
        msgspec.structs.replace(ACCOUNT, terminal_id=""),
        msgspec.structs.replace(ACCOUNT, terminal_id="TERMINAL9"),
        msgspec.structs.replace(ACCOUNT, acquirer_number="BANK"),
        msgspec.structs.replace(ACCOUNT, acquirer_number="1" * 12),
        msgspec.structs.replace(ACCOUNT, merchant_number="1" * 16),
        msgspec.structs.replace(ACCOUNT, merchant_number="ü"),
    ],
)
def test_an_account_that_fits_no_message_is_refused_before_a_payment_is_written(
    account: AcquirerAccount | None,
) -> None:
    with pytest.raises(Refusal) as refused:
        connector.make(account)

    assert refused.value.result.code == codes.MODE_NOT_CONFIGURED


def test_an_account_without_numbers_of_the_acquirer_is_enough() -> None:
    account = msgspec.structs.replace(ACCOUNT, acquirer_number="", merchant_number="", category="", country="")
    exchange = connector.make(account).charge(PA_ORDER, FIRST, APPROVED_CODE)

    assert finish(exchange, answer(next(exchange))).outcome is Outcome.APPROVED
    assert next(connector.make(account).reverse(ORIGINAL)).path == "0420"


@pytest.mark.parametrize("action", ACTIONS)
def test_a_follow_up_that_never_fitted_ends_when_it_is_repeated(action: str) -> None:
    """A process that was killed before it sent anything leaves such a follow-up open."""
    attempt = make_follow_up(action, hundredths=10**13)

    verdict = end(CONNECTOR.repeat(attempt, action, APPROVED_CODE, original=ORIGINAL))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, codes.AMOUNT_TOO_LARGE)


def test_a_charge_that_never_fitted_needs_no_reversal() -> None:
    payment = make_payment(hundredths=10**13)

    verdict = end(CONNECTOR.reverse(Original(payment=payment, first=payment)))

    assert verdict.outcome is Outcome.APPROVED


@pytest.mark.parametrize("action", sorted(messages.ANEW))
def test_an_account_that_was_wiped_is_not_charged_again(action: str) -> None:
    """A host that takes a sale without a number would charge nobody, or somebody else."""
    wiped = msgspec.structs.replace(ORIGINAL, account=None)

    verdict = end(CONNECTOR.follow_up(make_follow_up(action), action, APPROVED_CODE, original=wiped))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, codes.ACCOUNT_ERASED)
