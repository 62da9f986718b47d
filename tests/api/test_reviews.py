"""Payments under review: the money is kept until somebody accepts or rejects them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from api.merchants import wait_until
from api.reviewing import REJECTED, REVIEW, SUCCESS, decide, follow, list_chain
from api.reviewing import pay_reviewed as pay
from gateway import Client, GatewayProcess

pytestmark = pytest.mark.both_databases


def test_an_accepted_payment_is_a_success_from_then_on(client: Client) -> None:
    payment_id = pay(client)

    answer = decide(client, payment_id, "ACCEPT")

    assert (answer.status, answer.code, answer.json["id"]) == (200, SUCCESS, payment_id)
    assert client.get(f"/v1/payments/{payment_id}").code == SUCCESS
    assert list_chain(client, payment_id) == []


def test_a_capture_waits_for_the_decision(client: Client) -> None:
    payment_id = pay(client, "PA")
    refused = follow(client, payment_id, "CP", "92.00")

    decide(client, payment_id, "ACCEPT")

    assert refused.code == "700.400.570"
    assert follow(client, payment_id, "CP", "92.00").code == SUCCESS


@pytest.mark.parametrize("payment_type", ["DB", "PA"])
def test_a_rejected_payment_is_reversed_once(client: Client, payment_type: str) -> None:
    payment_id = pay(client, payment_type)

    first, second = decide(client, payment_id, "REJECT"), decide(client, payment_id, "REJECT")

    assert (first.status, first.code) == (200, REJECTED)
    assert second.json["result"] == first.json["result"]
    wait_until(lambda: list_chain(client, payment_id) == [("RV", SUCCESS)])
    assert follow(client, payment_id, "CP" if payment_type == "PA" else "RF", "1.00").code.startswith("700.400.")


def test_the_other_decision_is_refused_afterwards(client: Client) -> None:
    payment_id = pay(client)
    decide(client, payment_id, "ACCEPT")

    answer = decide(client, payment_id, "REJECT")

    assert (answer.status, answer.code) == (409, "700.300.300")
    assert client.get(f"/v1/payments/{payment_id}").code == SUCCESS


def test_of_different_decisions_at_once_one_counts(client: Client) -> None:
    payment_id = pay(client)
    wanted = ["ACCEPT", "REJECT"] * 4

    with ThreadPoolExecutor(len(wanted)) as pool:
        answers = list(pool.map(lambda decision: decide(client, payment_id, decision), wanted))

    code = client.get(f"/v1/payments/{payment_id}").code
    winner = {SUCCESS: "ACCEPT", REJECTED: "REJECT"}[code]
    for decision, answer in zip(wanted, answers, strict=True):
        assert answer.code == (code if decision == winner else "700.300.300")
    if winner == "REJECT":
        wait_until(lambda: list_chain(client, payment_id) == [("RV", SUCCESS)])


@pytest.mark.parametrize(("payment_type", "undone_by"), [("DB", "RF"), ("DB", "RV"), ("PA", "RV")])
def test_a_merchant_who_gives_the_money_back_closes_the_review(
    client: Client, payment_type: str, undone_by: str
) -> None:
    payment_id = pay(client, payment_type)
    undone = follow(client, payment_id, undone_by, "92.00" if undone_by == "RF" else None)

    answer = decide(client, payment_id, "ACCEPT")

    assert undone.code == SUCCESS
    assert (answer.status, answer.code) == (409, "700.300.300")
    assert answer.json["result"]["description"].endswith("CLOSED")


def test_a_declined_refund_leaves_the_review_open(client: Client) -> None:
    payment_id = pay(client)
    declined = client.post(
        f"/v1/payments/{payment_id}",
        {
            "paymentType": "RF",
            "amount": "92.00",
            "currency": "EUR",
            "customParameters[forceResultCode]": "800.100.152",
        },
    )

    assert declined.code == "800.100.152"
    assert decide(client, payment_id, "ACCEPT").code == SUCCESS


def test_what_is_not_under_review_cannot_be_decided(client: Client) -> None:
    paid = client.pay().json["id"]
    own_risk = client.pay(**{"customParameters[forceResultCode]": "000.400.060"}).json["id"]
    waiting = client.pay(**{"customParameters[forceResultCode]": "000.200.000"}).json["id"]

    assert decide(client, paid, "ACCEPT").code == "700.100.700"
    assert decide(client, own_risk, "REJECT").code == "700.100.700"
    assert decide(client, waiting, "REJECT").code == "700.400.570"
    assert decide(client, "8ac7a49f7921f6c301792b4b35c7ffff", "ACCEPT").code == "700.400.580"


@pytest.mark.parametrize("decision", [None, "", "accept", "ACCEPT\0", "MAYBE"])
def test_another_word_than_the_two_decisions_is_a_fault(client: Client, decision: str | None) -> None:
    payment_id = pay(client)

    answer = decide(client, payment_id, decision)

    assert answer.status == 400
    assert client.get(f"/v1/payments/{payment_id}").code == REVIEW


def test_a_payment_of_another_channel_is_not_decided(client: Client, lenient: Client) -> None:
    payment_id = pay(client)

    assert decide(lenient, payment_id, "ACCEPT").code == "700.400.700"


def test_the_audit_finds_no_fault_with_decided_reviews(client: Client, gateway: GatewayProcess) -> None:
    accepted, rejected, closed, _left_open = (pay(client) for _ in range(4))
    decide(client, accepted, "ACCEPT")
    decide(client, rejected, "REJECT")
    follow(client, closed, "RF", "1.00")
    wait_until(lambda: list_chain(client, rejected) == [("RV", SUCCESS)])

    assert "all is well" in gateway.run("verify", "--quiet").stdout


def test_a_reversal_that_the_acquirer_declines_is_followed_by_a_refund(client: Client) -> None:
    payment_id = pay(client)
    declined = client.post(
        f"/v1/payments/{payment_id}", {"paymentType": "RV", "customParameters[forceResultCode]": "800.100.152"}
    )

    decide(client, payment_id, "REJECT")

    assert declined.code == "800.100.152"
    wait_until(lambda: sorted(list_chain(client, payment_id)) == [("RF", SUCCESS), ("RV", "800.100.152")])
