"""The inboxes of a real server: events arrive decrypted, and a delivery that was failed on purpose is tried again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

import pytest

from api.merchants import find_merchant_id, wait_until
from api.server import SharedServer
from gateway import Answer, Client, GatewayProcess
from tollgate.config import Settings
from tollgate.flows import webhooks as flows
from tollgate.operations.app import App
from tollgate.payments.webhooks import Scheme, WebhookState
from tollgate.sandbox.inbox.reading import PATH
from tollgate.store.deliveries import list_attempts
from tollgate.store.webhooks import delete_webhook, find_webhook, list_all_webhooks
from tollgate.values import MerchantId
from tollgate.wiring import open_app

FIRST_PAUSE_S = 60
"""A failed delivery is tried again after a minute."""
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    """The clock is moved and every payment makes events."""
    return own_server


@pytest.fixture(scope="module")
def gateway(server: SharedServer) -> GatewayProcess:
    return server.gateway


def with_app(gateway: GatewayProcess, work: Callable[[App], Any]) -> Any:
    """Runs a flow on the server's store, in this process."""
    settings = Settings(data=str(gateway.data), database=gateway.database)

    async def run() -> Any:
        app, wires = await open_app(settings, exclusive=False)
        try:
            return await work(app)
        finally:
            await wires.close()
            await app.database.close()

    return asyncio.run(run())


def add_endpoint(gateway: GatewayProcess, client: Client, inbox: str, **terms: Any) -> flows.NewWebhook:
    """Adds an endpoint for the events of payments, and activates it by its test event."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))

    async def add(app: App) -> flows.NewWebhook:
        new = await flows.add_webhook(app, merchant_id, f"{client.base_url}{PATH}/{inbox}", types=("PAYMENT",), **terms)
        assert (await flows.test_webhook(app, new.webhook)).is_success
        return new

    new: flows.NewWebhook = with_app(gateway, add)
    return new


def remove_endpoints(gateway: GatewayProcess) -> None:
    async def remove(app: App) -> None:
        for webhook in await list_all_webhooks(app.database):
            await delete_webhook(app.database, webhook)

    with_app(gateway, remove)


@pytest.fixture(autouse=True)
def alone(gateway: GatewayProcess) -> Iterator[None]:
    """Each test has the only endpoints."""
    yield
    remove_endpoints(gateway)


def look(client: Client, inbox: str) -> list[Any]:
    answer = client.send("GET", f"{PATH}/{inbox}", None, {"Accept": "application/json"})
    assert answer.status == 200, answer.body
    found: list[Any] = answer.json
    return found


def tell(client: Client, inbox: str, **fields: str) -> Answer:
    return client.post(f"{PATH}/{inbox}/behaviour", {**fields, "entityId": None})


def list_events(client: Client, inbox: str, payment_id: str) -> list[Any]:
    """Lists the messages about a payment, newest first."""
    return [each for each in look(client, inbox) if each["event"] and each["event"]["payload"].get("id") == payment_id]


def pay_until_known(client: Client, inbox: str) -> str:
    """Pays until the server, which learns of a new endpoint within a second, has delivered the event of a payment.

    Then nothing is on its way any more.
    """
    paid: list[str] = []

    def is_delivered() -> bool:
        paid.append(client.pay().json["id"])
        return any(list_events(client, inbox, payment_id) for payment_id in paid)

    wait_until(is_delivered)
    wait_until(lambda: bool(list_events(client, inbox, paid[-1])))
    first = next(place for place, payment_id in enumerate(paid) if list_events(client, inbox, payment_id))
    wait_until(lambda: all(list_events(client, inbox, payment_id) for payment_id in paid[first:]))
    return paid[-1]


@pytest.mark.parametrize("scheme", Scheme)
def test_an_event_arrives_decrypted_and_verified(gateway: GatewayProcess, client: Client, scheme: Scheme) -> None:
    new = add_endpoint(gateway, client, f"of-{scheme}", scheme=scheme)
    payment_id = pay_until_known(client, f"of-{scheme}")

    messages = look(client, f"of-{scheme}")
    page = client.send("GET", f"{PATH}/of-{scheme}", None, HTML)

    [arrived] = list_events(client, f"of-{scheme}", payment_id)
    assert messages[-1]["event"]["type"] == "test"
    assert (arrived["event"]["type"], arrived["event"]["payload"]["amount"]) == ("PAYMENT", "92.00")
    assert (arrived["scheme"], arrived["endpoint"], arrived["status"]) == (scheme.value, new.webhook.id, 204)
    assert (arrived["method"], arrived["sequence"], arrived["replay"]) == ("POST", 1, False)
    assert payment_id in page.body.decode()
    assert page.headers["content-type"].startswith("text/html")


def test_a_delivery_that_is_failed_and_reset_is_tried_again_when_its_pause_is_over(
    gateway: GatewayProcess, client: Client
) -> None:
    add_endpoint(gateway, client, "failing")
    pay_until_known(client, "failing")
    assert tell(client, "failing", status="500", count="1").json == {"status": 500, "count": 1}
    payment_id = client.pay().json["id"]
    wait_until(lambda: [each["status"] for each in list_events(client, "failing", payment_id)] == [500])
    event_id = list_events(client, "failing", payment_id)[0]["webhookId"]
    assert tell(client, "failing", reset="true").status == 200

    def is_reset() -> bool:
        """Moves the clock until the worker, which ended the first attempt a moment after it arrived, makes another."""
        client.post("/sandbox/clock", {"advance": str(FIRST_PAUSE_S), "entityId": None})
        return any("reset" in failure for failure in list_failures(gateway, client, event_id))

    wait_until(is_reset)
    assert tell(client, "failing").json == {}

    def is_answered() -> bool:
        client.post("/sandbox/clock", {"advance": "3600", "entityId": None})
        return list_failures(gateway, client, event_id)[-1] == ""

    wait_until(is_answered)
    tries = list_events(client, "failing", payment_id)
    assert (tries[0]["status"], {each["status"] for each in tries[1:-1]}, tries[-1]["status"]) == (204, {None}, 500)
    assert {each["webhookId"] for each in tries} == {event_id}
    # A request that a kept connection lost is repeated as it is; every other attempt has an IV of its own.
    failures = list_failures(gateway, client, event_id)
    assert len({each["headers"]["x-initialization-vector"] for each in tries}) == len(failures)
    assert failures[0] == "answered 500"


def list_failures(gateway: GatewayProcess, client: Client, event_id: str) -> list[str]:
    """Lists why each attempt failed, oldest first; a success is empty."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))
    attempts = with_app(gateway, lambda app: list_attempts(app.database, merchant_id, event_id, 100))
    return [attempt.failure for attempt in attempts]


def test_an_inbox_that_answers_410_disables_its_endpoint(gateway: GatewayProcess, client: Client) -> None:
    new = add_endpoint(gateway, client, "gone")
    pay_until_known(client, "gone")
    tell(client, "gone", status="410")
    client.pay()

    async def find_state(app: App) -> WebhookState | None:
        webhook = await find_webhook(app.database, new.webhook.merchant_id, new.webhook.id)
        return None if webhook is None else webhook.state

    wait_until(lambda: with_app(gateway, find_state) is WebhookState.DISABLED)


def test_a_reset_is_a_reset_and_other_connections_go_on(client: Client) -> None:
    tell(client, "reset", reset="true")

    with pytest.raises(ConnectionResetError):
        client.send("POST", f"{PATH}/reset", b"x")

    assert look(client, "reset")[0]["status"] is None
    tell(client, "reset")
    assert client.send("POST", f"{PATH}/reset", b"x").status == 204


def test_a_redirect_and_a_pause_are_answered(client: Client) -> None:
    tell(client, "away", redirect="http://127.0.0.1:1/there", retryAfter="7")

    answer = client.send("PUT", f"{PATH}/away", b"x")

    assert (answer.status, answer.headers["location"]) == (302, "http://127.0.0.1:1/there")
    assert answer.headers["retry-after"] == "7"


def test_a_delayed_request_is_recorded_before_it_is_answered(client: Client) -> None:
    """The answer is waited for in a thread, and the message is seen while no answer is there."""
    tell(client, "late", delay="3", count="1")
    answers: list[tuple[int, float]] = []
    begun = monotonic()

    def send() -> None:
        answers.append((client.send("POST", f"{PATH}/late", b"x").status, monotonic() - begun))

    sending = threading.Thread(target=send)
    sending.start()
    wait_until(lambda: bool(look(client, "late")))
    sending.join()

    assert answers[0][0] == 204
    assert answers[0][1] >= 3


def test_only_a_caller_with_a_token_tells_an_inbox_what_to_answer(client: Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.send("POST", f"{PATH}/free/behaviour", "status=500", form).status == 401
    assert list(tell(client, "free", status="99", delay="61").faults) == ["status", "delay"]

    assert client.send("POST", f"{PATH}/free").status == 204


def test_any_body_is_taken_and_shown_without_harm(client: Client) -> None:
    bodies = [b"\x00\xff" * 1000, b"{" * 200_000, b"a=%&b=%ff", b"<script>alert(1)</script>", b"\xf0\x9f"]
    headers = {"Content-Type": "text/<b>", "X-Initialization-Vector": "'\"><b>", "webhook-signature": "\xe4\xff"}
    for body in bodies:
        assert client.send("POST", f"{PATH}/hostile?%ff<b>=%00", body, headers).status == 204

    page = client.send("GET", f"{PATH}/hostile", None, HTML)

    expected = [body.decode("utf-8", "backslashreplace") for body in reversed(bodies)]
    assert [each["body"] for each in look(client, "hostile")] == expected
    assert page.status == 200
    assert b"<b>" not in page.body
    assert b"<script>alert" not in page.body


def test_inboxes_do_not_share_messages_and_one_is_emptied(client: Client) -> None:
    for name in ("one", "two"):
        client.send("POST", f"{PATH}/{name}", name)

    assert client.send("DELETE", f"{PATH}/one").status == 204
    assert [[each["body"] for each in look(client, name)] for name in ("one", "two")] == [[], ["two"]]


def test_a_large_body_and_a_wrong_name_are_refused(client: Client) -> None:
    assert client.send("POST", f"{PATH}/large", b"x" * (256 * 1024)).status == 204
    assert client.send("POST", f"{PATH}/large", b"x" * (256 * 1024 + 1)).status == 413
    for name in ("a.b", "%00", "a" * 65):
        answer = client.send("POST", f"{PATH}/{name}", b"x")
        assert (answer.status, json.loads(answer.body)["result"]["code"]) == (404, "200.300.404")
