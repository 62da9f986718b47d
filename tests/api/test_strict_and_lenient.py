"""Strict channels keep to the letter of the specification; lenient ones take what public clients really send."""

from __future__ import annotations

from base64 import b64decode
from urllib.parse import urlencode

import pytest

from gateway import PAYMENT, Answer, Client

FULL_NAME = {"customer.givenName": "Jane", "customer.surname": "Jones"}

# What is sent, and the name that a strict channel complains about.
RELAXED = [
    ({"createRegistration": "True"}, "createRegistration"),
    ({"createRegistration": "1"}, "createRegistration"),
    ({"integrity": "0"}, "integrity"),
    ({"merchantTransactionId": "1"}, "merchantTransactionId"),
    ({"merchantInvoiceId": "test123"}, "merchantInvoiceId"),
    ({"merchantMemo": "memo"}, "merchantMemo"),
    ({**FULL_NAME, "customer.phone": "(?!?)555-5555"}, "customer.phone"),
    ({**FULL_NAME, "customer.mobile": "call me"}, "customer.mobile"),
    ({"shipping.phone": "555"}, "shipping.phone"),
    ({"billing.postcode": "TE1 2ST"}, "billing.postcode"),
    ({"shipping.postcode": "1500-441"}, "shipping.postcode"),
    ({"billing.state": "Nord-Rhein"}, "billing.state"),
    ({"shipping.city": "Area 51"}, "shipping.city"),
    ({"customer.email": "jane@example.org"}, "customer.givenName"),
    ({"paymentBrand": "AMERICAN_EXPRESS", "card.number": "377777777777770", "card.cvv": "1234"}, "paymentBrand"),
    ({"paymentBrand": "whatever"}, "paymentBrand"),
    ({"amount": "123456789012.00"}, "amount"),
    ({"card.holder": "0815 4711"}, "card.holder"),
]


@pytest.mark.parametrize(("sent", "refused_name"), RELAXED, ids=[name for _, name in RELAXED])
def test_what_a_strict_channel_refuses_a_lenient_one_takes(
    client: Client, lenient: Client, sent: dict[str, str], refused_name: str
) -> None:
    strict = client.pay(None, **sent)

    assert (strict.status, strict.code) == (400, "200.300.404")
    assert refused_name in strict.faults
    assert lenient.pay(None, **sent).code == "000.100.110"


@pytest.mark.parametrize(
    ("sent", "refused_name"),
    [
        ({"merchantTransactionId": "t" * 256}, "merchantTransactionId"),
        ({"customer.phone": "1" * 26}, "customer.phone"),
        ({"createRegistration": "yes"}, "createRegistration"),
        ({"billing.country": "Austria"}, "billing.country"),
        ({"card.number": "4200 0000 0000 0000"}, "card.number"),
        ({"card.expiryYear": "34"}, "card.expiryYear"),
        ({"currency": "eur"}, "currency"),
    ],
)
def test_a_lenient_channel_still_has_limits(lenient: Client, sent: dict[str, str], refused_name: str) -> None:
    assert refused_name in lenient.pay(None, **sent).faults


def test_a_network_spelling_is_answered_as_our_brand(lenient: Client) -> None:
    answer = lenient.pay(paymentBrand="AMERICAN_EXPRESS", card__number="377777777777770", card__cvv="1234")

    assert answer.json["paymentBrand"] == "AMEX"


def test_a_repeated_name_is_refused_on_a_strict_channel(client: Client) -> None:
    answer = send_body(client, [*PAYMENT.items(), ("amount", "1.00")])

    assert answer.faults == {"amount": "must not be repeated"}


def test_of_a_repeated_name_the_last_counts_on_a_lenient_channel(lenient: Client) -> None:
    answer = send_body(lenient, [*PAYMENT.items(), ("amount", "1.00"), ("amount", "2.00")])

    assert (answer.status, answer.json["amount"]) == (200, "2.00")


def test_a_name_repeated_without_a_value_is_no_repetition(client: Client) -> None:
    assert send_body(client, [*PAYMENT.items(), ("amount", "")]).status == 200


@pytest.mark.both_databases
def test_the_merchants_reference_may_be_used_again_on_both(client: Client, lenient: Client) -> None:
    for caller in (client, lenient):
        assert caller.pay(merchantTransactionId="used-twice-01").status == 200
        assert caller.pay(merchantTransactionId="used-twice-01").status == 200


@pytest.mark.parametrize("place", ["body", "query"])
def test_a_login_in_the_request_opens_lenient_channels_only(client: Client, lenient: Client, place: str) -> None:
    answers = [send_with_login(caller, place) for caller in (client, lenient)]

    assert [answer.status for answer in answers] == [401, 200]
    assert answers[0].code == "800.900.300"
    assert "www-authenticate" in answers[0].headers


def test_a_wrong_password_is_refused_like_a_wrong_token(lenient: Client) -> None:
    wrong = {**login_of(lenient), "authentication.password": "guess"}

    answer = lenient.send("POST", "/v1/payments", urlencode({**PAYMENT, **wrong}))

    assert (answer.status, answer.code) == (403, "800.900.300")


def test_half_a_login_is_none(lenient: Client) -> None:
    for left_out in ("authentication.userId", "authentication.password"):
        login = {name: value for name, value in login_of(lenient).items() if name != left_out}

        assert lenient.send("POST", "/v1/payments", urlencode({**PAYMENT, **login})).status == 401


def test_a_payment_is_read_with_a_login_on_the_lenient_channel_that_it_names(client: Client, lenient: Client) -> None:
    payment_id = lenient.pay().json["id"]
    login = login_of(lenient)
    without_entity = {name: value for name, value in login.items() if name != "authentication.entityId"}

    assert lenient.send("GET", f"/v1/payments/{payment_id}?{urlencode(login)}").status == 200
    assert lenient.send("GET", f"/v1/payments/{payment_id}?{urlencode(login_of(client))}").status == 401
    assert lenient.send("GET", f"/v1/payments/{payment_id}?{urlencode(without_entity)}").status != 200


@pytest.mark.parametrize("path", ["/v1/payments", "/v1/payments/", "//v1/payments", "//v1//payments//"])
def test_slashes_too_many_do_not_matter(client: Client, path: str) -> None:
    assert client.post(path, PAYMENT).status == 200


def test_an_answer_never_repeats_a_login(lenient: Client) -> None:
    password = login_of(lenient)["authentication.password"]

    answer = send_with_login(lenient, "body")

    assert password.encode() not in answer.body
    assert password.encode() not in lenient.get(f"/v1/payments/{answer.json['id']}").body


def login_of(client: Client) -> dict[str, str]:
    """A token is base64 of `userId|password`, so both name the same credential."""
    user_id, password = b64decode(client.token).decode().split("|")
    return {
        "authentication.userId": user_id,
        "authentication.password": password,
        "authentication.entityId": client.entity_id,
    }


def send_with_login(client: Client, place: str) -> Answer:
    login, payment = urlencode(login_of(client)), urlencode(PAYMENT)
    if place == "query":
        return client.send("POST", f"/v1/payments?{login}", payment)
    return client.send("POST", "/v1/payments", f"{payment}&{login}")


def send_body(client: Client, pairs: list[tuple[str, str]]) -> Answer:
    body = urlencode([("entityId", client.entity_id), *pairs])
    return client.send("POST", "/v1/payments", body, client.authorized())
