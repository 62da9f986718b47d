"""Every address of a registration against every state it can be in, and every result code that registrations have."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from api.chains import FAULTY, UNKNOWN_ID, begin, result_of
from api.challenges import open_order
from api.registration_requests import (
    CHARGE,
    FORCE,
    change,
    erase,
    extend,
    list_topics,
    pay_with,
    read,
    register,
    remove,
    store,
)
from api.shoppers import decide
from api.shoppers import open_order as open_page
from gateway import CARD, Answer, Client, GatewayProcess
from tollgate.catalog.results import RESULTS

_RENEWAL = {"standingInstruction.industryPractice": "REAUTHORIZATION"}

ENDPOINTS: dict[str, Callable[[Client, str], Answer]] = {
    "read": read,
    "read secure": lambda client, each: client.get(f"/v1/secureRegistrations/{each}"),
    "update": lambda client, each: change(client, each, {"card.holder": "John Jones"}),
    "confirm": lambda client, each: change(client, each, {"paymentType": "CF"}),
    "remove": remove,
    "extend": extend,
    "pay": pay_with,
    "pay by name": lambda client, each: client.post("/v1/payments", {**CHARGE, "registrationId": each}),
    "follow": lambda client, each: client.post(f"/v1/payments/{each}", {"paymentType": "RV"}),
    "refer": lambda client, each: client.post(
        "/v1/payments", {**CHARGE, **_RENEWAL, "paymentType": "PA", "referenceUuid": each}
    ),
}

_NOT_FOUND = (404, "100.150.200")
_WAITING_TABLE = {
    "read": (200, "000.200.000"),
    "update": (400, "100.150.201"),
    "remove": (400, "100.150.201"),
    "extend": (400, "100.350.316"),
    "pay": (400, "100.150.201"),
    "follow": (400, "100.350.201"),
}
TABLE: dict[str, dict[str, tuple[int, str]]] = {
    "unknown": {
        "read": _NOT_FOUND,
        "update": (400, "100.150.200"),
        "confirm": (400, "100.350.301"),
        "remove": (400, "100.350.303"),
        "extend": (400, "100.350.316"),
        "pay": (400, "100.150.200"),
        "follow": (400, "700.400.580"),
        "refer": FAULTY,
    },
    "malformed": {
        "read": (400, "100.150.101"),
        "update": (400, "100.150.101"),
        "confirm": (400, "100.350.301"),
        "remove": (400, "100.350.303"),
        "extend": (400, "100.350.316"),
        "pay": (400, "100.150.101"),
        "follow": (400, "700.400.580"),
        "refer": FAULTY,
    },
    "payment": {
        "read": (400, "100.150.204"),
        "update": (400, "100.150.204"),
        "confirm": (400, "100.350.301"),
        "remove": (400, "100.350.303"),
        "extend": (400, "100.350.316"),
        "pay": (400, "100.150.204"),
    },
    "unconfirmed": _WAITING_TABLE,
    "undecided": {**_WAITING_TABLE, "confirm": (400, "100.150.201")},
    "active": {"confirm": (400, "100.350.302"), "follow": (400, "100.350.201")},
    "rejected": {
        "read": (400, "800.100.151"),
        "update": (400, "100.350.100"),
        "confirm": (400, "100.350.100"),
        "remove": (400, "100.350.303"),
        "extend": (400, "100.350.316"),
        "pay": (400, "100.150.203"),
        "follow": (400, "100.350.201"),
    },
    "deleted": {
        "read": (400, "100.150.202"),
        "update": (400, "100.350.101"),
        "confirm": (400, "100.350.101"),
        "remove": (400, "100.150.202"),
        "extend": (400, "100.350.316"),
        "pay": (400, "100.150.202"),
        "follow": (400, "100.350.201"),
    },
    "erased": {
        "read": (400, "100.150.206"),
        "update": (400, "100.350.101"),
        "confirm": (400, "100.350.101"),
        "remove": (400, "100.150.206"),
        "extend": (400, "100.350.316"),
        "pay": (400, "100.150.206"),
        "follow": (400, "100.350.201"),
    },
}
_SAME = {"read secure": "read", "pay by name": "pay", "refer": "follow"}
"""Endpoints that answer as another one does, unless a row says otherwise."""


@pytest.fixture(scope="module")
def states(gateway: GatewayProcess, client: Client) -> dict[str, str]:
    """One id for each state. No request of the table changes any of them."""
    rejected = store(client, {**CARD, FORCE: "800.100.151"})
    made = {
        "unknown": UNKNOWN_ID,
        "malformed": "nonsense",
        "payment": begin(client, "DB"),
        "unconfirmed": register(client, {**CARD, FORCE: "000.200.000"}),
        "undecided": open_order(client, createRegistration="true").json["registrationId"],
        "active": register(client),
        "rejected": rejected.json["id"],
        "deleted": register(client),
        "erased": register(client),
    }
    assert remove(client, made["deleted"]).status == 200
    erase(gateway, client, made["erased"])
    return made


def _list_rows() -> list[tuple[str, str, tuple[int, str]]]:
    rows = []
    for state, row in TABLE.items():
        answers = {endpoint: row.get(endpoint) or row.get(_SAME.get(endpoint, "")) for endpoint in ENDPOINTS}
        rows += [(state, endpoint, expected) for endpoint, expected in answers.items() if expected is not None]
    return rows


@pytest.mark.parametrize(("state", "endpoint", "expected"), _list_rows())
def test_each_address_says_no_in_its_own_words(
    client: Client, states: dict[str, str], state: str, endpoint: str, expected: tuple[int, str]
) -> None:
    answer = ENDPOINTS[endpoint](client, states[state])

    assert result_of(answer) == expected
    assert set(answer.json) >= {"result", "buildNumber", "timestamp", "ndc"}


def test_what_was_refused_changed_nothing(gateway: GatewayProcess, client: Client, states: dict[str, str]) -> None:
    assert read(client, states["active"]).json["card"]["holder"] == "Jane Jones"
    assert list_topics(gateway, client, states["unconfirmed"]) == []
    assert list_topics(gateway, client, states["active"]) == ["registration.created"]


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_hostile_name_is_as_malformed_as_any_other(client: Client, endpoint: str) -> None:
    is_parameter = endpoint in ("pay by name", "refer")
    for name in ("\0", "8a" * 15 + "\0\0", "é" * 32, "8A" * 16, "%2f" * 3, "x" * 600, "8a" * 16 + "\n"):
        answer = ENDPOINTS[endpoint](client, name if is_parameter else quote(name, safe="%"))

        assert 400 <= answer.status < 500
        assert answer.code[:3] in ("100", "200", "700")


def test_a_registration_without_an_account_cannot_be_charged(client: Client) -> None:
    """A provider that asks for the account on its own page leaves nothing to register."""
    answer = open_page(client, "PAYPAL", createRegistration="true")
    decide(client, answer, "approve")

    assert result_of(read(client, answer.json["registrationId"])) == (200, "000.100.110")
    assert result_of(pay_with(client, answer.json["registrationId"])) == (400, "100.150.205")
    assert result_of(change(client, answer.json["registrationId"], {"customer.ip": "10.0.0.1"})) == (200, "000.100.110")
    assert result_of(remove(client, answer.json["registrationId"])) == (200, "000.100.110")


def test_a_merchant_alone_charges_only_what_is_stored(client: Client) -> None:
    alone = {"standingInstruction.mode": "REPEATED", "standingInstruction.source": "MIT"}

    assert result_of(client.pay(None, **alone)) == (400, "100.150.300")
    assert result_of(pay_with(client, register(client), alone)) == (200, "000.100.110")


@pytest.mark.parametrize("code", [code for code in RESULTS if code.startswith(("100.150.", "100.350."))])
def test_every_code_of_registrations_can_be_tried_out(client: Client, code: str) -> None:
    """Some belong to ways of confirming that only other providers have; a shop that handles them can be tested."""
    answer = store(client, {**CARD, FORCE: code})

    assert result_of(answer) == (400, code)
    assert result_of(read(client, answer.json["id"])) == (400, code)
    assert result_of(pay_with(client, answer.json["id"])) == (400, "100.150.203")


def test_the_table_has_every_state_of_every_endpoint() -> None:
    endpoints = set(ENDPOINTS) - set(_SAME)
    allowed = {
        ("unconfirmed", "confirm"),
        ("payment", "follow"),
        *(("active", endpoint) for endpoint in ("read", "update", "remove", "extend", "pay")),
    }

    assert {(state, endpoint) for state, row in TABLE.items() for endpoint in endpoints - set(row)} == allowed
