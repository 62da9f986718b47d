"""Checkouts as a merchant makes and changes them: what is taken, what is refused by name, and what a change changes."""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from api.chains import FAULTY, result_of
from api.checking_out import PREPARED, STORING, ask, prepare
from api.merchants import wait_until
from api.paying_forms import AT_SHOP, BUSY, GONE, PAYPAL, SHOP_URL, open_checkout, pass_seconds, post, show
from api.registration_requests import BANK, register
from api.server import SharedServer
from gateway import Client

CREATED = (200, "000.200.100")
CHANGED = (200, "000.200.101")
CHECKOUT_ID = re.compile(r"[0-9A-F]{32}\.[a-z0-9-]+")

EVERYTHING = {
    **PREPARED,
    "shopperResultUrl": SHOP_URL,
    "createRegistration": "true",
    "overrideHolder": "true",
    "overridePaymentType[MASTER]": "PA",
    "descriptor": "Order 7",
    "merchantTransactionId": "everything-0001",
    "merchantInvoiceId": "invoice-0001",
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "customer.email": "jane@example.org",
    "customer.ip": "203.0.113.7",
    "billing.street1": "1 Main Street",
    "billing.city": "Paris",
    "billing.postcode": "75001",
    "billing.country": "FR",
    "shipping.city": "Paris",
    "cart.items[0].name": "Cup",
    "cart.items[0].price": "46.00",
    "cart.items[0].quantity": "2",
    "customParameters[SHOPPER_size]": "large",
    "integrity": "true",
}


def make(client: Client, fields: dict[str, str | None], headers: dict[str, str] | None = None) -> tuple[int, str]:
    return result_of(client.post("/v1/checkouts", fields, headers))


def change(client: Client, checkout_id: str, **fields: str | None) -> tuple[int, str]:
    return result_of(client.post(f"/v1/checkouts/{checkout_id}", fields))


# ---- making ----


@pytest.mark.both_databases
def test_amount_currency_and_type_are_enough(client: Client) -> None:
    answer = client.post("/v1/checkouts", PREPARED)

    body = answer.json
    assert result_of(answer) == CREATED
    assert CHECKOUT_ID.fullmatch(body["id"])
    assert len(body["id"]) != 32
    assert body["ndc"] == body["id"]
    assert set(body) == {"id", "result", "buildNumber", "timestamp", "ndc"}


def test_any_parameter_of_a_payment_is_taken_and_comes_back_with_the_payment(client: Client) -> None:
    made = client.post("/v1/checkouts", EVERYTHING)
    script = client.send("GET", f"/v1/paymentWidgets.js?checkoutId={quote(made.json['id'])}")

    assert result_of(made) == CREATED
    method, _, digest = made.json["integrity"].partition("-")
    assert (method, len(base64.b64decode(digest, validate=True))) == ("sha384", 48)
    assert script.headers["etag"] == f'"{made.json["integrity"]}"'
    assert post(client, made.json["id"]).code == "000.100.110"
    paid = ask(client, made.json["id"]).json
    assert (paid["merchantTransactionId"], paid["merchantInvoiceId"]) == ("everything-0001", "invoice-0001")
    assert paid["descriptor"].endswith("Order 7")
    assert paid["customer"] == {
        "givenName": "Jane",
        "surname": "Jones",
        "email": "jane@example.org",
        "ip": "203.0.113.7",
    }
    assert (paid["billing"]["city"], paid["cart"]["items"][0]["name"]) == ("Paris", "Cup")
    assert paid["customParameters"] == {"SHOPPER_size": "large"}
    assert len(paid["registrationId"]) == 32
    assert "integrity" not in paid


def test_without_being_asked_for_there_is_no_integrity(client: Client) -> None:
    assert "integrity" not in client.post("/v1/checkouts", {**PREPARED, "integrity": "false"}).json


def test_every_fault_is_named(client: Client) -> None:
    fields = {
        "amount": "92.0",
        "currency": "EURO",
        "paymentType": "CP",
        "billing.country": "France",
        "overridePaymentType[VISA]": "XX",
        "registrations[100].id": "8a" + "0" * 30,
        "createRegistration": "maybe",
        "customer.email": "nobody" * 30,
    }

    answer = client.post("/v1/checkouts", fields)

    assert result_of(answer) == FAULTY
    assert set(fields) - {"paymentType"} <= set(answer.faults)
    assert set(client.post("/v1/checkouts", {}).faults) == {"amount", "currency", "paymentType"}
    assert set(client.post("/v1/checkouts", {**PREPARED, "paymentType": "CP"}).faults) == {"paymentType"}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\tscript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://shop.example/1",
        "about:blank",
        "//shop.example/result",
        "/result",
        "https://shop.example/\r\nSet-Cookie: a=b",
        "https://",
    ],
)
def test_an_address_that_no_shopper_should_be_sent_to_is_refused(client: Client, url: str) -> None:
    answer = client.post("/v1/checkouts", {**PREPARED, "shopperResultUrl": url})
    from_form = post(client, prepare(client), {"paymentBrand": "PAYPAL", "shopperResultUrl": url})

    assert result_of(answer) == result_of(from_form) == FAULTY
    assert "shopperResultUrl" in answer.faults
    assert "shopperResultUrl" in from_form.faults


@pytest.mark.parametrize("url", ["com.example.shop://result", "http://127.0.0.1:3000/r?a=b#c"])
def test_apps_and_shops_may_be_sent_to_by_a_lenient_channel(lenient: Client, url: str) -> None:
    assert make(lenient, {**PREPARED, "shopperResultUrl": url}) == CREATED


@pytest.mark.parametrize("url", ["myshop://result", "com.example.shop://result"])
def test_a_strict_channel_sends_to_no_app_that_it_does_not_list(client: Client, url: str) -> None:
    answer = client.post("/v1/checkouts", {**PREPARED, "shopperResultUrl": url})

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["shopperResultUrl"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({**PREPARED, "amount": "0.00"}, "100.550.300"),
        ({**PREPARED, "amount": "10.50", "currency": "JPY"}, "100.550.303"),
        ({**PREPARED, "customParameters[forceResultCode]": "123.456.789"}, "200.300.404"),
        ({**PREPARED, "threeDSecure.eci": "99"}, "100.370.121"),
        ({**PREPARED, "paymentBrand": "IDEAL", "paymentType": "CD"}, "600.200.310"),
        ({**PREPARED, "paymentBrand": "DIRECTDEBIT_SEPA", "currency": "USD"}, "600.200.500"),
    ],
)
def test_what_could_never_be_paid_is_refused_before_a_shopper_meets_it(
    client: Client, fields: dict[str, str | None], code: str
) -> None:
    assert make(client, fields) == (400, code)


@pytest.mark.both_databases
def test_the_same_key_makes_one_checkout(client: Client) -> None:
    key = {"Idempotency-Key": "checkout-once"}
    one, other = client.post("/v1/checkouts", PREPARED, key), client.post("/v1/checkouts", PREPARED, key)

    assert one.json["id"] == other.json["id"]
    assert make(client, {**PREPARED, "amount": "93.00"}, key) == (409, "800.110.100")


def test_only_a_merchant_may(client: Client, stranger: Client) -> None:
    checkout_id = prepare(client)

    assert client.send("POST", "/v1/checkouts", "amount=92.00").status == 401
    assert client.send("GET", f"/v1/checkouts/{checkout_id}/payment").status == 401
    assert result_of(client.post("/v1/checkouts", {**PREPARED, "entityId": stranger.entity_id})) == (403, "800.900.201")


# ---- changing ----


@pytest.mark.both_databases
def test_what_is_changed_is_what_is_paid(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="changed-checkout", merchantMemo="first memo")

    answer = client.post(f"/v1/checkouts/{checkout_id}", {"amount": "17.50", "merchantMemo": "second memo"})

    assert result_of(answer) == CHANGED
    assert (answer.json["id"], answer.json["ndc"]) == (checkout_id, checkout_id)
    assert show(client, checkout_id).json["amount"] == "17.50"
    post(client, checkout_id)
    paid = ask(client, checkout_id).json
    assert (paid["amount"], paid["currency"], paid["merchantTransactionId"]) == ("17.50", "EUR", "changed-checkout")
    assert paid["merchantMemo"] == "second memo"


def test_faults_of_a_change_are_named_and_change_nothing(client: Client) -> None:
    checkout_id = open_checkout(client)

    answer = client.post(f"/v1/checkouts/{checkout_id}", {"amount": "1.0", "overridePaymentType[VISA]": "PA"})

    assert result_of(answer) == FAULTY
    assert set(answer.faults) == {"amount", "overridePaymentType[VISA]"}
    assert change(client, checkout_id, currency="JPY", amount="10.50") == (400, "100.550.303")
    assert show(client, checkout_id).json["amount"] == "92.00"


def test_who_may_not_see_a_checkout_may_not_change_it(client: Client, lenient: Client, stranger: Client) -> None:
    checkout_id = open_checkout(client)

    assert change(stranger, checkout_id, amount="1.00") == GONE
    assert change(lenient, checkout_id, amount="1.00") == GONE
    assert change(client, "0" * 32 + checkout_id[32:], amount="1.00") == GONE
    assert show(client, checkout_id).json["amount"] == "92.00"


@pytest.mark.both_databases
def test_what_is_paid_is_changed_by_nobody(client: Client) -> None:
    checkout_id = open_checkout(client)
    post(client, checkout_id)

    assert change(client, checkout_id, amount="1.00") == BUSY

    assert ask(client, checkout_id).json["amount"] == "92.00"
    assert change(client, checkout_id, amount="1.00") == GONE


@pytest.mark.both_databases
def test_what_is_being_paid_is_changed_by_nobody(server: SharedServer) -> None:
    client = server.external
    checkout_id = open_checkout(client, testMode="EXTERNAL")
    with ThreadPoolExecutor(1) as shopper, server.acquirer.hold():
        paid = shopper.submit(post, client, checkout_id)
        wait_until(lambda: show(client, checkout_id).json["state"] == "busy")

        assert change(client, checkout_id, amount="1.00") == BUSY
        assert result_of(post(client, checkout_id)) == BUSY
        assert show(client, checkout_id).json["state"] == "busy"
    assert paid.result().code == "000.100.112"


def test_a_change_may_make_a_payment_of_what_only_stored(client: Client) -> None:
    """An earlier failure to register is no longer reported."""
    checkout_id = prepare(client, {**STORING, "shopperResultUrl": SHOP_URL})
    declined = {**BANK, "bankAccount.bic": "DEUTDEFFXXX", "bankAccount.iban": "FR1420041010050500013M02606"}
    post(client, checkout_id, declined, kind="registration")

    assert change(client, checkout_id, **PREPARED) == CHANGED

    assert result_of(ask(client, checkout_id)) == (200, "000.200.000")
    assert result_of(ask(client, checkout_id, kind="registration")) == GONE
    assert post(client, checkout_id).code == "000.100.110"


@pytest.mark.both_databases
def test_a_change_is_made_once_for_its_key(client: Client) -> None:
    checkout_id, key = open_checkout(client), {"Idempotency-Key": "change-once"}
    path = f"/v1/checkouts/{checkout_id}"

    one, other = client.post(path, {"amount": "5.00"}, key), client.post(path, {"amount": "5.00"}, key)

    assert result_of(one) == result_of(other) == CHANGED
    assert result_of(client.post(path, {"amount": "6.00"}, key)) == (409, "800.110.100")


# ---- what the form receives ----


def test_the_form_learns_what_it_needs_and_no_more(client: Client, stranger: Client) -> None:
    mine, bank, theirs = register(client), register(client, BANK), register(stranger)
    offer = {"registrations[0].id": mine, "registrations[1].id": theirs, "registrations[2].id": bank}
    checkout_id = prepare(client, {**EVERYTHING, **offer, "merchantMemo": "our secret memo"})

    answer = show(client, checkout_id, "VISA MASTER PAYPAL DIRECTDEBIT_SEPA NOBODY APPLEPAY VISA")

    body = answer.json
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "no-store" in answer.headers["cache-control"]
    assert (body["id"], body["ndc"], body["kind"], body["state"]) == (checkout_id, checkout_id, "payment", "open")
    assert (body["amount"], body["currency"], body["isTest"], body["requiresCvv"]) == ("92.00", "EUR", True, False)
    assert (body["resultUrl"], body["returnUrl"]) == (SHOP_URL, None)
    assert list(body["brands"]) == ["VISA", "MASTER", "PAYPAL", "DIRECTDEBIT_SEPA", "APPLEPAY"]
    assert body["leftOut"] == {"NOBODY": "there is no brand of this name"}
    assert [each["id"] for each in body["registrations"]] == [mine, bank]
    assert body["registrations"][0]["last4"] == "0000"
    assert {"customer.email", "billing.city"} <= set(body["given"])
    for hidden in (b"jane@example.org", b"Main Street", b"203.0.113.7", b"our secret memo", b"everything-0001"):
        assert hidden not in answer.body
    for number in (b"DE89370400440532013000", b"4200000000000000", theirs.encode()):
        assert number not in answer.body


def test_a_brand_asks_for_what_is_not_given_yet(client: Client) -> None:
    bare, given = open_checkout(client), open_checkout(client, **{"bankAccount.holder": "Jane Jones"})

    codes = "DIRECTDEBIT_SEPA MBWAY IDEAL PAYPAL"
    shown = show(client, bare, codes).json["brands"]
    assert {code: row["asks"] for code, row in shown.items()} == {
        "DIRECTDEBIT_SEPA": ["bankAccount.holder", "bankAccount.iban"],
        "MBWAY": ["virtualAccount.accountId"],
        "IDEAL": ["bankAccount.country", "bankAccount.bankName"],
        "PAYPAL": [],
    }
    assert show(client, given, codes).json["brands"]["DIRECTDEBIT_SEPA"]["asks"] == ["bankAccount.iban"]


def test_a_form_that_is_shown_again_knows_that_all_is_paid(client: Client) -> None:
    checkout_id = open_checkout(client)
    post(client, checkout_id)

    body = show(client, checkout_id).json

    assert (body["state"], body["returnUrl"].startswith(f"{SHOP_URL}&id={checkout_id}")) == ("paid", True)
    assert (body["brands"], body["registrations"], "amount" in body) == ({}, [], False)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_shopper_who_paid_sees_that_even_when_the_checkout_is_over(client: Client, is_read: bool) -> None:
    """A shopper who reads that the checkout has ended would pay again."""
    paid, unpaid = open_checkout(client), open_checkout(client)
    post(client, paid)
    if is_read:
        ask(client, paid)
    else:
        pass_seconds(client, 31 * 60)
        assert result_of(show(client, unpaid)) == GONE

    body = show(client, paid).json

    assert (body["state"], body["returnUrl"].startswith(f"{SHOP_URL}&id={paid}")) == ("paid", True)
    assert result_of(post(client, paid)) == GONE


def test_what_cannot_be_stored_is_not_offered_where_something_is_to_be_stored(client: Client) -> None:
    codes = "VISA DIRECTDEBIT_SEPA PAYPAL SOFORTUEBERWEISUNG IDEAL PREPAYMENT MBWAY"
    stores, knows = (
        prepare(client, STORING),
        prepare(client, {**STORING, "virtualAccount.accountId": "jane@example.org"}),
    )

    assert list(show(client, stores, codes).json["brands"]) == ["VISA", "DIRECTDEBIT_SEPA", "MBWAY"]
    assert list(show(client, knows, codes).json["brands"]) == ["VISA", "DIRECTDEBIT_SEPA", "PAYPAL", "MBWAY"]


@pytest.mark.parametrize(
    "path", ["/v1/checkouts/{}/form?brands=VISA", "/v1/checkouts/{}/payment", "/v1/paymentWidgets.js"]
)
def test_a_page_whose_scripts_add_headers_may_call_all_the_same(client: Client, path: str) -> None:
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "GET"}
    asked |= {"Access-Control-Request-Headers": "traceparent"}

    answer = client.send("OPTIONS", path.format(open_checkout(client)), None, asked)

    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == answer.headers["access-control-allow-headers"] == "*"
    assert {"GET", "POST"} <= set(answer.headers["access-control-allow-methods"].split(", "))


def test_the_script_can_be_asked_about_without_being_fetched(client: Client) -> None:
    asked, fetched = [client.send(method, "/v1/paymentWidgets.js?checkoutId=x") for method in ("HEAD", "GET")]

    assert (asked.status, asked.body, len(fetched.body) > 1000) == (200, b"", True)
    assert asked.headers["content-length"] == str(len(fetched.body))
    assert client.send("OPTIONS", "/v1/payments").status == 405


def test_what_was_prepared_for_one_account_is_no_burden_to_another(client: Client) -> None:
    prepared = {**AT_SHOP, "bankAccount.country": "NL", "paymentBrand": "IDEAL", "card.holder": "Jane Jones"}

    assert post(client, prepare(client, prepared)).code == "000.100.110"
    assert post(client, prepare(client, prepared), PAYPAL).code == "000.200.000"
