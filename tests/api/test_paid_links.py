"""A payment link is paid once, whoever opens it, whenever it ends, in however many processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api.linking import DECLINED, PATH, end, visit_new
from api.merchants import add_channel, run_command, wait_until
from api.paying_forms import (
    BUSY,
    GONE,
    SCRIPT,
    begin_at_provider,
    begin_challenge,
    list_made,
    pass_challenge,
    pass_seconds,
    press,
    show,
)
from api.server import SharedServer
from api.windows import Window
from gateway import Client, GatewayProcess
from postgres import PostgresCluster

pytestmark = pytest.mark.both_databases

OPEN, PAID, EXPIRED, ENDED = 1, 2, 3, 4
DAY_S = 86_400


# ---- paying it ----


def test_a_link_is_paid_and_says_so_from_then_on(client: Client) -> None:
    visit = visit_new(client, merchantTransactionId="paid by a link 1")
    checkout_id = visit.find_checkout()
    assert visit.read()["result"]["code"] == "000.200.201"

    assert visit.pay(checkout_id).code == "000.100.110"

    received = visit.read()
    assert (received["status"], received["checkoutId"]) == (PAID, checkout_id)
    assert received["result"]["code"] == "000.100.110"
    for query in ("", f"?id={checkout_id}", "?lang=en"):
        page = visit.open(query=query).body.decode()
        assert "Payment complete" in page
        assert "paymentWidgets" not in page
    assert visit.pay(checkout_id).status == 400
    path = f"{PATH}/{visit.id}/checkouts/{checkout_id}/payment"
    for _ in range(3):
        payment = client.get(path)
        assert (payment.code, payment.json["id"]) == ("000.100.110", received["transactionId"])


def test_the_payment_of_an_unpaid_link_is_pending(client: Client) -> None:
    visit = visit_new(client)
    path = f"{PATH}/{visit.id}/checkouts/{visit.find_checkout()}/payment"

    assert client.get(path).code == "000.200.000"


def test_the_payment_of_another_checkout_is_not_answered_through_a_link(client: Client) -> None:
    visit, other = visit_new(client), visit_new(client)

    assert client.get(f"{PATH}/{visit.id}/checkouts/{other.find_checkout()}/payment").code == GONE[1]


def test_a_declined_payment_leaves_the_link_open(client: Client) -> None:
    visit = visit_new(client)
    checkout_id = visit.find_checkout()

    assert visit.pay(checkout_id, DECLINED).code == "800.100.152"

    received = visit.read()
    assert (received["status"], received["result"]["code"]) == (OPEN, "800.100.152")
    page = visit.open(query=f"?id={checkout_id}").body.decode()
    assert "nothing was charged" in page
    assert checkout_id in page
    assert visit.pay(checkout_id).code == "000.100.110"


def test_nothing_was_charged_is_not_shown_where_the_acquirer_did_not_answer(client: Client) -> None:
    visit = visit_new(client, **{"customParameters[simulatorFault]": "lost"})
    checkout_id = visit.find_checkout()

    assert visit.pay(checkout_id).code == "900.100.300"

    page = visit.open(query=f"?id={checkout_id}").body.decode()
    assert "nothing was charged" not in page
    assert "If anything was taken, you will get it back." in page


def test_nothing_was_charged_is_not_shown_where_a_provider_was_left(client: Client) -> None:
    visit = visit_new(client)
    checkout_id = visit.find_checkout()
    begin_at_provider(client, checkout_id)
    assert visit.leave_attempt().status == 303

    page = visit.open(query=f"?id={checkout_id}").body.decode()

    assert "nothing was charged" not in page
    assert "If anything was taken, you will get it back." in page


def test_no_failure_is_shown_while_the_bank_asks_the_shopper(client: Client) -> None:
    visit = visit_new(client)
    checkout_id = visit.find_checkout()
    assert visit.pay(checkout_id, DECLINED).code == "800.100.152"
    challenge = begin_challenge(client, checkout_id)

    page = visit.open(query=f"?id={checkout_id}").body.decode()

    assert checkout_id in page
    assert 'role="alert">The payment' not in page
    pass_challenge(client, challenge)
    assert visit.read()["status"] == PAID


def test_two_shoppers_get_the_same_checkout(client: Client) -> None:
    visit = visit_new(client)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: visit.find_checkout(), range(16)))

    assert len(found) == 1


def test_a_link_that_waits_for_a_provider_says_so_whatever_the_address(client: Client) -> None:
    visit = visit_new(client)
    checkout_id = visit.find_checkout()
    begin_at_provider(client, checkout_id)

    for query in ("", f"?id={checkout_id}", "?lang=en"):
        page = visit.open(query=query).body.decode()
        assert "We are checking your payment" in page
        assert "paymentWidgets" not in page


def test_a_shopper_who_leaves_a_provider_pays_another_way_and_once(client: Client) -> None:
    visit = visit_new(client, merchantTransactionId="another way")
    provider = begin_at_provider(client, visit.find_checkout())

    answer = visit.leave_attempt()

    assert (answer.status, answer.headers["location"]) == (303, f"{client.base_url}/paymentlink/{visit.id}")
    assert visit.pay(visit.find_checkout()).code == "000.100.110"
    client.send("POST", urlsplit(provider).path, "decision=approve", SCRIPT)
    assert count_approved(client, "another way") == 1


def test_a_challenge_that_nobody_answers_does_not_hide_the_form(client: Client) -> None:
    visit = visit_new(client)
    checkout_id = visit.find_checkout()
    begin_challenge(client, checkout_id)

    assert visit.find_checkout() == checkout_id
    assert visit.pay(checkout_id).code == "000.100.110"


def test_leaving_an_attempt_of_no_link_says_that_there_is_none(client: Client) -> None:
    answer = client.send("POST", f"/paymentlink/{'0' * 32}-8a11aa22bb33", "attempt=x", SCRIPT)

    assert answer.status == 404


def test_a_paid_link_of_a_closed_channel_stays_paid(client: Client, gateway: GatewayProcess) -> None:
    closing = add_channel(gateway, client, "closing links")
    paid, unpaid = visit_new(closing), visit_new(closing)
    assert paid.pay(paid.find_checkout()).code == "000.100.110"
    run_command(gateway, "channel", "set", closing.entity_id, "--closed")
    wait_until(lambda: unpaid.open().status == 410)

    assert "Payment complete" in paid.open().body.decode()


def test_asking_for_the_head_makes_no_checkout(client: Client) -> None:
    visit = visit_new(client)

    assert client.send("HEAD", f"/paymentlink/{visit.id}").status == 200
    assert "checkoutId" not in visit.read()


def test_the_checkout_of_a_link_cannot_be_changed_apart_from_the_link(client: Client) -> None:
    visit = visit_new(client)

    answer = client.post(f"/v1/checkouts/{visit.find_checkout()}", {"amount": "40.00"})

    assert (answer.status, answer.code) == GONE
    assert "end the link and make another" in answer.body.decode()
    assert "38.50 EUR" in visit.open().body.decode()


# ---- ending it ----


def test_an_ended_link_cannot_be_paid_by_whoever_has_it_open(client: Client) -> None:
    visit = visit_new(client)
    checkout_id = visit.find_checkout()

    assert (end(visit).status, end(visit).status) == (200, 200)

    assert visit.read()["status"] == ENDED
    assert (visit.pay(checkout_id).status, visit.pay(checkout_id).code) == GONE
    page = visit.open()
    assert (page.status, "no longer valid" in page.body.decode()) == (410, True)


def test_a_link_that_is_ended_during_a_challenge_takes_nothing(client: Client) -> None:
    visit = visit_new(client)
    challenge = begin_challenge(client, visit.find_checkout())
    assert end(visit).status == 200

    pass_challenge(client, challenge)

    received = visit.read()
    assert received["status"] == ENDED
    assert not received["result"]["code"].startswith("000.100")


def test_what_a_provider_approves_for_an_ended_link_is_given_back(client: Client) -> None:
    visit = visit_new(client, merchantTransactionId="ended at a provider")
    provider = begin_at_provider(client, visit.find_checkout())
    # It is ended before it is approved: the worker that asks the provider would otherwise sometimes be faster.
    assert end(visit).status == 200

    Window(client).visit(press(client, provider, "approve"))

    assert visit.read()["status"] == ENDED
    assert count_approved(client, "ended at a provider") == 0


def count_approved(client: Client, reference: str) -> int:
    debits = [each for each in list_made(client, reference) if each["paymentType"] == "DB"]
    return sum(each["result"]["code"] == "000.100.110" for each in debits)


def test_a_paid_link_cannot_be_ended(client: Client) -> None:
    visit = visit_new(client)
    visit.pay(visit.find_checkout())

    answer = end(visit)

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert "is paid and cannot be ended" in answer.json["result"]["description"]
    assert "repeat" not in answer.json["result"]["description"]
    assert visit.read()["status"] == PAID


def test_a_link_that_is_being_paid_asks_to_be_ended_a_moment_later(server: SharedServer) -> None:
    visit = visit_new(server.external, testMode="EXTERNAL")
    checkout_id = visit.find_checkout()
    with ThreadPoolExecutor(1) as shopper, server.acquirer.hold():
        paid = shopper.submit(visit.pay, checkout_id)
        wait_until(lambda: show(server.external, checkout_id).json["state"] == "busy")

        answer = end(visit)

        assert (answer.status, answer.code) == BUSY
        assert "repeat in a moment" in answer.json["result"]["description"]
    assert paid.result().code == "000.100.112"


# ---- time ----


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def timed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cluster: PostgresCluster
) -> Iterator[GatewayProcess]:
    """A server whose clock these tests may move."""
    url = cluster.create_database() if request.param == "postgresql" else ""
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), url) as gateway:
        yield gateway


def test_an_expired_checkout_is_followed_by_another_and_an_expired_link_by_none(timed: GatewayProcess) -> None:
    client = timed.client()
    visit, brief, paid = visit_new(client), visit_new(client, validUntil="1", validUntilUnit="HOUR"), visit_new(client)
    first, last = visit.find_checkout(), brief.find_checkout()
    assert paid.pay(paid.find_checkout()).code == "000.100.110"
    pass_seconds(client, 31 * 60)

    second = visit.find_checkout()
    assert second != first
    assert (visit.pay(first).status, visit.pay(first).code) == GONE
    nearly = brief.find_checkout()
    assert nearly != last
    pass_seconds(client, 29 * 60)

    # Its checkout would live for another minute if it were not a link's.
    assert (brief.pay(nearly).status, brief.pay(nearly).code) == GONE
    assert brief.read()["status"] == EXPIRED
    page = brief.open()
    assert (page.status, "has expired" in page.body.decode()) == (410, True)
    pass_seconds(client, 91 * DAY_S)
    assert visit.read()["status"] == EXPIRED
    assert paid.read()["status"] == PAID
    assert "Payment complete" in paid.open().body.decode()


def test_what_a_provider_approves_after_the_checkouts_end_is_paid(timed: GatewayProcess) -> None:
    client = timed.client()
    visit = visit_new(client, merchantTransactionId="approved late")
    checkout_id = visit.find_checkout()
    pass_seconds(client, 20 * 60)
    provider = begin_at_provider(client, checkout_id)
    pass_seconds(client, 11 * 60)
    assert "We are checking your payment" in visit.open().body.decode()

    Window(client).visit(press(client, provider, "approve"))

    received = visit.read()
    assert (received["status"], received["checkoutId"]) == (PAID, checkout_id)
    assert "Payment complete" in visit.open().body.decode()
    assert count_approved(client, "approved late") == 1


def test_ten_attempts_are_all_until_the_checkouts_end(timed: GatewayProcess) -> None:
    client = timed.client()
    visit = visit_new(client, **{"merchant.name": "Gatehouse Goods"})
    first = visit.find_checkout()
    for _ in range(10):
        assert visit.pay(first, DECLINED).code == "800.100.152"

    page = visit.open()
    assert (page.status, "paymentWidgets" in page.body.decode()) == (429, False)
    assert "or contact Gatehouse Goods" in page.body.decode()
    assert visit.pay(first).status == 429
    assert visit.read()["checkoutId"] == first
    pass_seconds(client, 31 * 60)

    second = visit.find_checkout()
    assert second != first
    received = visit.read()
    assert (received["result"]["code"], "transactionId" in received) == ("000.200.201", False)
    assert visit.pay(second).code == "000.100.110"


def test_no_other_try_is_offered_after_the_links_own_end(timed: GatewayProcess) -> None:
    client = timed.client()
    visit = visit_new(client, validUntil="1", validUntilUnit="HOUR", **{"merchant.name": "Gatehouse Goods"})
    pass_seconds(client, 31 * 60)
    checkout_id = visit.find_checkout()
    pages = [visit.open().body.decode()]
    for _ in range(10):
        assert visit.pay(checkout_id, DECLINED).code == "800.100.152"
    pages.append(visit.open().body.decode())

    assert ["paymentWidgets" in page for page in pages] == [True, False]
    for page in pages:
        assert "Please ask Gatehouse Goods for a new link." in page
        assert "try again after" not in page
    assert "<time" not in pages[1]


def test_the_store_is_in_order_after_all_that(timed: GatewayProcess) -> None:
    run_command(timed, "verify")


# ---- several processes ----


def test_of_many_shoppers_in_two_processes_one_pays(cluster: PostgresCluster, tmp_path: Path) -> None:
    with (
        GatewayProcess(tmp_path, cluster.create_database(), arguments=["--workers", "2"], is_cold=True) as gateway,
        ThreadPoolExecutor(8) as pool,
    ):
        client = gateway.client()
        for turn in range(3):
            reference = f"many shoppers {turn}"
            visit = visit_new(client, merchantTransactionId=reference)
            checkouts = set(pool.map(lambda _, each=visit: each.find_checkout(), range(8)))
            (checkout_id,) = checkouts
            answers = list(pool.map(lambda _, each=visit, name=checkout_id: each.pay(name), range(8)))

            assert sum(answer.code == "000.100.110" for answer in answers) == 1
            approved = [each for each in list_made(client, reference) if each["result"]["code"] == "000.100.110"]
            assert len(approved) == 1
            assert visit.read()["transactionId"] == approved[0]["id"]


# ---- what is written down ----


def test_no_log_shows_the_id_of_a_link(server: SharedServer, client: Client) -> None:
    visit = visit_new(client)
    visit.find_checkout()
    visit.read()

    lines = [json.loads(line) for line in server.gateway.log_path.read_text().splitlines() if line.startswith("{")]
    assert [line for line in lines if visit.id in json.dumps(line)] == []
    assert any(line.get("path") == "/paymentlink/{id}" for line in lines)
