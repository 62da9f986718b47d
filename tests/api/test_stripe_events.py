"""Disputes that a processor reports by signed events become chargebacks, each once, and only its own events count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from api.chains import APPROVED_EXTERNAL, authorise, capture, debit, refund, result_of
from api.stripe_channels import (
    EXTERNAL,
    WEBHOOK_SECRET,
    add_stripe_channel,
    make_dispute,
    make_event,
    report,
)
from gateway import Client, GatewayProcess
from stripe_process import LocalStripe

pytestmark = pytest.mark.both_databases

OPENED, CLOSED = "charge.dispute.created", "charge.dispute.closed"


@pytest.fixture(scope="module")
def merchant(gateway: GatewayProcess, client: Client, processor: LocalStripe) -> Client:
    return add_stripe_channel(gateway, client, "Disputes", f"http://127.0.0.1:{processor.port}")


def dispute(processor: LocalStripe, payment_id: str, **changes: Any) -> dict[str, Any]:
    """Returns the event that opens a dispute of a payment."""
    intent_id = processor.get_intent(payment_id)["id"]
    return make_event(OPENED, make_dispute(intent_id, f"dp_{payment_id}", **changes))


def win(event: dict[str, Any]) -> dict[str, Any]:
    about = {**event["data"]["object"], "status": "won"}
    return {**event, "id": "evt_3", "type": CLOSED, "data": {"object": about}}


def list_chain(merchant: Client, payment_id: str) -> list[tuple[str, str, str]]:
    """Lists type, amount and result code of what followed a payment."""
    answer = merchant.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"})
    rows = answer.json["payments"]
    return [
        (row["paymentType"], row["amount"], row["result"]["code"]) for row in rows if row["paymentType"] in ("CB", "CR")
    ]


def test_a_dispute_is_a_chargeback_with_its_amount_and_reason(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)

    answer = report(merchant, dispute(processor, taken, amount=4000))

    assert (answer.status, answer.body) == (200, b"{}")
    assert list_chain(merchant, taken) == [("CB", "40.00", "000.100.220")]


def test_an_event_that_comes_again_or_at_once_counts_once(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)
    event = dispute(processor, taken)

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(lambda _: report(merchant, event), range(8))]
    answers.append(report(merchant, event))

    assert {answer.status for answer in answers} <= {200, 409}
    assert answers[-1].status == 200
    assert list_chain(merchant, taken) == [("CB", "100.00", "000.100.220")]


def test_a_dispute_that_was_won_gives_the_money_back(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)
    event = dispute(processor, taken)
    report(merchant, event)

    answers = [report(merchant, win(event)), report(merchant, win(event)), report(merchant, event)]

    assert [answer.status for answer in answers] == [200, 200, 200]
    assert [row[:2] for row in list_chain(merchant, taken)] == [("CB", "100.00"), ("CR", "100.00")]


def test_an_end_that_comes_before_the_beginning_is_delivered_again(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)
    event = dispute(processor, taken)

    assert report(merchant, win(event)).status == 409
    assert list_chain(merchant, taken) == []
    assert [report(merchant, each).status for each in (event, win(event))] == [200, 200]
    assert [row[0] for row in list_chain(merchant, taken)] == ["CB", "CR"]


def test_the_dispute_of_an_authorization_is_about_its_capture(merchant: Client, processor: LocalStripe) -> None:
    held = authorise(merchant, **EXTERNAL)
    event = dispute(processor, held, amount=6000)
    assert report(merchant, event).status == 409

    captured = capture(merchant, held, "60.00")
    assert result_of(captured) == APPROVED_EXTERNAL
    assert report(merchant, event).status == 200

    assert list_chain(merchant, held) == [("CB", "60.00", "000.100.220")]


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": 10001},
        {"amount": 0},
        {"amount": -10000},
        {"currency": "usd"},
        {"currency": "xxx"},
        {"status": "warning_needs_response"},
        {"payment_intent": "pi_unknown"},
        {"payment_intent": "../refunds"},
        {"payment_intent": None},
    ],
    ids=str,
)
def test_what_does_not_fit_the_payment_is_not_recorded(
    merchant: Client, processor: LocalStripe, changes: dict[str, Any]
) -> None:
    taken = debit(merchant, **EXTERNAL)

    answer = report(merchant, dispute(processor, taken, **changes))

    assert answer.status == 200
    assert list_chain(merchant, taken) == []


def test_a_dispute_that_was_lost_changes_nothing_more(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)
    event = dispute(processor, taken)
    lost = win(event)
    lost["data"]["object"]["status"] = "lost"

    assert [report(merchant, each).status for each in (event, lost)] == [200, 200]

    assert [row[0] for row in list_chain(merchant, taken)] == ["CB"]


def test_an_event_of_the_live_environment_is_ignored_on_a_test_host(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)

    answer = report(merchant, {**dispute(processor, taken), "livemode": True})

    assert (answer.status, list_chain(merchant, taken)) == (200, [])


def test_the_payment_of_another_channel_is_not_disputed(
    gateway: GatewayProcess, client: Client, merchant: Client, processor: LocalStripe
) -> None:
    other = add_stripe_channel(gateway, client, "Another", f"http://127.0.0.1:{processor.port}")
    taken = debit(merchant, **EXTERNAL)

    answer = report(other, dispute(processor, taken))

    assert (answer.status, list_chain(merchant, taken)) == (200, [])


def test_a_failed_refund_is_logged(gateway: GatewayProcess, merchant: Client) -> None:
    refunded = refund(merchant, debit(merchant, **EXTERNAL), "10.00").json["id"]
    failed = {"id": "re_1", "object": "refund", "status": "failed", "metadata": {"tollgate": refunded}}

    assert report(merchant, make_event("refund.failed", failed)).status == 200

    assert "acquirer reports that a refund failed" in gateway.read_log()


# ---- authenticity ----


@pytest.mark.parametrize(
    "terms", [{"secret": "whsec_wrong"}, {"age_s": 600}, {"age_s": -3600}, {"secret": ""}], ids=str
)
def test_a_wrong_or_old_signature_is_refused(merchant: Client, processor: LocalStripe, terms: Any) -> None:
    taken = debit(merchant, **EXTERNAL)

    answer = report(merchant, dispute(processor, taken), **terms)

    assert result_of(answer) == (400, "200.300.404")
    assert list_chain(merchant, taken) == []


def test_one_of_several_signatures_is_enough(merchant: Client) -> None:
    event = make_event("ping", {"id": "x"})

    assert report(merchant, event, secret=WEBHOOK_SECRET, extra=",v1=" + "0" * 64).status == 200
    assert report(merchant, event, secret="another", extra=",v1=" + "0" * 64).status == 400


@pytest.mark.parametrize("header", [None, "", "t=1", "v1=00", "t=x,v1=00", "t=1,t=2,v1=00", "t=," * 5000])
def test_a_header_that_is_no_signature_is_refused(merchant: Client, header: str | None) -> None:
    headers = {} if header is None else {"Stripe-Signature": header}

    answer = merchant.send("POST", f"/v1/acquirers/{merchant.entity_id}/events", b"{}", headers)

    assert answer.status == 400


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"id": "evt_1"}', b'{"data": {"object": 1}}'])
def test_a_signed_body_that_is_no_event_changes_nothing(merchant: Client, body: bytes) -> None:
    assert report(merchant, body).status == 200


def test_an_entity_without_such_an_acquirer_has_no_such_path(client: Client) -> None:
    for entity_id in (client.entity_id, "8a" + "0" * 30, "x"):
        answer = client.send("POST", f"/v1/acquirers/{entity_id}/events", b"{}", {"Stripe-Signature": "t=1,v1=00"})
        assert answer.status == 404
