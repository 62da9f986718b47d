"""Events arrive at real receivers: at least once, in order where promised, again where they were not heard."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from api import shoppers
from api.chains import FORCE
from api.checking_out import prepare, submit
from api.endpoints import Endpoint, add_endpoint, advance, wait_until_known
from api.merchants import add_merchant, wait_until
from api.registration_requests import change, register
from gateway import CARD, Client, GatewayProcess
from postgres import PostgresCluster
from receiving import Receiver
from tollgate.payments.webhooks import DeliveryState, WebhookState
from tollgate.store.events import Event
from tollgate.values import DAY, HOUR, MINUTE, SECOND

LADDER = [minutes * MINUTE for minutes in (1, 2, 4, 8, 15, 30, 60)] + [DAY] * 29
"""The pauses before each retry until the event is given up."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def own(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server of this file alone, because its clock is moved."""
    database = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    with GatewayProcess(tmp_path_factory.mktemp("webhooks"), database) as gateway:
        yield gateway


@pytest.fixture
def shop(own: GatewayProcess) -> Client:
    """A merchant of this test alone, so that nobody else's events are delivered."""
    shop = add_merchant(own, "Shop")
    wait_until(lambda: shop.get("/v1/query/none").code == "700.400.580")
    return shop


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def listen(own: GatewayProcess, shop: Client, receiver: Receiver, **terms: object) -> Endpoint:
    """Adds an endpoint, and waits until the server delivers to it."""
    endpoint = add_endpoint(own, shop, f"{receiver.url}/hook", **terms)
    wait_until_known(shop, endpoint)
    wait_until(endpoint.is_quiet)
    receiver.calls.clear()
    return endpoint


def find_event(endpoint: Endpoint, payment_id: str) -> Event:
    [event] = [event for event in endpoint.list_events() if event.subject_id == payment_id]
    return event


# ---- arriving ----


@pytest.mark.both_databases
def test_an_event_arrives_with_what_a_read_answers(own: GatewayProcess, shop: Client, receiver: Receiver) -> None:
    endpoint = listen(own, shop, receiver)

    payment = shop.pay(**{"customParameters[order]": "7"}).json

    wait_until(lambda: len(receiver.list_calls()) == 1)
    [call] = receiver.list_calls()
    body = call.open(endpoint.secrets.secret)
    read = shop.get(f"/v1/payments/{payment['id']}").json
    assert body["type"] == "PAYMENT"
    assert {name: body["payload"][name] for name in read} == read
    assert (call.method, call.path, call.sequence) == ("POST", "/hook", 1)
    event = find_event(endpoint, payment["id"])
    assert (event.topic, call.event_id) == ("payment.succeeded", event.id)
    wait_until(lambda: endpoint.find_delivery(event).state is DeliveryState.DELIVERED)
    [attempt] = endpoint.list_attempts(event.id)
    assert (attempt.status, attempt.answer, attempt.failure) == (200, b"thank you", "")


@pytest.mark.both_databases
def test_a_failed_event_comes_again_with_the_same_id_and_an_iv_of_its_own(
    own: GatewayProcess, shop: Client, receiver: Receiver
) -> None:
    endpoint = listen(own, shop, receiver)
    receiver.choose = lambda number: 500 if number == 1 else 204
    shop.pay()
    wait_until(lambda: len(receiver.list_calls()) == 1)
    wait_until(lambda: endpoint.list_attempts(receiver.calls[0].event_id) != [])

    advance(shop, 60)

    wait_until(lambda: len(receiver.list_calls()) == 2)
    first, second = receiver.list_calls()
    assert first.event_id == second.event_id
    assert first.headers["x-initialization-vector"] != second.headers["x-initialization-vector"]
    assert first.open(endpoint.secrets.secret) == second.open(endpoint.secrets.secret)


def test_a_redirect_is_not_followed_and_is_a_failure(own: GatewayProcess, shop: Client, receiver: Receiver) -> None:
    endpoint = listen(own, shop, receiver)
    receiver.headers = {"location": f"{receiver.url}/elsewhere"}
    receiver.choose = lambda _: 302
    event = find_event(endpoint, shop.pay().json["id"])

    wait_until(lambda: endpoint.list_attempts(event.id) != [])

    [attempt] = endpoint.list_attempts(event.id)
    assert (attempt.status, attempt.failure) == (302, "answered 302")
    assert {call.path for call in receiver.list_calls()} == {"/hook"}


def test_a_receiver_that_cannot_be_reached_is_recorded_with_the_reason(
    own: GatewayProcess, shop: Client, receiver: Receiver
) -> None:
    endpoint = listen(own, shop, receiver)
    with Receiver() as gone:
        closed = add_endpoint(own, shop, gone.url)
    documented = add_endpoint(own, shop, "https://192.0.2.1/hook")
    wait_until_known(shop, closed, documented)

    wait_until(lambda: bool(list_failures(closed) and list_failures(documented)))

    assert list_failures(closed) == {"connection refused"}
    assert list_failures(documented) == {"address 192.0.2.1 is for documentation"}
    wait_until(endpoint.is_quiet)


def list_failures(endpoint: Endpoint) -> set[str]:
    """Lists the reasons of all attempts."""
    ids = [event.id for event in endpoint.list_events()]
    return {attempt.failure for event_id in ids for attempt in endpoint.list_attempts(event_id)}


# ---- retries ----


def test_an_event_that_nobody_hears_is_tried_for_thirty_days(
    own: GatewayProcess, shop: Client, receiver: Receiver
) -> None:
    endpoint = listen(own, shop, receiver)
    receiver.choose = lambda _: 503
    event = find_event(endpoint, shop.pay().json["id"])

    def has_attempts(count: int) -> bool:
        return len(endpoint.list_attempts(event.id)) == count

    for number, pause in enumerate(LADDER, 1):
        wait_until(partial(has_attempts, number))
        delivery, attempt = endpoint.find_delivery(event), endpoint.list_attempts(event.id)[-1]
        assert (delivery.state, delivery.tries) == (DeliveryState.PENDING, number)
        # The pause is counted from the end of the attempt.
        assert 0 <= delivery.due_at - attempt.attempted_at - pause < 30 * SECOND
        now = advance(shop, pause // SECOND)
        assert now >= datetime.fromtimestamp(delivery.due_at // SECOND, UTC)
    wait_until(partial(has_attempts, len(LADDER) + 1))

    attempts = endpoint.list_attempts(event.id)
    wait_until(lambda: endpoint.find_delivery(event).state is DeliveryState.FAILED)
    assert all(
        later.attempted_at - earlier.attempted_at >= pause
        for earlier, later, pause in zip(attempts, attempts[1:], LADDER, strict=False)
    )
    assert 29 * DAY + 2 * HOUR <= attempts[-1].attempted_at - event.created_at <= 30 * DAY
    assert {attempt.failure for attempt in attempts} == {"answered 503"}
    assert len(receiver.list_calls()) == len(LADDER) + 1
    assert set(receiver.count_events()) == {event.id}


# ---- order ----


@pytest.mark.both_databases
def test_an_ordered_endpoint_gets_the_result_after_the_event_that_it_was_open(
    own: GatewayProcess, shop: Client, receiver: Receiver
) -> None:
    endpoint = listen(own, shop, receiver, is_ordered=True)
    receiver.choose = lambda number: 500 if number == 1 else 200
    opened = shoppers.open_order(shop, "PAYPAL")
    shoppers.decide(shop, opened, "approve")
    wait_until(lambda: len(receiver.list_calls()) == 1)
    other = shop.pay().json["id"]
    wait_until(lambda: len(receiver.list_calls()) == 2)
    events = [event for event in endpoint.list_events() if event.subject_id == opened.json["id"]]
    assert [(event.topic, event.sequence) for event in events] == [("payment.pending", 1), ("payment.succeeded", 2)]
    assert endpoint.find_delivery(events[1]).state is DeliveryState.PENDING
    assert receiver.list_calls()[1].open(endpoint.secrets.secret)["payload"]["id"] == other

    advance(shop, 60)

    wait_until(lambda: len(receiver.list_calls()) == 4)
    own_calls = [call for call in receiver.list_calls() if call.event_id in {event.id for event in events}]
    assert [(call.sequence, call.answered) for call in own_calls] == [(1, 500), (1, 200), (2, 200)]
    codes = [call.open(endpoint.secrets.secret)["payload"]["result"]["code"] for call in own_calls]
    assert codes == ["000.200.000", "000.200.000", "000.100.110"]


# ---- pausing and disabling ----


def restart_with(own: GatewayProcess, endpoint: Endpoint, state: WebhookState) -> None:
    """Changes the state of an endpoint while no server runs, so that the next one knows it from its start."""
    own.stop()
    endpoint.set_state(state)
    own.start()


@pytest.mark.both_databases
def test_what_happens_during_a_pause_is_delivered_after_it(
    own: GatewayProcess, shop: Client, receiver: Receiver
) -> None:
    endpoint = listen(own, shop, receiver)
    with Receiver() as control_receiver:
        control = listen(own, shop, control_receiver)
        wait_until(endpoint.is_quiet)
        receiver.calls.clear()
        restart_with(own, endpoint, WebhookState.PAUSED)
        ids = {find_event(endpoint, shop.pay().json["id"]).id for _ in range(3)}
        wait_until(lambda: ids <= set(control_receiver.count_events()))
        assert receiver.list_calls() == []
        assert control.list_attempts(min(ids))

        restart_with(own, endpoint, WebhookState.ACTIVE)

        wait_until(lambda: set(receiver.count_events()) == ids)
        restart_with(own, control, WebhookState.PAUSED)


def test_410_disables_and_a_test_that_is_answered_brings_the_kept_events(
    own: GatewayProcess, shop: Client, receiver: Receiver
) -> None:
    endpoint = listen(own, shop, receiver)
    receiver.choose = lambda _: 410
    first = find_event(endpoint, shop.pay().json["id"])
    wait_until(lambda: endpoint.look().state is WebhookState.DISABLED)
    second = find_event(endpoint, shop.pay().json["id"])
    assert endpoint.look().reason == "the receiver answered 410"
    assert not endpoint.test()
    wait_until(lambda: endpoint.is_queued(second))
    assert second.id not in receiver.count_events()

    receiver.choose = lambda _: 200
    assert endpoint.test()
    advance(shop, 60)

    wait_until(endpoint.is_quiet)
    assert {first.id, second.id} <= set(receiver.count_events())


# ---- notifications ----


def test_the_notification_url_of_a_payment_is_called_when_its_open_result_is_known(
    shop: Client, receiver: Receiver
) -> None:
    url = f"{receiver.url}/told?order=7"
    opened = shoppers.open_order(shop, "PAYPAL", notificationUrl=url)
    shoppers.decide(shop, opened, "approve")
    # Of a payment that is answered at once the shop knows already.
    assert shop.pay(notificationUrl=f"{receiver.url}/at-once").status == 200
    again = shoppers.open_order(shop, "PAYPAL", notificationUrl=url)
    shoppers.decide(shop, again, "decline")

    wait_until(lambda: len(receiver.list_calls()) == 2)

    calls = {call.query["id"]: call for call in receiver.list_calls()}
    assert calls.keys() == {opened.json["id"], again.json["id"]}
    for payment_id, call in calls.items():
        assert (call.method, call.path) == ("GET", "/told")
        assert call.query == {"order": "7", "id": payment_id, "resourcePath": f"/v1/payments/{payment_id}"}


def test_a_notification_that_fails_comes_again(shop: Client, receiver: Receiver) -> None:
    receiver.choose = lambda number: 500 if number == 1 else 200
    opened = shoppers.open_order(shop, "PAYPAL", notificationUrl=f"{receiver.url}/told")
    shoppers.decide(shop, opened, "approve")
    wait_until(lambda: len(receiver.list_calls()) == 1)

    def is_told() -> bool:
        advance(shop, 60)
        return len(receiver.list_calls()) == 2

    wait_until(is_told)
    first, second = receiver.list_calls()
    assert first.query == second.query


def test_the_notification_url_of_a_checkout_is_called_with_the_id_of_the_checkout(
    shop: Client, receiver: Receiver
) -> None:
    fields = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", "notificationUrl": f"{receiver.url}/told"}
    checkout_id = prepare(shop, fields)
    assert submit(shop, checkout_id, "https://shop.example/result").code == "000.100.110"

    wait_until(lambda: len(receiver.list_calls()) == 1)

    path = f"/v1/checkouts/{checkout_id}/payment"
    assert receiver.list_calls()[0].query == {"id": checkout_id, "resourcePath": path}
    assert shop.get(path).code == "000.100.110"


def test_the_notification_url_of_a_registration_is_called_when_it_was_open_and_is_stored(
    shop: Client, receiver: Receiver
) -> None:
    told = {"notificationUrl": f"{receiver.url}/told"}
    register(shop, {**CARD, "notificationUrl": f"{receiver.url}/at-once"})
    registration_id = register(shop, {**CARD, FORCE: "000.200.000", **told})
    assert change(shop, registration_id, {"paymentType": "CF"}).status == 200

    wait_until(lambda: len(receiver.list_calls()) == 1)

    [call] = receiver.list_calls()
    assert (call.path, call.query["id"]) == ("/told", registration_id)
    assert "notificationUrl" not in shop.get(f"/v1/registrations/{registration_id}").json
    assert shop.get(call.query["resourcePath"]).status == 200
