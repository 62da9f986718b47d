"""Outcomes of risk rules: step up to 3-D Secure, review, and refusal after the acquirer's approval."""

from collections.abc import Callable

import pytest

from api.challenges import BILLING, BROWSER, CHALLENGED, FRICTIONLESS, order, pass_challenge
from api.merchants import add_channel, find_merchant_id, run_command, wait_until
from api.reviewing import list_chain
from gateway import Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

SUCCESS = "000.100.110"
NOBODY: dict[str, str | None] = dict.fromkeys((*BILLING, *BROWSER))
CARD_FIELDS = ("card.number", "card.holder", "card.expiryMonth", "card.expiryYear", "card.cvv")
Ruled = Callable[..., Client]


@pytest.fixture
def ruled(gateway: GatewayProcess, client: Client) -> Ruled:
    """Makes a channel with one active rule, which the running server knows."""

    def make(kind: str, outcome: str, **terms: str) -> Client:
        channel = add_channel(gateway, client, f"{kind} {outcome}")
        flags = [text for name, value in terms.items() for text in (f"--{name}", value)]
        merchant_id = find_merchant_id(gateway, client)
        command = ("risk", "add", merchant_id, "--kind", kind, "--outcome", outcome, "--mode", "active")
        run_command(gateway, *command, "--channel", channel.entity_id, "--points", "30", *flags)
        wait_until(lambda: check(channel, **terms).json["risk"]["score"] == "30")
        return channel

    return make


def check(client: Client, answers: str = "", **_terms: str) -> Answer:
    """A payment that hits the rule by its letters, or by its amount."""
    return client.pay(**{"customParameters[simulatorAvs]": answers or "F", "customParameters[simulatorCvv]": "M"})


def test_an_address_that_does_not_match_is_reviewed(ruled: Ruled) -> None:
    channel = ruled("avs", "review", answers="N")

    hit, other = check(channel, "N"), check(channel, "F")

    assert (hit.code, hit.json["result"]["avsResponse"], hit.json["risk"]["score"]) == ("000.400.010", "N", "30")
    assert (other.code, other.json["risk"]["score"]) == (SUCCESS, "0")
    accepted = channel.post(f"/v1/payments/{hit.json['id']}/review", {"decision": "ACCEPT"})
    assert (accepted.code, accepted.json["risk"]["score"]) == (SUCCESS, "30")


def test_an_approval_is_refused_and_reversed_by_its_checks(ruled: Ruled) -> None:
    channel = ruled("avs", "refuse", answers="N")

    answer = check(channel, "N")

    assert answer.code == "800.400.100"
    wait_until(lambda: list_chain(channel, answer.json["id"]) == [("RV", SUCCESS)])
    assert channel.post(f"/v1/payments/{answer.json['id']}", {"paymentType": "RV"}).code == "700.400.530"


def test_a_review_before_sending_keeps_the_money_of_an_authorization(ruled: Ruled) -> None:
    channel = ruled("amount", "review", amount="50.00", currency="EUR")

    held = channel.pay(paymentType="PA")
    refused = channel.post(
        f"/v1/payments/{held.json['id']}", {"paymentType": "CP", "amount": "1.00", "currency": "EUR"}
    )

    assert (held.code, refused.code) == ("000.400.000", "700.400.570")


def test_a_step_up_authenticates_although_the_merchant_switched_it_off(ruled: Ruled) -> None:
    channel = ruled("amount", "step_up", amount="50.00", currency="EUR")

    challenged = order(channel, CHALLENGED, **NOBODY, **{"threeDSecure.disable": "true"})
    pass_challenge(channel, challenged)
    below = order(channel, CHALLENGED, **{"threeDSecure.disable": "true", "amount": "49.00"})
    silent = order(channel, FRICTIONLESS, **{"threeDSecure.disable": "true"})

    paid = channel.get(f"/v1/payments/{challenged.json['id']}")
    assert challenged.code == "000.200.000"
    assert (paid.code, paid.json["threeDSecure"]["authenticationStatus"]) == (SUCCESS, "Y")
    assert (below.code, "threeDSecure" in below.json and "eci" in below.json["threeDSecure"]) == (SUCCESS, False)
    assert (silent.code, silent.json["threeDSecure"]["flow"]) == (SUCCESS, "frictionless")


@pytest.mark.parametrize(
    "changes",
    [
        {"card.number": "4200000000000000"},
        {"shopperResultUrl": None},
        {"paymentBrand": "PAYPAL", **dict.fromkeys(CARD_FIELDS)},
    ],
    ids=["not enrolled", "no way back", "no card"],
)
def test_where_nobody_can_be_authenticated_nothing_is_sent(ruled: Ruled, changes: dict[str, str | None]) -> None:
    channel = ruled("amount", "step_up", amount="50.00", currency="EUR")

    answer = order(channel, CHALLENGED, **changes)

    assert answer.code == "100.400.307"
    assert "resultDetails" not in answer.json


def test_a_proof_of_the_merchants_own_is_enough_for_a_step_up(ruled: Ruled) -> None:
    channel = ruled("amount", "step_up", amount="50.00", currency="EUR")

    answer = channel.pay(
        **{
            "threeDSecure.eci": "05",
            "threeDSecure.verificationId": "AAABBBCCCDDDEEEFFFGGGHHHIII=",
            "threeDSecure.dsTransactionId": "c75f23af-9454-43f6-ba17-130ed529507e",
            "threeDSecure.version": "2.2.0",
        }
    )

    assert answer.code == SUCCESS
