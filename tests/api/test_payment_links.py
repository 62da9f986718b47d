"""Payment links over the interface: what a merchant sends and reads, and who may see it."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import datetime

import pytest

from api.linking import PATH, LinkVisit, end, read_own_context, visit_new
from api.paying_forms import (
    GONE,
)
from gateway import Client

pytestmark = pytest.mark.both_databases

OPEN = 1
DAY_S = 86_400
PNG = b"\x89PNG\r\n\x1a\n"


# ---- what a merchant sends and reads ----


def test_a_link_is_answered_with_its_id_its_address_and_a_code_to_scan(client: Client) -> None:
    answer = read_own_context(client, createQRCode="true")

    assert (answer.status, answer.code) == (200, "000.000.100")
    assert answer.json["link"] == f"{client.base_url}/paymentlink/{answer.json['id']}"
    assert base64.b64decode(answer.json["qrCode"], validate=True).startswith(PNG)


def test_without_being_asked_for_there_is_no_code_to_scan(client: Client) -> None:
    assert "qrCode" not in read_own_context(client).json


def test_the_address_is_never_built_from_the_host_header(client: Client) -> None:
    answer = read_own_context(client, {"Host": "evil.example", "X-Forwarded-Host": "evil.example"})

    assert answer.json["link"].startswith(f"{client.base_url}/paymentlink/")


def test_a_new_link_is_open_for_ninety_days(client: Client) -> None:
    received = visit_new(client).read()

    assert (received["status"], received["entityId"]) == (OPEN, client.entity_id)
    assert received["result"]["code"] == "000.200.200"
    assert not {"checkoutId", "transactionId"} & received.keys()
    assert measure_days(received) == 90


def measure_days(received: dict[str, str]) -> float:
    first, last = (datetime.strptime(received[name], "%Y-%m-%d %H:%M:%S%z") for name in ("creationDate", "validUntil"))
    return (last - first).total_seconds() / DAY_S


@pytest.mark.parametrize(
    ("count", "unit", "least", "most"),
    [
        ("5", "HOUR", 5 / 24, 5 / 24),
        ("3", "DAY", 3, 3),
        ("8760", "HOUR", 365, 365),
        ("365", "DAY", 365, 365),
        ("12", "MONTH", 365, 366),
        ("1", "YEAR", 365, 366),
    ],
)
def test_a_link_lives_as_long_as_its_merchant_says(
    client: Client, count: str, unit: str, least: float, most: float
) -> None:
    received = visit_new(client, validUntil=count, validUntilUnit=unit).read()

    assert least <= measure_days(received) <= most


@pytest.mark.parametrize(
    ("count", "unit"),
    [
        ("366", "DAY"),
        ("8761", "HOUR"),
        ("13", "MONTH"),
        ("2", "YEAR"),
        ("0", "DAY"),
        ("-1", "DAY"),
        ("soon", "DAY"),
        ("1.5", "DAY"),
    ],
)
def test_a_lifetime_that_is_none_or_more_than_a_year_is_named(client: Client, count: str, unit: str) -> None:
    answer = read_own_context(client, validUntil=count, validUntilUnit=unit)

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert list(answer.faults) == ["validUntil"]


@pytest.mark.parametrize(
    ("said", "accepted"),
    [
        ({"validUntil": "0"}, "must be a number from 1 to 365 with validUntilUnit DAY"),
        ({"validUntil": "9000"}, "must be a number from 1 to 365 with validUntilUnit DAY"),
        ({"validUntil": "9000", "validUntilUnit": "HOUR"}, "must be a number from 1 to 8760 with validUntilUnit HOUR"),
        ({"validUntil": "2", "validUntilUnit": "YEAR"}, "must be 1 with validUntilUnit YEAR"),
        ({"validUntil": "soon"}, "must be a number from 1, at most 8760 HOUR, 365 DAY, 12 MONTH, 1 YEAR"),
    ],
)
def test_a_wrong_lifetime_is_answered_with_the_range_of_its_unit(
    client: Client, said: dict[str, str], accepted: str
) -> None:
    assert read_own_context(client, **said).faults == {"validUntil": accepted}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layout.logo", "http://shop.example/logo.png"),
        ("layout.logo", "javascript:alert(1)"),
        ("layout.logo", "data:image/png;base64,AA"),
        ("layout.logo", "https://user@shop.example/logo.png"),
        ("layout.logo", "https://shop.example;script-src */x.png"),
        ("layout.backgroundImage", 'https://shop.example/"onload="x'),
        ("layout.backgroundImage", "//shop.example/x.png"),
        ("layout.logoWidth", "601"),
        ("layout.logoHeight", "0"),
        ("layout.payButtonColor", "red"),
        ("layout.payButtonTextColor", "#12345"),
        ("layout.amountColor", "#fff;}*{display:none"),
        ("layout.merchantNameColor", "url(https://evil.example)"),
        ("termsAndConditionsUrl", "javascript:alert(1)"),
        ("privacyPolicyUrl", "http://shop.example/privacy"),
        ("collectBilling", "perhaps"),
        ("validUntilUnit", "WEEK"),
        ("card.number", "4200000000000000"),
        ("bankAccount.iban", "DE02120300000000202051"),
        ("paymentType", "CD"),
        ("registrationId", "8a" * 16),
        ("referenceUuid", "8a" * 16),
    ],
)
def test_what_does_not_belong_into_a_link_is_named(client: Client, name: str, value: str) -> None:
    answer = read_own_context(client, **{name: value, **({"validUntil": "1"} if name == "validUntilUnit" else {})})

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert name in answer.faults
    assert "4200000000000000" not in answer.body.decode()


def test_a_test_host_takes_pictures_of_the_developers_own_machine(client: Client) -> None:
    assert read_own_context(client, layout__logo="http://127.0.0.1:9000/logo.png").code == "000.000.100"


@pytest.mark.parametrize("missing", ["amount", "currency", "paymentType"])
def test_a_link_needs_what_a_payment_needs(client: Client, missing: str) -> None:
    answer = read_own_context(client, **{missing: ""})

    assert list(answer.faults) == [missing]


def test_what_describes_a_link_is_refused_elsewhere(client: Client) -> None:
    answer = client.post("/v1/checkouts", {"amount": "1.00", "currency": "EUR", "paymentType": "DB", "validUntil": "5"})

    assert list(answer.faults) == ["validUntil"]


def test_the_same_request_with_the_same_key_makes_one_link(client: Client) -> None:
    first, second = (read_own_context(client, {"Idempotency-Key": "a-link-of-my-own"}) for _ in range(2))

    assert first.json["id"] == second.json["id"]
    assert read_own_context(client, {"Idempotency-Key": "a-link-of-my-own"}, amount="39.00").status == 409


# ---- who may see it ----


@pytest.mark.parametrize("path", ["{id}", "{id}/checkouts/{checkout}/payment"])
def test_another_merchants_link_is_as_unknown_as_none(client: Client, stranger: Client, path: str) -> None:
    visit = visit_new(client)
    asked = f"{PATH}/{path.format(id=visit.id, checkout=visit.find_checkout())}"

    assert (stranger.get(asked).status, stranger.get(asked).code) == GONE
    assert "another entityId" not in stranger.get(asked).body.decode()


def test_nobody_ends_another_merchants_link(client: Client, stranger: Client) -> None:
    visit = visit_new(client)

    assert end(LinkVisit(stranger, visit.id)).code == GONE[1]
    assert visit.read()["status"] == OPEN


def test_another_channel_of_the_same_merchant_is_answered_that_another_entity_made_it(
    client: Client, lenient: Client
) -> None:
    answer = lenient.get(f"{PATH}/{visit_new(client).id}")

    assert (answer.status, answer.code) == GONE
    assert "another entityId" in answer.json["result"]["description"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_link_asks_for_a_token_and_an_entity(client: Client, method: str) -> None:
    path = f"{PATH}/{visit_new(client).id}"

    assert client.send(method, f"{path}?entityId={client.entity_id}").status == 401
    assert client.send(method, path, headers=client.authorized()).status == 400
    assert replace(client, token="wrong" * 8).get(path).status == 403


@pytest.mark.parametrize("name", ["none", "8a" * 16, "0" * 32 + "-8a11aa22bb33", "%00", "0" * 32 + "-" + "%27"])
def test_a_link_that_does_not_exist_is_said_to_everybody(client: Client, name: str) -> None:
    assert client.get(f"{PATH}/{name}").code == GONE[1]
    assert client.send("GET", f"/paymentlink/{name}").status == 404
