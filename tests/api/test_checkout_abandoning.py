"""A shopper closes the bank's question or the provider's window: nothing is charged, and the checkout stays payable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from api.chains import result_of
from api.challenges import BILLING, BROWSER, CHALLENGED
from api.checking_out import ask
from api.merchants import run_command, wait_until
from api.paying_forms import (
    BUSY,
    GONE,
    PAYPAL,
    SCRIPT,
    come_back,
    find_next,
    list_made,
    open_checkout,
    pass_challenge,
    post,
    press,
    show,
)
from api.server import SharedServer
from api.windows import Window
from gateway import CARD, Answer, Client, GatewayProcess
from postgres import PostgresCluster

PENDING = (200, "000.200.000")
PAID = (200, "000.100.110")
ABANDONED = "100.396.101"
ENROLLED = {**CARD, "card.number": CHALLENGED, **BROWSER, **BILLING}


@pytest.fixture(scope="module")
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


def abandon(client: Client, checkout_id: str, attempt: str) -> Answer:
    return client.send("POST", f"/v1/checkouts/{checkout_id}/abandoned", urlencode({"attempt": attempt}), SCRIPT)


def list_codes(client: Client, reference: str) -> list[str]:
    return sorted(each["result"]["code"] for each in list_made(client, reference))


def test_an_abandoned_challenge_takes_no_money_however_it_ends(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="abandoned-challenge")
    answer = post(client, checkout_id, ENROLLED)
    page = Window(client).walk(find_next(answer, "challenge"))

    given_up = abandon(client, checkout_id, answer.json["attempt"])

    assert result_of(given_up) == PENDING
    assert (given_up.json["state"], given_up.json["attemptsLeft"]) == ("open", 9)
    pass_challenge(client, page)
    assert list_codes(client, "abandoned-challenge") == [ABANDONED]
    assert result_of(post(client, checkout_id)) == PAID
    assert result_of(ask(client, checkout_id)) == PAID


def test_what_a_provider_approves_afterwards_is_given_back(client: Client) -> None:
    """The session is cancelled at the provider; one that is approved before that is reversed."""
    checkout_id = open_checkout(client, merchantTransactionId="abandoned-at-provider")
    answer = post(client, checkout_id, PAYPAL)

    assert result_of(abandon(client, checkout_id, answer.json["attempt"])) == PENDING

    wait_until(lambda: len(list_made(client, "abandoned-at-provider")) == 2)
    first, reversal = list_made(client, "abandoned-at-provider")
    assert (first["result"]["code"], reversal["paymentType"]) == (ABANDONED, "RV")
    page = Window(client).visit(find_next(answer, "provider"))
    assert "Called off" in page.text
    assert result_of(post(client, checkout_id)) == PAID


def test_who_had_approved_at_the_provider_before_closing_its_window_has_paid(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="approved-and-closed")
    answer = post(client, checkout_id, PAYPAL)
    press(client, find_next(answer, "provider"), "approve")

    given_up = abandon(client, checkout_id, answer.json["attempt"])

    assert given_up.json["state"] == "paid"
    assert given_up.json["returnUrl"].startswith("https://shop.example/result?order=7&id=")
    assert list_codes(client, "approved-and-closed") == ["000.100.110"]


def test_a_payment_that_is_made_is_not_given_up(client: Client) -> None:
    checkout_id = open_checkout(client)
    answer = post(client, checkout_id, ENROLLED)
    pass_challenge(client, Window(client).walk(find_next(answer, "challenge")))

    assert abandon(client, checkout_id, answer.json["attempt"]).json["state"] == "paid"
    assert result_of(ask(client, checkout_id)) == PAID


@pytest.mark.parametrize("attempt", ["", "8a" + "0" * 30, "\x00", "x" * 5000, "8A\ud7ff"])
def test_an_unknown_attempt_changes_nothing(client: Client, attempt: str) -> None:
    checkout_id = open_checkout(client)
    waiting = post(client, checkout_id, PAYPAL).json["attempt"]

    answer = abandon(client, checkout_id, attempt)

    assert result_of(answer) in (PENDING, GONE), "a control character is refused with the whole body"
    assert abandon(client, open_checkout(client), waiting).json["state"] == "open", "of another checkout"
    assert result_of(client.get(f"/v1/payments/{waiting}")) == PENDING


def test_an_attempt_is_given_up_although_its_checkout_was_cancelled(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="abandoned-late")
    answer = post(client, checkout_id, PAYPAL)
    query = urlencode({"entityId": client.entity_id})
    assert client.send("DELETE", f"/v1/checkouts/{checkout_id}?{query}", None, client.authorized()).status == 200

    assert result_of(abandon(client, checkout_id, answer.json["attempt"])) == GONE
    assert result_of(abandon(client, "no-such-checkout", answer.json["attempt"])) == GONE
    wait_until(lambda: len(list_made(client, "abandoned-late")) == 2)
    assert ABANDONED in list_codes(client, "abandoned-late")


def test_the_form_learns_how_often_it_may_still_try(client: Client) -> None:
    checkout_id = open_checkout(client, **{"customParameters[forceResultCode]": "800.100.152"})
    assert show(client, checkout_id).json["attemptsLeft"] == 10
    for _ in range(10):
        assert post(client, checkout_id).status == 400

    assert show(client, checkout_id).json["attemptsLeft"] == 0


def test_of_a_return_and_an_abandonment_at_once_one_counts(cluster: PostgresCluster, tmp_path: Path) -> None:
    """Two processes race: the attempt pays the checkout or is abandoned, and never both."""
    with (
        GatewayProcess(tmp_path, cluster.create_database(), arguments=["--workers", "2"], is_cold=True) as gateway,
        ThreadPoolExecutor() as pool,
    ):
        client = gateway.client()
        for number in range(6):
            reference = f"abandoned-at-once-{number}"
            checkout_id = open_checkout(client, merchantTransactionId=reference)
            answer = post(client, checkout_id, ENROLLED if number % 2 else PAYPAL)
            attempt = answer.json["attempt"]
            if number % 2:
                page = Window(client).walk(find_next(answer, "challenge"))
                returning = pool.submit(pass_challenge, client, page)
            else:
                back_url = press(client, find_next(answer, "provider"), "approve")
                returning = pool.submit(come_back, client, back_url)
            given_up = [pool.submit(abandon, client, checkout_id, attempt) for _ in range(3)]
            returning.result()
            answers = [each.result() for each in given_up]

            made = [each for each in list_made(client, reference) if each["paymentType"] == "DB"]
            [code] = [each["result"]["code"] for each in made]
            states = {each.json["state"] for each in answers if result_of(each) == PENDING}
            assert {result_of(each) for each in answers} <= {PENDING, BUSY}
            assert code in ("000.100.110", ABANDONED)
            assert states <= ({"open"} if code == ABANDONED else {"paid"})
        run_command(gateway, "verify")
