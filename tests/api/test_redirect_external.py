"""A provider's own test system: sessions go over HTTP, and whatever becomes of them is asked there."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from acquirer import AcquirerProcess, Fate, Manner
from api.chains import (
    APPROVED_EXTERNAL,
    PENDING,
    advance,
    list_payments,
    read,
    refund,
    result_of,
    wait_until_final,
)
from api.merchants import add_channel, wait_until
from api.shoppers import SHOP_URL, come_back, open_order, order, read_query
from gateway import Answer, Client, GatewayProcess
from tollgate.connectors import redirect

EXTERNAL = {"testMode": "EXTERNAL"}


@pytest.fixture(scope="module")
def provider() -> Iterator[AcquirerProcess]:
    with AcquirerProcess() as provider:
        yield provider


@pytest.fixture(scope="module")
def shop(gateway: GatewayProcess, client: Client, provider: AcquirerProcess) -> Client:
    return add_channel(gateway, client, "Provider", "--test-url", provider.url)


def open_session(shop: Client, **changes: str) -> Answer:
    return open_order(shop, "PAYPAL", **EXTERNAL, **changes)


def find_way_back(provider: AcquirerProcess, answer: Answer) -> str:
    """Returns the address to which the provider is to send the shopper."""
    message = provider.read_sessions()[answer.json["id"]].message
    assert message is not None
    return message.back_url[message.back_url.index("/v1/shopper/") :]


def test_a_session_is_opened_with_what_the_merchant_said(shop: Client, provider: AcquirerProcess) -> None:
    answer = open_session(shop, **{"virtualAccount.accountId": "jane@example.com", "merchant.name": "Jones"})

    assert answer.json["redirect"] == {
        "url": "https://provider.example/pay?lang=en",
        "method": "POST",
        "parameters": [{"name": "session", "value": answer.json["id"]}],
    }
    message = provider.read_sessions()[answer.json["id"]].message
    assert message is not None
    assert (message.type, message.amount, message.currency, message.brand) == ("sale", 9200, "EUR", "PAYPAL")
    assert message.account.account_id == "jane@example.com"
    assert message.back_url.startswith(f"{shop.base_url}/v1/shopper/")


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("approved", APPROVED_EXTERNAL),
        ("declined", (400, "800.100.203")),
        ("cancelled", (400, "100.396.101")),
        ("expired", (400, "100.396.103")),
    ],
)
def test_the_provider_is_asked_when_the_shopper_comes_back(
    shop: Client, provider: AcquirerProcess, status: str, ending: tuple[int, str]
) -> None:
    answer = open_session(shop)
    way_back = find_way_back(provider, answer)
    come_back(shop, way_back)
    assert result_of(read(shop, answer)) == PENDING

    provider.decide(answer.json["id"], status)
    url = come_back(shop, way_back)

    assert url.startswith(SHOP_URL)
    assert read_query(url)["id"] == answer.json["id"]
    assert result_of(read(shop, answer)) == ending


def test_what_was_approved_is_given_back_through_the_same_system(shop: Client, provider: AcquirerProcess) -> None:
    answer = open_session(shop)
    provider.decide(answer.json["id"], "approved")
    come_back(shop, find_way_back(provider, answer))

    assert result_of(refund(shop, answer.json["id"], "92.00", **EXTERNAL)) == APPROVED_EXTERNAL

    account = provider.read_account(answer.json["id"])
    assert (account.captured, account.refunded) == (9200, 9200)


@pytest.mark.both_databases
@pytest.mark.parametrize("manner", [Manner.ACT_AND_DROP, Manner.GARBAGE, Manner.HALF, Manner.ERROR])
def test_a_session_whose_opening_was_not_answered_is_called_off(
    shop: Client, provider: AcquirerProcess, manner: Manner
) -> None:
    provider.behave(redirect.SESSIONS, manner, times=1)

    answer = order(shop, "PAYPAL", **EXTERNAL)

    assert result_of(answer) == (400, "900.100.300")
    wait_until(lambda: provider.read_sessions()[answer.json["id"]].status == "cancelled")
    assert answer.json["id"] not in provider.read_ledger()


def test_a_session_that_was_never_opened_cannot_be_opened_later(shop: Client, provider: AcquirerProcess) -> None:
    provider.behave(redirect.SESSIONS, Manner.DROP, times=1)

    answer = order(shop, "PAYPAL", **EXTERNAL)

    assert result_of(answer) == (400, "900.100.300")
    wait_until(lambda: answer.json["id"] in provider.read_sessions())
    assert provider.read_sessions()[answer.json["id"]].status == "unknown"


@pytest.mark.both_databases
def test_an_approval_that_the_gateway_never_received_is_reversed(shop: Client, provider: AcquirerProcess) -> None:
    reference = "approved-unheard"
    provider.behave(redirect.SESSION_CANCELLATIONS, Manner.DROP)
    provider.behave(redirect.SESSIONS, Manner.ACT_AND_DROP, times=1)
    answer = order(shop, "PAYPAL", merchantTransactionId=reference, **EXTERNAL)
    assert result_of(answer) == (400, "900.100.300")

    provider.decide(answer.json["id"], "approved")
    provider.behave(redirect.SESSION_CANCELLATIONS, Manner.ANSWER)
    advance(shop, 60)

    wait_until(lambda: provider.read_ledger()[answer.json["id"]].fate is Fate.REVERSED)
    wait_until(lambda: {row["paymentType"] for row in list_payments(shop, reference)} == {"DB", "RV"})


def test_a_provider_that_cannot_be_asked_leaves_the_payment_open(shop: Client, provider: AcquirerProcess) -> None:
    answer = open_session(shop)
    way_back = find_way_back(provider, answer)
    provider.decide(answer.json["id"], "approved")
    provider.behave(redirect.SESSION_INQUIRIES, Manner.ERROR)
    try:
        assert come_back(shop, way_back).startswith(SHOP_URL)
        assert result_of(read(shop, answer)) == PENDING
    finally:
        provider.behave(redirect.SESSION_INQUIRIES, Manner.ANSWER)

    advance(shop, 60)

    assert result_of(wait_until_final(shop, answer)) == APPROVED_EXTERNAL


def test_what_the_browser_says_counts_for_nothing(shop: Client, provider: AcquirerProcess) -> None:
    answer = open_session(shop)
    way_back = find_way_back(provider, answer)

    for fields in ("status=approved", "decision=approve", "cres=" + base64.b64encode(b'{"transStatus":"Y"}').decode()):
        shop.send("GET", f"{way_back}?{fields}")
        shop.send("POST", way_back, fields, {"Content-Type": "application/x-www-form-urlencoded"})

    assert result_of(read(shop, answer)) == PENDING
