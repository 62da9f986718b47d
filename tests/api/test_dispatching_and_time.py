"""Dispatching beside the rest of a host: its clock, logins, throttles, webhooks and the audit of its store."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from api.merchants import run_command, wait_until
from gateway import PAYMENT, Answer, Client, GatewayProcess

ROWS = "create_payment=3/3600"
DAY_S = 24 * 3600


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("dispatched")) as gateway:
        yield gateway


def name_merchant(gateway: GatewayProcess) -> Client:
    client = gateway.client()
    return replace(client, entity_id=client.merchant_id)


def read_hour(gateway: GatewayProcess) -> int:
    """The hour of the test clock, which starts with the hour of the machine."""
    return int(run_command(gateway, "clock").partition(":")[0][-2:])


def take_row(gateway: GatewayProcess) -> str:
    return run_command(gateway, "dispatch", "list").split()[1]


def make_login(client: Client) -> str:
    user_id, password = b64decode(client.token).decode().split("|")
    login = {"authentication.userId": user_id, "authentication.password": password, "entityId": client.entity_id}
    return urlencode(login)


def log_in(client: Client) -> Answer:
    return client.send("POST", "/v1/payments", f"{urlencode(PAYMENT)}&{make_login(client)}")


def test_a_retry_in_the_next_hour_gets_the_answer_of_its_payment(own: GatewayProcess) -> None:
    merchant, key = name_merchant(own), {"Idempotency-Key": "before-the-hour"}
    client = own.client()
    # Four hours from now on, whenever the test runs.
    now = read_hour(own)
    hours = f"{now:02d}-{(now + 4) % 24:02d}"
    run_command(own, "dispatch", "add", client.lenient_entity_id, "--hours", hours)
    run_command(own, "dispatch", "remove", take_row(own))
    wait_until(lambda: merchant.pay(paymentBrand="visa").status == 200)
    paid = merchant.pay(key)
    assert paid.json["ndc"].startswith(client.lenient_entity_id)

    assert client.post("/sandbox/clock", {"advance": str(6 * 3600)}).status == 200
    refused = merchant.pay()
    assert refused.code == "600.200.201"
    assert f"asks for another time: hours {hours}" in refused.json["result"]["description"]
    again = merchant.pay(key)
    assert (again.json["id"], again.headers["idempotency-replayed"]) == (paid.json["id"], "true")
    assert client.post("/sandbox/clock", {"advance": str(DAY_S)}).status == 200
    assert "all is well" in own.run("verify", "--quiet").stdout


def test_a_login_in_the_parameters_works_where_the_row_leads_to_a_lenient_channel(own: GatewayProcess) -> None:
    merchant, client = name_merchant(own), own.client()
    assert log_in(merchant).status == 401
    run_command(own, "dispatch", "add", client.lenient_entity_id)
    run_command(own, "dispatch", "remove", take_row(own))
    wait_until(lambda: log_in(merchant).status == 200)
    user_id = b64decode(merchant.token).decode().partition("|")[0]
    wrong = replace(merchant, token="OGEwMXxndWVzcw==")
    assert (log_in(wrong).status, user_id.encode() in log_in(wrong).body) == (403, False)


def test_a_login_in_the_parameters_finds_payments_of_lenient_channels_only(own: GatewayProcess) -> None:
    merchant, client = name_merchant(own), own.client()
    assert client.pay(merchantTransactionId="strict-order").status == 200
    run_command(own, "dispatch", "add", client.lenient_entity_id)
    run_command(own, "dispatch", "remove", take_row(own))
    wait_until(lambda: log_in(merchant).status == 200)
    assert merchant.get("/v1/query", {"merchantTransactionId": "strict-order"}).status == 200
    found = merchant.send("GET", f"/v1/query?{make_login(merchant)}&merchantTransactionId=strict-order")
    assert found.code == "700.400.580"
    day, summary = run_command(own, "clock")[:10], "/reports/v1/reconciliations/aggregations"
    days = {"date.from": day, "date.to": day}
    summed = merchant.send("GET", f"{summary}?{make_login(merchant)}&{urlencode(days)}")
    lenient = replace(client, entity_id=client.lenient_entity_id)
    assert summed.json["aggregations"] == lenient.get(summary, days).json["aggregations"]


def test_a_token_for_a_channel_without_a_row_finds_the_payments_of_its_channel(own: GatewayProcess) -> None:
    merchant, client, lenient = name_merchant(own), own.client(), own.client().lenient_entity_id
    paid = replace(client, entity_id=lenient).pay(merchantTransactionId="narrow-order").json["id"]
    assert client.pay(merchantTransactionId="narrow-order").status == 200
    token = run_command(own, "token", "add", merchant.entity_id, "--channels", lenient)
    narrow = replace(merchant, token=token)
    wait_until(lambda: narrow.get(f"/v1/query/{paid}").status == 200)
    found = narrow.get("/v1/query", {"merchantTransactionId": "narrow-order"})
    assert [each["id"] for each in found.json["payments"]] == [paid]
    assert narrow.pay().code == "800.900.201"


def test_dispatched_requests_are_counted_with_those_of_their_channel(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    environment = {"TOLLGATE_THROTTLES": ROWS}
    with GatewayProcess(tmp_path_factory.mktemp("throttled"), environment=environment) as gateway:
        merchant, client = name_merchant(gateway), gateway.client()
        assert [merchant.pay().status, client.pay().status, merchant.pay().status] == [200] * 3
        assert (merchant.pay().status, client.pay().status) == (429, 429)


def test_events_name_the_channel_and_a_webhook_of_the_merchant_hears_of_all(own: GatewayProcess) -> None:
    merchant, client = name_merchant(own), own.client()
    endpoint = merchant.post("/v1/webhooks", {"url": f"{own.base_url}/sandbox/inbox/none"})
    assert "entityId" not in endpoint.json
    paid = merchant.pay().json["id"]
    shown = run_command(own, "events", "list")
    event_id = next(line.split()[0] for line in shown.splitlines() if paid in line)
    told = run_command(own, "events", "show", event_id)
    assert client.entity_id in told
    assert merchant.entity_id not in told.replace(f"merchant {merchant.entity_id}", "")
