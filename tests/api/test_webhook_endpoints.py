"""`/v1/webhooks`: a platform manages the endpoints of its merchant with the access token alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.merchants import wait_until
from gateway import Answer, Client
from status_receiver import Receiver

pytestmark = pytest.mark.both_databases

PATH = "/v1/webhooks"
DONE = "000.000.100"
SECRET = "fedcba9876543210" * 4
UNKNOWN_ID = "8a" + "0" * 30
ONCE = {"secret", "signingSecret"}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(autouse=True)
def _tidy_up(client: Client) -> Iterator[None]:
    """Removes the endpoints, so that other files' events go nowhere."""
    yield
    for each in client.get(PATH).json["webhooks"]:
        remove(client, each["id"])


def add(client: Client, url: str, **terms: str | None) -> Answer:
    return client.post(PATH, {"entityId": None, "url": url, **terms})


def remove(client: Client, webhook_id: str) -> Answer:
    return client.send("DELETE", f"{PATH}/{webhook_id}", None, client.authorized())


def read(client: Client, webhook_id: str) -> Answer:
    return client.get(f"{PATH}/{webhook_id}", {"entityId": None})


def test_an_endpoint_is_added_with_its_secrets_and_shown_without(client: Client, receiver: Receiver) -> None:
    answer = add(client, f"{receiver.url}/200", types="PAYMENT,schedule.ended", scheme="both", retries="5,60")
    added = answer.json

    assert (answer.status, answer.code) == (200, DONE)
    assert {"buildNumber", "timestamp", "ndc"} <= {*added}
    assert (added["state"], len(added["secret"]), added["signingSecret"][:6]) == ("inactive", 64, "whsec_")
    shown = read(client, added["id"])
    assert not ONCE & {*shown.json}
    assert not ONCE & {name for each in client.get(PATH).json["webhooks"] for name in each}
    assert (shown.json["types"], shown.json["retries"]) == (["PAYMENT", "schedule.ended"], [5, 60])
    assert shown.json["pendingDeliveries"] == 0


def test_an_entity_limits_the_endpoint_to_its_channel(client: Client, receiver: Receiver) -> None:
    own = add(client, f"{receiver.url}/200", entityId=client.entity_id).json
    for_all = add(client, f"{receiver.url}/200").json

    assert own["entityId"] == client.entity_id
    assert "entityId" not in for_all


def test_an_endpoint_gets_events_as_soon_as_it_is_tested(client: Client, receiver: Receiver) -> None:
    path = f"/{client.entity_id}/200"
    added = add(client, receiver.url + path, secret=SECRET).json

    tested = client.post(f"{PATH}/{added['id']}/test", {}).json
    assert (tested["state"], tested["test"]["status"], tested["test"]["failure"]) == ("active", 200, None)
    paid = client.pay().json["id"]
    wait_until(lambda: len(receiver.list_got(path)) == 2)

    test, event = receiver.list_got(path)
    assert test.decrypt(SECRET)["type"] == "test"
    assert event.decrypt(SECRET)["payload"]["id"] == paid


def test_a_failed_test_is_an_answer_that_says_why(client: Client, receiver: Receiver) -> None:
    added = add(client, f"{receiver.url}/500").json

    tested = client.post(f"{PATH}/{added['id']}/test", {})

    assert (tested.status, tested.code) == (200, DONE)
    assert tested.json["state"] == "inactive"
    assert {**tested.json["test"], "latencyMs": None} == {"status": 500, "failure": "answered 500", "latencyMs": None}


def test_a_change_is_answered_and_another_address_must_be_tested(client: Client, receiver: Receiver) -> None:
    added = add(client, f"{receiver.url}/200").json
    path = f"{PATH}/{added['id']}"
    client.post(f"{path}/test", {})

    changed = client.post(path, {"types": "REGISTRATION", "ordered": "true"}).json
    assert (changed["state"], changed["types"], changed["ordered"]) == ("active", ["REGISTRATION"], True)
    assert not ONCE & {*changed}
    moved = client.post(path, {"url": f"{receiver.url}/201"}).json
    assert (moved["state"], moved["reason"]) == ("inactive", "the address was changed")
    # The entity of a change says who calls, and does not limit the endpoint.
    assert "entityId" not in moved


def test_a_rotation_shows_new_secrets_once(client: Client, receiver: Receiver) -> None:
    added = add(client, f"{receiver.url}/200").json

    rotated = client.post(f"{PATH}/{added['id']}/rotate", {"secret": SECRET, "overlap": "1"})

    assert rotated.code == DONE
    assert rotated.json["secret"] == SECRET
    assert rotated.json["signingSecret"] not in (added["signingSecret"], "")
    assert not ONCE & {*read(client, added["id"]).json}
    assert client.post(f"{PATH}/{added['id']}/rotate", {"overlap": "soon"}).faults == {
        "overlap": "must be 0 to 720 hours"
    }


def test_a_removed_endpoint_is_unknown(client: Client, receiver: Receiver) -> None:
    added = add(client, f"{receiver.url}/200").json

    removed = remove(client, added["id"])

    assert (removed.code, removed.json["id"]) == (DONE, added["id"])
    assert read(client, added["id"]).status == 404
    assert remove(client, added["id"]).status == 404
    assert client.get(PATH).json["webhooks"] == []


def test_another_merchants_endpoint_is_unknown(client: Client, stranger: Client, receiver: Receiver) -> None:
    webhook_id = add(client, f"{receiver.url}/200").json["id"]

    for path in (f"{PATH}/{webhook_id}", f"{PATH}/{webhook_id}/test", f"{PATH}/{webhook_id}/rotate"):
        answer = stranger.post(path, {})
        unknown = stranger.post(path.replace(webhook_id, UNKNOWN_ID), {})
        assert answer.status == unknown.status == 404
        assert answer.json["result"] == unknown.json["result"]
    assert read(stranger, webhook_id).status == 404
    assert remove(stranger, webhook_id).status == 404
    assert stranger.get(PATH).json["webhooks"] == []
    assert read(client, webhook_id).status == 200


def test_bad_input_names_every_parameter(client: Client) -> None:
    refused = add(client, "ftp://shop.example", types="PAYMENTS", scheme="none", paymentType="DB")

    assert (refused.status, refused.code) == (400, "200.300.404")
    assert {*refused.faults} == {"types", "scheme", "paymentType"}
    assert add(client, "ftp://shop.example").faults == {"url": "only http and https are allowed"}
    assert client.post(PATH, {}).faults == {"url": "is required"}
    assert client.get(PATH).json["webhooks"] == []


def test_a_token_is_needed(client: Client) -> None:
    assert client.send("GET", PATH).status == 401
    assert client.send("POST", PATH, "url=https://shop.example").status in (400, 401)
