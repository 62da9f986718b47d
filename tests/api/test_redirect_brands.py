"""Brands with a page of their own: the shopper approves, declines, cancels or walks away, and the shop learns of it."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import pytest

from api.chains import (
    APPROVED,
    FAULT,
    FAULTY,
    FORCE,
    PENDING,
    advance,
    capture,
    happen,
    list_payments,
    name,
    read,
    refund,
    result_of,
    reverse,
    wait_until_final,
)
from api.merchants import wait_until
from api.shoppers import (
    PAYER,
    SHOP_URL,
    come_back,
    decide,
    find_way_back,
    open_order,
    order,
    press,
    read_query,
    see_page,
)
from gateway import Client, GatewayProcess

TRANSFERS = ("SOFORTUEBERWEISUNG", "IDEAL", "GIROPAY", "EPS")
WALLETS = ("PAYPAL", "TRUSTLY", "KLARNA_PAYMENTS_PAYLATER")
PREPAYMENTS = ("PREPAYMENT", "BOLETO")

PHONE = "351#911222111"
MINUTE_S = 60

REFUSED = (400, "800.100.152")
CANCELLED = (400, "100.396.101")
EXPIRED = (400, "100.396.103")
UNFINISHED = (400, "100.395.501")


# ---- the way there and back ----


@pytest.mark.both_databases
@pytest.mark.parametrize("brand", [*TRANSFERS, *WALLETS])
def test_a_brand_with_a_page_is_pending_until_its_shopper_approved(client: Client, brand: str) -> None:
    answer = open_order(client, brand)

    forward = answer.json["redirect"]
    assert set(forward) == {"url", "method", "parameters"}
    assert forward["url"].startswith(client.base_url)
    page = see_page(client, answer)
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert b"92.00 EUR" in page.body

    url = decide(client, answer, "approve")

    payment_id = answer.json["id"]
    assert url.startswith(f"{SHOP_URL}?")
    assert read_query(url) == {"id": payment_id, "resourcePath": f"/v1/payments/{payment_id}"}
    final = client.get(read_query(url)["resourcePath"])
    assert result_of(final) == APPROVED
    assert "redirect" not in final.json


def test_shops_meet_pages_that_are_linked_and_pages_that_are_posted_to(client: Client) -> None:
    methods = {brand: open_order(client, brand).json["redirect"] for brand in ("PAYPAL", "GIROPAY")}

    assert (methods["PAYPAL"]["method"], methods["PAYPAL"]["parameters"]) == ("GET", [])
    assert methods["GIROPAY"]["method"] == "POST"
    assert all(set(field) == {"name", "value"} for field in methods["GIROPAY"]["parameters"])


@pytest.mark.parametrize(("button", "ending"), [("decline", REFUSED), ("cancel", CANCELLED)])
@pytest.mark.parametrize("brand", ["PAYPAL", "IDEAL"])
def test_a_shopper_may_say_no(client: Client, brand: str, button: str, ending: tuple[int, str]) -> None:
    answer = open_order(client, brand)

    url = decide(client, answer, button)

    assert read_query(url)["id"] == answer.json["id"]
    assert result_of(read(client, answer)) == ending


@pytest.mark.both_databases
@pytest.mark.parametrize(("brand", "ending"), [("PAYPAL", EXPIRED), ("IDEAL", UNFINISHED)])
def test_a_shopper_who_walks_away_ends_the_payment(client: Client, brand: str, ending: tuple[int, str]) -> None:
    answer = open_order(client, brand)
    advance(client, 29 * MINUTE_S)
    assert result_of(read(client, answer)) == PENDING

    advance(client, 2 * MINUTE_S)

    assert result_of(wait_until_final(client, answer)) == ending
    assert b"Nobody decided in time" in press(client, answer, "approve").body
    assert result_of(read(client, answer)) == ending


@pytest.mark.both_databases
def test_a_shopper_who_approves_and_never_comes_back_has_paid(client: Client) -> None:
    answer = open_order(client, "PAYPAL")
    press(client, answer, "approve")

    advance(client, MINUTE_S)

    assert result_of(wait_until_final(client, answer)) == APPROVED


@pytest.mark.both_databases
def test_coming_back_twice_leads_to_the_same_place(client: Client) -> None:
    answer = open_order(client, "PAYPAL")
    way_back = find_way_back(press(client, answer, "approve"))

    places = {come_back(client, way_back) for _ in range(3)}

    assert len(places) == 1
    assert result_of(read(client, answer)) == APPROVED


def test_a_return_that_was_made_up_proves_nothing(client: Client) -> None:
    answer, other = open_order(client, "PAYPAL"), open_order(client, "PAYPAL")
    shopper_token = find_way_back(press(client, other, "approve")).rpartition("/")[2]
    forged = forge_shopper_token(shopper_token, answer.json["id"])

    # It leads to the shop, which asks for the status and learns that there is no decision yet.
    assert read_query(come_back(client, f"/v1/shopper/{forged}"))["id"] == answer.json["id"]
    assert result_of(read(client, answer)) == PENDING

    decide(client, answer, "decline")
    assert result_of(read(client, answer)) == REFUSED


def forge_shopper_token(shopper_token: str, payment_id: str) -> str:
    """One shopper token shows how all are made; they are addresses and no proof."""
    known = base64.urlsafe_b64decode(shopper_token + "=" * (-len(shopper_token) % 4))
    return base64.urlsafe_b64encode(known[:16] + bytes.fromhex(payment_id)).rstrip(b"=").decode()


@pytest.mark.parametrize("shopper_token", ["AAAA", "x" * 43, "x" * 500])
def test_a_return_to_nothing_ends_on_a_page(client: Client, shopper_token: str) -> None:
    reply = client.send("GET", f"/v1/shopper/{shopper_token}")

    assert (reply.status, reply.headers["content-type"][:9]) == (404, "text/html")


@pytest.mark.both_databases
def test_a_second_decision_changes_nothing(client: Client) -> None:
    answer = open_order(client, "PAYPAL")
    decide(client, answer, "cancel")

    again = press(client, answer, "approve")

    assert b"Called off" in again.body
    come_back(client, find_way_back(again))
    assert result_of(read(client, answer)) == CANCELLED


def test_the_page_of_another_is_not_found_by_guessing(client: Client) -> None:
    answer = open_order(client, "PAYPAL")
    path = urlsplit(answer.json["redirect"]["url"]).path
    guess = path[:-8] + "00000000"

    for method in ("GET", "POST"):
        reply = client.send(method, guess, "decision=approve" if method == "POST" else None)
        assert (reply.status, reply.headers["content-type"][:9]) == (404, "text/html")
    assert result_of(read(client, answer)) == PENDING


# ---- where the shopper comes back to ----


@pytest.mark.parametrize(
    "url", ["https://shop.example/back?order=7&lang=de", "http://localhost:3000/", "com.shop.app://paid"]
)
def test_the_address_of_the_shop_is_kept_and_added_to(client: Client, lenient: Client, url: str) -> None:
    # A strict channel sends to apps only if it lists their scheme.
    caller = client if url.startswith("http") else lenient
    answer = open_order(caller, "PAYPAL", shopperResultUrl=url)

    back = decide(caller, answer, "approve")

    own = {key: value for key, value in read_query(back).items() if key not in ("id", "resourcePath")}
    assert back.startswith(url)
    assert own == (read_query(url) if "?" in url else {})
    assert read_query(back)["id"] == answer.json["id"]


@pytest.mark.parametrize("brand", [*TRANSFERS, *WALLETS])
def test_without_an_address_to_come_back_to_nothing_begins(client: Client, brand: str) -> None:
    answer = order(client, brand, shopperResultUrl=None)

    assert result_of(answer) == FAULTY
    assert "shopperResultUrl" in answer.faults


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "javascript://%0aalert(1)", "data:text/html,x", "/back", "back"]
)
def test_an_address_that_leads_nowhere_good_is_refused(client: Client, url: str) -> None:
    answer = order(client, "PAYPAL", shopperResultUrl=url)

    assert result_of(answer) == FAULTY
    assert set(answer.faults) == {"shopperResultUrl"}


# ---- what brands require and report ----


def test_a_transfer_answers_the_shoppers_bank_account_by_its_ends(client: Client) -> None:
    answer = open_order(client, "SOFORTUEBERWEISUNG", **{"bankAccount.country": "DE"})
    assert answer.json["bankAccount"] == {"country": "DE"}

    decide(client, answer, "approve")

    bank = read(client, answer).json["bankAccount"]
    assert set(bank) >= {"holder", "iban", "bic", "bankName", "country"}
    assert bank["iban"] == "DE23**************7890"


def test_a_bank_account_is_not_echoed_in_full(client: Client) -> None:
    iban = "DE75512108001245126199"

    answer = open_order(client, "GIROPAY", **{"bankAccount.iban": iban, "bankAccount.holder": "Jane Jones"})

    assert iban.encode() not in answer.body
    assert iban.encode() not in see_page(client, answer).body


@pytest.mark.parametrize("sent", ["jane@example.com", None])
def test_a_wallet_answers_the_account_that_paid(client: Client, sent: str | None) -> None:
    answer = open_order(client, "PAYPAL", **{"virtualAccount.accountId": sent})
    if sent:
        assert answer.json["virtualAccount"] == {"accountId": sent}

    decide(client, answer, "approve")

    paid_from = read(client, answer).json["virtualAccount"]
    assert paid_from == {"accountId": sent or "shopper@example.com", "holder": "Test Holder"}


def test_a_brand_that_calls_its_shopper_needs_to_know_whom(client: Client) -> None:
    answer = open_order(client, "MBWAY", **{"virtualAccount.accountId": PHONE})
    assert answer.json["virtualAccount"] == {"accountId": PHONE}

    missing = order(client, "MBWAY")

    assert result_of(missing) == FAULTY
    assert "virtualAccount.accountId" in missing.faults


@pytest.mark.parametrize(
    ("brand", "payment_type"),
    [("IDEAL", "PA"), ("GIROPAY", "CD"), ("PAYPAL", "CD"), ("PREPAYMENT", "DB"), ("BOLETO", "CD")],
)
def test_a_type_that_a_method_does_not_know_is_refused(client: Client, brand: str, payment_type: str) -> None:
    assert result_of(order(client, brand, payment_type, **PAYER)) == (400, "600.200.310")


# ---- what follows ----


@pytest.mark.both_databases
def test_an_approved_transfer_can_be_given_back(client: Client) -> None:
    answer = open_order(client, "IDEAL")
    assert result_of(refund(client, answer.json["id"], "10.00")) == (400, "700.400.570")
    decide(client, answer, "approve")

    assert result_of(refund(client, answer.json["id"], "60.00")) == APPROVED
    assert result_of(refund(client, answer.json["id"], "60.00")) == (400, "700.400.200")
    assert result_of(refund(client, answer.json["id"], "32.00")) == APPROVED


def test_a_refused_payment_has_nothing_to_give_back(client: Client) -> None:
    answer = open_order(client, "PAYPAL")
    decide(client, answer, "decline")

    assert result_of(refund(client, answer.json["id"], "10.00")) == (400, "700.400.520")


@pytest.mark.both_databases
def test_an_authorization_at_a_provider_is_captured_or_reversed(client: Client) -> None:
    captured, reversed_ = open_order(client, "PAYPAL", "PA"), open_order(client, "KLARNA_PAYMENTS_PAYLATER", "PA")
    decide(client, captured, "approve")
    decide(client, reversed_, "approve")

    capture_id = name(capture(client, captured.json["id"], "60.00"))

    assert result_of(refund(client, capture_id, "60.00")) == APPROVED
    assert result_of(reverse(client, reversed_.json["id"])) == APPROVED


@pytest.mark.both_databases
@pytest.mark.parametrize("brand", PREPAYMENTS)
def test_a_prepayment_answers_where_to_pay_and_is_completed_by_a_receipt(client: Client, brand: str) -> None:
    answer = order(client, brand, "PA", **PAYER, shopperResultUrl=None)
    assert result_of(answer) == APPROVED
    assert set(answer.json["bankAccount"]) == {"holder", "iban", "bic", "bankName"}
    details = answer.json["resultDetails"]
    assert details["PaymentReference"] in answer.json["descriptor"]
    assert details["DueDate"]
    assert ("Barcode" in details) is (brand == "BOLETO")
    assert read(client, answer).json["bankAccount"] == answer.json["bankAccount"]

    currency = answer.json["currency"]
    receipt = happen(client, answer.json["id"], "RC", "92.00", currency=currency)

    assert result_of(receipt) == APPROVED
    assert result_of(refund(client, receipt.json["id"], "92.00", currency=currency)) == APPROVED


def test_a_prepayment_that_nobody_wants_any_more_is_reversed(client: Client) -> None:
    answer = order(client, "PREPAYMENT", "PA")

    assert result_of(reverse(client, answer.json["id"])) == APPROVED
    assert result_of(happen(client, answer.json["id"], "RC", "92.00", currency="EUR"))[0] == 400


# ---- trouble ----


@pytest.mark.parametrize("fault", ["lost", "dropped", "garbled"])
def test_a_provider_that_falls_silent_at_the_opening_ends_the_payment(client: Client, fault: str) -> None:
    reference = f"silent-{fault}-opening"

    answer = order(client, "PAYPAL", merchantTransactionId=reference, **{FAULT: fault})

    assert result_of(answer) == (400, "900.100.300")
    assert "redirect" not in answer.json
    wait_until(lambda: len(list_payments(client, reference)) == 2)
    kinds = {row["paymentType"]: row["result"]["code"] for row in list_payments(client, reference)}
    assert kinds == {"DB": "900.100.300", "RV": "000.100.110"}


def test_a_provider_that_was_never_reached_owes_nothing(client: Client) -> None:
    answer = order(client, "PAYPAL", merchantTransactionId="unsent-opening", **{FAULT: "unsent"})

    assert result_of(answer) == (400, "900.100.600")
    assert len(list_payments(client, "unsent-opening")) == 1


@pytest.mark.parametrize(
    ("code", "status"), [("800.100.151", 400), ("000.100.110", 200), ("100.396.106", 400), ("000.400.000", 200)]
)
def test_a_forced_result_needs_no_shopper(client: Client, code: str, status: int) -> None:
    answer = order(client, "PAYPAL", **{FORCE: code})

    assert result_of(answer) == (status, code)
    assert "redirect" not in answer.json


@pytest.mark.both_databases
def test_the_same_key_gets_the_same_page(client: Client) -> None:
    fields = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", "paymentBrand": "PAYPAL"}
    key = {"Idempotency-Key": "one-page-for-one-key"}

    answers = [client.post("/v1/payments", {**fields, "shopperResultUrl": SHOP_URL}, key) for _ in range(2)]

    assert answers[0].body == answers[1].body
    assert answers[0].json["redirect"]["url"]


def test_secret_addresses_are_in_no_log(client: Client, gateway: GatewayProcess) -> None:
    answer = open_order(client, "PAYPAL")
    way_back = find_way_back(press(client, answer, "approve"))
    come_back(client, way_back)

    secret = answer.json["redirect"]["url"].rpartition("-")[2]
    wait_until(lambda: "shopper_arrives" in gateway.log_path.read_text())
    log = gateway.log_path.read_text()
    assert secret not in log
    assert way_back.rpartition("/")[2] not in log
