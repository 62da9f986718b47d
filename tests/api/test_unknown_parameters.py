"""A test host reports which parameters it ignored, on answers and on refusals; a live host does not."""

from __future__ import annotations

import pytest

from api.chains import APPROVED, FAULTY, authorise, result_of
from api.checking_out import PREPARED, prepare, submit
from api.registration_requests import register
from api.server import SharedServer
from gateway import CARD, PAYMENT, Client

HEADER = "tollgate-warning"
MISTYPED = {"merchantTransactonId": "order-0001", "card.foo": "x"}


@pytest.fixture
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


def test_a_payment_with_known_names_has_no_warning(client: Client) -> None:
    assert HEADER not in client.pay().headers


def test_a_mistyped_name_is_ignored_and_reported(client: Client) -> None:
    answer = client.post("/v1/payments", {**PAYMENT, **MISTYPED})

    assert result_of(answer) == APPROVED
    assert "merchantTransactonId (did you mean merchantTransactionId?)" in answer.headers[HEADER]
    assert "card.foo" in answer.headers[HEADER]


def test_a_refusal_reports_it_too(client: Client) -> None:
    answer = client.post("/v1/payments", {**PAYMENT, **MISTYPED, "amount": "x"})

    assert result_of(answer) == FAULTY
    assert "merchantTransactonId" in answer.headers[HEADER]


def test_every_operation_that_reads_parameters_reports_it(client: Client) -> None:
    checkout, registration = prepare(client, PREPARED), register(client)
    answers = [
        client.post(f"/v1/payments/{authorise(client)}", {"paymentType": "RV", **MISTYPED}),
        client.post("/v1/checkouts", {**PREPARED, **MISTYPED}),
        client.post(f"/v1/checkouts/{checkout}", {"amount": "1.00", **MISTYPED}),
        client.post("/v1/registrations", {**CARD, **MISTYPED}),
        client.post(f"/v1/registrations/{registration}", MISTYPED),
        client.post("/scheduling/v1/schedules", {"registrationId": registration, **MISTYPED}),
        client.get("/v1/query", {"merchantTransactonId": "order-0001"}),
        submit(client, checkout, "https://shop.example/back", {**CARD, **MISTYPED}),
    ]

    assert ["merchantTransactonId" in answer.headers.get(HEADER, "") for answer in answers] == [True] * len(answers)


def test_nothing_is_answered_without_a_credential(client: Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.send("POST", "/v1/payments", "merchantTransactonId=order-0001", form)

    assert answer.status == 401
    assert HEADER not in answer.headers


def test_the_log_names_it(embedded_server: SharedServer) -> None:
    embedded_server.client.post("/v1/payments", {**PAYMENT, "marchantMemo": "something"})

    assert "marchantMemo (did you mean merchantMemo?)" in embedded_server.gateway.log_path.read_text()
