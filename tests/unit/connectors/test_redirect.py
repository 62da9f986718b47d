"""The redirect connector: where the shopper goes, what a session came to, and that no page leads to script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.results import RESULTS
from tollgate.connectors import acquiring, card, redirect
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest
from tollgate.connectors.table import get_connector
from tollgate.payments.accounts import BankAccount, VirtualAccount
from tollgate.payments.payment import Outcome, Verdict
from tollgate.values import Money, Secret
from unit.connectors.samples import ATTEMPT, CAPTURE, ORDER, ORIGINAL

APPROVED_CODE = "000.100.110"
SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")
PAGE = "https://bank.example/pay?session=1"

WALLET_ORDER = replace(
    ORDER,
    brand="PAYPAL",
    network="PAYPAL",
    method="VA",
    account=VirtualAccount(),
    card_summary=None,
    simulator_overrides={},
)
BANK = BankAccount(
    holder="Jane Jones", iban=Secret("DE75512108001245126199"), bic="SOGEDEFF", bank_name="Bank", country="DE"
)


def run(exchange: Exchange, reply: Mapping[str, object] | bytes, status: int = 200) -> tuple[WireRequest, Verdict]:
    body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
    request = next(exchange)
    with pytest.raises(StopIteration) as end:
        exchange.send(WireReply(status, body))
    return request, end.value.value


def open_session(reply: Mapping[str, object] | bytes, status: int = 200) -> Verdict:
    return run(redirect.charge(WALLET_ORDER, ATTEMPT, APPROVED_CODE, back_url="https://gate/back"), reply, status)[1]


def inquire(reply: Mapping[str, object]) -> Verdict:
    return run(redirect.inquire(ORIGINAL, APPROVED_CODE), reply)[1]


def read_sent(request: WireRequest) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(request.body)
    return sent


def test_every_brand_with_a_page_is_spoken_for_by_this_connector() -> None:
    pages = [code for code, brand in BRANDS.items() if brand.protocol is Protocol.REDIRECT]

    assert {"PAYPAL", "SOFORTUEBERWEISUNG", "IDEAL", "GIROPAY", "EPS", "TRUSTLY", "PREPAYMENT", "BOLETO"} < set(pages)
    assert all(get_connector(code) is redirect for code in pages)
    assert get_connector("VISA") is card


def test_a_session_says_what_the_provider_needs_and_nothing_of_ours() -> None:
    order = replace(WALLET_ORDER, account=BANK, echo={"customer.givenName": "Jane", "merchantMemo": "ours alone"})

    request, _ = run(redirect.charge(order, ATTEMPT, APPROVED_CODE, back_url="https://gate/back"), b"")

    assert (request.path, request.key) == (redirect.SESSIONS, "8a01")
    assert read_sent(request) == {
        "key": "8a01",
        "type": "sale",
        "amount": 9210,
        "currency": "EUR",
        "brand": "PAYPAL",
        "back_url": "https://gate/back",
        "statement": "Jones",
        "reference": "1234.5678.9012",
        "account": {
            "holder": "Jane Jones",
            "iban": "DE75512108001245126199",
            "bic": "SOGEDEFF",
            "bank_name": "Bank",
            "country": "DE",
        },
        "details": {"customer": {"given_name": "Jane"}},
    }


def test_an_account_at_the_provider_is_named_by_its_id() -> None:
    order = replace(WALLET_ORDER, account=VirtualAccount(account_id="351#911222111"), money=Money(50000, "JPY"))

    sent = read_sent(run(redirect.charge(order, ATTEMPT, APPROVED_CODE), b"")[0])

    assert sent["account"] == {"account_id": "351#911222111"}
    assert sent["amount"] == 500


def test_a_redirect_says_where_the_shopper_goes_and_with_which_fields() -> None:
    fields = [{"name": "token", "value": "a&b"}, {"name": "empty", "value": ""}]

    verdict = open_session({"status": "redirect", "redirect": {"url": PAGE, "method": "POST", "parameters": fields}})

    assert (verdict.outcome, verdict.code) == (Outcome.WAITING, "000.200.000")
    assert verdict.details == {
        "ExtendedDescription": "",
        "redirect.url": PAGE,
        "redirect.method": "POST",
        "redirect.parameters[0].name": "token",
        "redirect.parameters[0].value": "a&b",
        "redirect.parameters[1].name": "empty",
        "redirect.parameters[1].value": "",
    }


def test_a_redirect_is_a_plain_link_unless_it_says_otherwise() -> None:
    assert open_session({"status": "redirect", "redirect": {"url": PAGE}}).details["redirect.method"] == "GET"


@pytest.mark.parametrize("url", [PAGE, "http://127.0.0.1:8080/x", "twint-app://pay?code=1", "HTTPS://BANK.EXAMPLE/"])
def test_a_page_may_be_on_the_web_or_in_an_app(url: str) -> None:
    assert open_session({"status": "redirect", "redirect": {"url": url}}).outcome is Outcome.WAITING


@pytest.mark.parametrize(
    "url",
    [
        "",
        "bank.example/pay",
        "//bank.example/pay",
        "javascript:alert(1)",
        "JavaScript://%0aalert(1)",
        "data:text/html,hi",
        "vbscript://x",
        "https://bank.example/ a",
        'https://bank.example/"><script>',
        "https://bank.example/\u0000",
        "https://bank.example/" + "a" * 2048,
    ],
)
def test_a_page_that_no_browser_may_be_sent_to_is_silence(url: str) -> None:
    assert open_session({"status": "redirect", "redirect": {"url": url}}) == SILENT


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"{",
        {"status": "redirect"},
        {"status": "redirect", "redirect": {}},
        {"status": "redirect", "redirect": {"url": PAGE, "method": "PUT"}},
        {"status": "redirect", "redirect": {"url": PAGE, "parameters": {"a": "b"}}},
        {"status": "redirect", "redirect": {"url": PAGE, "parameters": [{"name": "a", "value": "b"}] * 51}},
        {"status": "account"},
        {"status": "account", "account": {}},
        {"status": "account", "account": {"iban": 7}},
        {"status": "reversed"},
        {"status": "dancing"},
    ],
)
def test_half_an_answer_is_silence(reply: Mapping[str, object] | bytes) -> None:
    assert open_session(reply) == SILENT


def test_a_breakdown_is_silence_whatever_it_says() -> None:
    assert open_session({"status": "approved"}, status=500) == SILENT


def test_a_prepayment_is_accepted_with_the_account_that_it_goes_to() -> None:
    account = {
        "holder": "Provider",
        "iban": "DE75512108001245126199",
        "bic": "SOGEDEFF",
        "bank_name": "Bank",
        "reference": "1234.5678.9012",
        "due": "2026-12-01",
        "barcode": "123",
    }

    verdict = open_session({"status": "account", "account": account, "reference": "R-1"})

    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, APPROVED_CODE)
    assert verdict.details == {
        "ExtendedDescription": "",
        "ConnectorTxID1": "R-1",
        "bankAccount.holder": "Provider",
        "bankAccount.iban": "DE75512108001245126199",
        "bankAccount.bic": "SOGEDEFF",
        "bankAccount.bankName": "Bank",
        "PaymentReference": "1234.5678.9012",
        "DueDate": "2026-12-01",
        "Barcode": "123",
    }


def test_an_approval_answers_the_shoppers_account_by_its_ends() -> None:
    account = {"holder": "Test Holder", "iban": "DE23100000001234567890", "bic": "MARKDEF1100", "bank_name": "Bank"}

    verdict = inquire({"status": "approved", "account": account})

    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, APPROVED_CODE)
    assert verdict.details["bankAccount.iban"] == "DE23**************7890"
    assert verdict.details["bankAccount.holder"] == "Test Holder"
    assert verdict.details["bankAccount.bic"] == "MARKDEF1100"
    assert verdict.details["bankAccount.bankName"] == "Bank"


def test_an_account_too_short_to_have_ends_is_not_answered() -> None:
    assert inquire({"status": "approved", "account": {"iban": "DE231234"}}).details["bankAccount.iban"] == "********"


def test_an_approval_may_name_an_account_at_the_provider() -> None:
    verdict = inquire({"status": "approved", "account": {"account_id": "jane@example.com", "holder": "Jane"}})

    assert verdict.details["virtualAccount.accountId"] == "jane@example.com"
    assert verdict.details["virtualAccount.holder"] == "Jane"


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        ({"status": "approved"}, Outcome.APPROVED, APPROVED_CODE),
        ({"status": "declined", "response_code": "51"}, Outcome.DECLINED, "800.100.203"),
        ({"status": "pending"}, Outcome.WAITING, "000.200.000"),
        ({"status": "redirect", "redirect": {"url": PAGE}}, Outcome.WAITING, "000.200.000"),
        ({"status": "cancelled"}, Outcome.DECLINED, "100.396.101"),
        ({"status": "expired"}, Outcome.DECLINED, "100.396.103"),
        ({"status": "expired", "product": "wallet"}, Outcome.DECLINED, "100.396.103"),
        ({"status": "expired", "product": redirect.TRANSFER}, Outcome.DECLINED, "100.395.501"),
        ({"status": "unknown"}, Outcome.DECLINED, "900.100.310"),
    ],
)
def test_an_inquiry_answers_what_became_of_a_session(reply: Mapping[str, object], outcome: Outcome, code: str) -> None:
    verdict = inquire(reply)

    assert (verdict.outcome, verdict.code) == (outcome, code)
    assert code in RESULTS


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("cancelled", Outcome.APPROVED),
        ("reversed", Outcome.APPROVED),
        ("unknown", Outcome.APPROVED),
        ("approved", Outcome.SILENT),
        ("pending", Outcome.SILENT),
        ("expired", Outcome.SILENT),
    ],
)
def test_a_session_is_called_off_by_its_key(status: str, outcome: Outcome) -> None:
    request, verdict = run(redirect.reverse(ORIGINAL), {"status": status})

    assert verdict.outcome is outcome
    assert (request.path, request.key) == (redirect.SESSION_CANCELLATIONS, "8a01-reversal")
    assert read_sent(request) == {"key": "8a01"}


def test_a_forced_code_counts_where_a_test_asked_for_it_only() -> None:
    asking = replace(WALLET_ORDER, simulator_overrides={acquiring.FORCED_CODE: "000.200.001"})
    reply = {"status": "redirect", "redirect": {"url": PAGE}, "result_code": "000.200.001"}

    _, asked = run(redirect.charge(asking, ATTEMPT, APPROVED_CODE), reply)

    assert (asked.outcome, asked.code) == (Outcome.WAITING, "000.200.001")
    assert asked.details["redirect.url"] == PAGE
    assert open_session(reply).code == "000.200.000"


def test_what_follows_is_said_as_with_a_card() -> None:
    ours, _ = run(redirect.follow_up(CAPTURE, "refund", APPROVED_CODE, original=ORIGINAL), {"status": "approved"})
    cards, _ = run(card.follow_up(CAPTURE, "refund", APPROVED_CODE, original=ORIGINAL), {"status": "approved"})

    assert ours == cards
