"""A brand is paid in its currencies, from its countries and with its fields: at the payment, at the checkout and in the
form. What the rows say of each brand is tested elsewhere.
"""

from __future__ import annotations

import pytest

from api import linking, scheduling
from api.chains import APPROVED, FAULTY, PENDING, result_of
from api.checking_out import STORING, prepare
from api.paying_forms import AT_SHOP, open_checkout, post, show
from api.registration_requests import IBAN, register, store
from api.server import SharedServer
from api.shoppers import PAYER, SHOP_URL, order
from gateway import Client

UNFIT = (400, "600.200.500")
JANE: dict[str, str | None] = {"customer.givenName": "Jane", "customer.surname": "Jones"}
EMAIL: dict[str, str | None] = {"customer.email": "jane@example.org"}
NUMBERS: dict[str, str | None] = {"customer.merchantCustomerId": "C-1001", "merchantTransactionId": "order-1001"}
SLIP: dict[str, str | None] = {**AT_SHOP, "paymentBrand": "BOLETO", "paymentType": "PA", "currency": "BRL"}
DOCUMENT = {"customer.identificationDocType": "TAXSTATEMENT", "customer.identificationDocId": "12345678909"}

NEEDS = [
    ("EPS", "DB", {"bankAccount.country": "AT"}, ["bankAccount.country"]),
    ("EFT", "DB", {"bankAccount.country": "ZA"}, ["bankAccount.country"]),
    ("SOFORTUEBERWEISUNG", "DB", {"bankAccount.country": "DE"}, ["bankAccount.country"]),
    (
        "IDEAL",
        "DB",
        {"bankAccount.country": "NL", "bankAccount.bankName": "ING"},
        ["bankAccount.country", "bankAccount.bankName"],
    ),
    ("GIROPAY", "DB", {"bankAccount.iban": IBAN}, ["bankAccount.iban"]),
    ("PRZELEWY", "DB", {**JANE, **EMAIL}, ["customer.email"]),
    (
        "TRUSTLY",
        "DB",
        {**JANE, **NUMBERS, "billing.country": "SE"},
        ["billing.country", "customer.merchantCustomerId", "merchantTransactionId"],
    ),
]


@pytest.fixture(scope="module")
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


def order_bare(
    client: Client, brand: str, payment_type: str, /, **fields: str | None
) -> tuple[tuple[int, str], list[str]]:
    sent = {"amount": "92.00", "currency": "EUR", "paymentType": payment_type, "paymentBrand": brand}
    answer = client.post("/v1/payments", {**sent, "shopperResultUrl": SHOP_URL, **fields})
    return result_of(answer), list(answer.faults)


# ---- fields ----


@pytest.mark.parametrize(("brand", "payment_type", "fields", "missing"), NEEDS)
def test_a_strict_channel_names_the_fields_that_a_brand_needs(
    client: Client, lenient: Client, brand: str, payment_type: str, fields: dict[str, str | None], missing: list[str]
) -> None:
    assert order_bare(client, brand, payment_type) == (FAULTY, missing)
    assert order_bare(client, brand, payment_type, **fields) == (PENDING, [])
    assert order_bare(lenient, brand, payment_type) == (PENDING, [])


def test_no_channel_starts_a_brand_without_what_its_provider_cannot_do_without(client: Client, lenient: Client) -> None:
    for each in (client, lenient):
        assert order_bare(each, "MBWAY", "DB") == (FAULTY, ["virtualAccount.accountId"])
        assert order_bare(each, "MBWAY", "DB", **{"virtualAccount.accountId": "351#911222111"}) == (PENDING, [])


@pytest.mark.parametrize(("brand", "payment_type", "fields", "missing"), [row for row in NEEDS if row[0] != "TRUSTLY"])
def test_the_form_brings_what_the_checkout_did_not(
    client: Client, lenient: Client, brand: str, payment_type: str, fields: dict[str, str | None], missing: list[str]
) -> None:
    sent = {"paymentBrand": brand}
    checkout_id = open_checkout(client, paymentBrand=brand, paymentType=payment_type)
    shown = show(client, checkout_id, brand).json["brands"][brand]

    refused = post(client, checkout_id, sent)

    assert shown["asks"] == missing
    assert (result_of(refused), list(refused.faults)) == (FAULTY, missing)
    assert post(client, checkout_id, {**sent, **fields}).code == PENDING[1]
    assert post(lenient, open_checkout(lenient), sent).code == PENDING[1]


def test_a_checkout_that_brings_everything_leaves_nothing_to_ask_for(client: Client) -> None:
    checkout_id = open_checkout(client, **JANE, **EMAIL)

    assert show(client, checkout_id, "PRZELEWY").json["brands"]["PRZELEWY"]["asks"] == []
    assert post(client, checkout_id, {"paymentBrand": "PRZELEWY"}).code == PENDING[1]


def test_a_bank_slip_asks_for_a_document_and_is_paid_with_it(client: Client) -> None:
    checkout_id = prepare(client, SLIP)

    assert show(client, checkout_id, "BOLETO").json["brands"]["BOLETO"]["asks"] == list(DOCUMENT)
    assert list(post(client, checkout_id, {"paymentBrand": "BOLETO"}).faults) == list(DOCUMENT)
    assert post(client, checkout_id, {"paymentBrand": "BOLETO", **DOCUMENT}).code == APPROVED[1]


def test_the_form_offers_the_countries_and_banks_of_a_brand(client: Client) -> None:
    shown = show(client, open_checkout(client), "IDEAL SOFORTUEBERWEISUNG PAYPAL").json["brands"]

    assert (shown["IDEAL"]["countries"], "Rabobank" in shown["IDEAL"]["banks"]) == (["NL"], True)
    assert {"AT", "DE"} < set(shown["SOFORTUEBERWEISUNG"]["countries"])
    assert (shown["PAYPAL"]["countries"], shown["PAYPAL"]["banks"]) == ([], [])


def test_a_checkout_for_a_brand_without_the_merchants_own_numbers_is_refused_at_once(
    client: Client, lenient: Client
) -> None:
    fields = {**AT_SHOP, **JANE, "paymentBrand": "TRUSTLY"}

    refused = client.post("/v1/checkouts", fields)

    assert (result_of(refused), list(refused.faults)) == (FAULTY, list(NUMBERS))
    checkout_id = prepare(client, {**fields, **NUMBERS})
    assert show(client, checkout_id, "TRUSTLY").json["brands"]["TRUSTLY"]["asks"] == ["billing.country"]
    assert post(client, checkout_id, {"paymentBrand": "TRUSTLY", "billing.country": "SE"}).code == PENDING[1]
    assert post(lenient, prepare(lenient, fields), {"paymentBrand": "TRUSTLY"}).code == PENDING[1]


def test_a_form_does_not_offer_a_brand_that_it_cannot_complete(client: Client, lenient: Client) -> None:
    body = show(client, open_checkout(client), "PAYPAL TRUSTLY").json

    assert (list(body["brands"]), list(body["leftOut"])) == (["PAYPAL"], ["TRUSTLY"])
    assert list(show(lenient, open_checkout(lenient), "PAYPAL TRUSTLY").json["brands"]) == ["PAYPAL", "TRUSTLY"]


def test_a_changed_checkout_keeps_the_conditions_of_its_brand(client: Client) -> None:
    checkout_id = open_checkout(client, paymentBrand="EPS")

    changed = client.post(f"/v1/checkouts/{checkout_id}", {"currency": "USD"})
    renamed = client.post(f"/v1/checkouts/{checkout_id}", {"paymentBrand": "TRUSTLY"})

    assert result_of(changed) == UNFIT
    assert (result_of(renamed), list(renamed.faults)) == (FAULTY, list(NUMBERS))
    assert list(show(client, checkout_id, "EPS").json["brands"]) == ["EPS"]


# ---- currencies and countries ----


@pytest.mark.parametrize(
    ("brand", "payment_type", "currency"),
    [
        ("EPS", "DB", "USD"),
        ("PRZELEWY", "DB", "USD"),
        ("TWINT", "DB", "EUR"),
        ("BOLETO", "PA", "EUR"),
        ("KNET", "DB", "EUR"),
        ("SIBS_MULTIBANCO", "DB", "BRL"),
    ],
)
def test_a_brand_is_paid_in_its_own_currencies_wherever_it_is_named(
    client: Client, lenient: Client, brand: str, payment_type: str, currency: str
) -> None:
    prepared = {**AT_SHOP, "currency": currency, "paymentType": payment_type}
    for each in (client, lenient):
        paid = order(each, brand, payment_type, **{**PAYER, **EMAIL, "currency": currency})
        assert result_of(paid) == UNFIT
        assert brand in paid.json["result"]["description"]
        assert result_of(each.post("/v1/checkouts", {**prepared, "paymentBrand": brand})) == UNFIT
        assert result_of(each.post(linking.PATH, {**prepared, "paymentBrand": brand})) == UNFIT
        checkout_id = prepare(each, prepared)
        body = show(each, checkout_id, f"PREPAYMENT PAYPAL {brand}").json
        assert (brand in body["brands"], body["leftOut"][brand].startswith(f"{brand} is paid in")) == (False, True)
        sent = {"paymentBrand": brand, **DOCUMENT, **EMAIL, "bankAccount.country": None}
        if brand == "EPS":
            sent["bankAccount.country"] = "AT"
        assert result_of(post(each, checkout_id, sent)) == UNFIT


@pytest.mark.parametrize(
    ("brand", "currency", "name", "fitting", "unfit"),
    [
        ("EPS", "EUR", "bankAccount.country", "AT", "DE"),
        ("POLI", "AUD", "bankAccount.country", "NZ", "GB"),
        ("AFTERPAY_PACIFIC", "AUD", "billing.country", "AU", "GB"),
    ],
)
def test_a_brand_is_paid_from_its_own_countries(
    client: Client, lenient: Client, brand: str, currency: str, name: str, fitting: str, unfit: str
) -> None:
    for each in (client, lenient):
        refused = order(each, brand, currency=currency, **{name: unfit})
        assert result_of(refused) == UNFIT
        assert name in refused.json["result"]["description"]
        assert result_of(order(each, brand, currency=currency, **{name: fitting})) == PENDING
        checkout_id = open_checkout(each, currency=currency)
        assert result_of(post(each, checkout_id, {"paymentBrand": brand, name: unfit})) == UNFIT
        assert post(each, checkout_id, {"paymentBrand": brand, name: fitting}).code == PENDING[1]


def test_a_checkout_that_knows_the_country_does_not_offer_a_brand_of_another(client: Client) -> None:
    known = {"bankAccount.country": "AT"}

    body = show(client, open_checkout(client, **known), "EPS IDEAL PAYPAL").json

    assert (list(body["brands"]), list(body["leftOut"])) == (["EPS", "PAYPAL"], ["IDEAL"])
    assert result_of(client.post("/v1/checkouts", {**AT_SHOP, **known, "paymentBrand": "IDEAL"})) == UNFIT


def test_a_payment_link_for_one_brand_keeps_its_conditions(client: Client) -> None:
    refused = linking.read_own_context(client, paymentBrand="TRUSTLY")

    assert (result_of(refused), list(refused.faults)) == (FAULTY, list(NUMBERS))
    checkout_id = linking.visit_new(client, paymentBrand="EPS").find_checkout()
    assert show(client, checkout_id, "EPS").json["brands"]["EPS"]["asks"] == ["bankAccount.country"]
    assert post(client, checkout_id, {"paymentBrand": "EPS", "bankAccount.country": "AT"}).code == PENDING[1]


# ---- stored accounts ----


def test_an_account_is_stored_with_its_own_fields_and_paid_with_the_others(client: Client, lenient: Client) -> None:
    account = {"paymentBrand": "PRZELEWY", "virtualAccount.accountId": "jane"}
    charge = {"amount": "12.00", "currency": "PLN", "paymentType": "DB", "shopperResultUrl": SHOP_URL}
    stored = register(client, account)
    path = f"/v1/registrations/{stored}/payments"

    refused = client.post(path, charge)

    assert (result_of(refused), list(refused.faults)) == (FAULTY, ["customer.email"])
    assert list(client.post("/v1/payments", {**charge, "registrationId": stored}).faults) == ["customer.email"]
    assert result_of(client.post(path, {**charge, **JANE, **EMAIL})) == PENDING
    assert result_of(client.post(path, {**charge, **JANE, **EMAIL, "currency": "USD"})) == UNFIT
    assert result_of(lenient.post(path, charge)) == PENDING


def test_an_account_in_another_country_than_the_brands_is_not_stored(client: Client) -> None:
    account = {"paymentBrand": "EPS", "bankAccount.iban": "AT611904300234573201"}

    assert list(store(client, account).faults) == ["bankAccount.country"]
    assert result_of(store(client, {**account, "bankAccount.country": "DE"})) == UNFIT
    assert store(client, {**account, "bankAccount.country": "AT"}).status == 200
    storing = {**STORING, "shopperResultUrl": SHOP_URL, "paymentBrand": "EPS", "bankAccount.country": "DE"}
    assert result_of(client.post("/v1/checkouts", storing)) == UNFIT


def test_a_form_offers_a_stored_account_only_where_it_can_be_paid_with(client: Client) -> None:
    stored = register(client, {"paymentBrand": "PRZELEWY", "virtualAccount.accountId": "jane"})
    offered: dict[str, str | None] = {"registrations[0].id": stored, "currency": "PLN"}

    def list_offered(**more: str | None) -> list[str]:
        body = show(client, open_checkout(client, **{**offered, **more}), "PRZELEWY").json
        return [each["id"] for each in body["registrations"]]

    assert list_offered() == []
    assert list_offered(**JANE, **EMAIL) == [stored]
    assert list_offered(**JANE, **EMAIL, currency="USD") == []


def test_a_schedule_of_bank_slips_has_the_document_of_its_payments(client: Client) -> None:
    stored = register(client, {"paymentBrand": "BOLETO", "bankAccount.number": "0532013000"})
    slips: dict[str, str | None] = {**scheduling.FAR, "paymentType": "PA", "currency": "BRL"}

    refused = scheduling.schedule(client, stored, slips)

    assert (result_of(refused), list(refused.faults)) == (FAULTY, list(DOCUMENT))
    assert result_of(scheduling.schedule(client, stored, {**slips, **PAYER, "currency": "EUR"})) == UNFIT
    assert scheduling.schedule(client, stored, {**slips, **PAYER}).status == 200
