"""Requests that name their merchant: rows choose the channel, and what exists already keeps its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from api.merchants import add_channel, add_merchant, run_command, wait_until
from gateway import PAYMENT, Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

CHECKOUT = {"amount": "92.00", "currency": "EUR", "paymentType": "DB"}
REGISTRATION = {name: value for name, value in PAYMENT.items() if name.startswith(("card.", "paymentBrand"))}
UNKNOWN_CHANNEL, CLOSED = "800.900.201", "500.100.203"


@dataclass(frozen=True)
class Shop:
    """A merchant of its own with two channels, named by the id of the merchant."""

    gateway: GatewayProcess
    client: Client
    first: Client
    second: Client
    closed: Client

    @contextmanager
    def dispatch(self, *rows: tuple[Client, str]) -> Iterator[None]:
        """Rows, each a channel and its conditions as flags, which the server knows once this begins."""
        # The first row refuses everything; once it is gone, the server knows all that came after it.
        barred = run_command(self.gateway, "dispatch", "add", self.closed.entity_id)
        made = [run_command(self.gateway, "dispatch", "add", each.entity_id, *text.split()) for each, text in rows]
        run_command(self.gateway, "dispatch", "remove", barred)
        wait_until(lambda: self.client.pay().code not in (UNKNOWN_CHANNEL, CLOSED))
        try:
            yield
        finally:
            for row_id in made:
                run_command(self.gateway, "dispatch", "remove", row_id)
            wait_until(lambda: self.client.pay().code == UNKNOWN_CHANNEL)

    def list_rows(self) -> list[dict[str, Any]]:
        shown = run_command(self.gateway, "dispatch", "list", "--json", "--merchant", self.client.entity_id)
        return list(json.loads(shown))


@pytest.fixture(scope="module")
def shop(gateway: GatewayProcess) -> Shop:
    first = add_merchant(gateway, "dispatched")
    wait_until(lambda: first.pay().status == 200)
    second = add_channel(gateway, first, "second")
    merchant_id = next(
        line.split()[2] for line in run_command(gateway, "channel", "list").splitlines() if first.entity_id in line
    )
    closed = add_channel(gateway, first, "closed")
    run_command(gateway, "channel", "set", closed.entity_id, "--closed")
    wait_until(lambda: closed.pay().code == CLOSED)
    return Shop(gateway, replace(first, entity_id=merchant_id), first, second, closed)


def read_channel(shop: Shop, answer: Answer) -> str:
    """The channel by which a payment is found."""
    assert answer.status == 200, answer.json
    reference = answer.json["id"]
    found = [each for each in (shop.first, shop.second) if each.get(f"/v1/query/{reference}").status == 200]
    assert len(found) == 1
    return "first" if found[0] == shop.first else "second"


def explain(answer: Answer) -> tuple[int, str, str]:
    return answer.status, answer.code, answer.json["result"]["description"]


def test_a_fresh_sandbox_dispatches_to_its_strict_channel(client: Client, lenient: Client) -> None:
    merchant = replace(client, entity_id=client.merchant_id)
    paid = merchant.pay()
    assert paid.status == 200
    assert paid.json["ndc"].startswith(f"{client.entity_id}_")
    assert client.get(f"/v1/query/{paid.json['id']}").status == 200
    assert lenient.get(f"/v1/query/{paid.json['id']}").status == 400
    assert merchant.pay(paymentBrand="visa-electron").faults, "the strict channel reads it"


def test_without_rows_the_merchants_id_is_no_entity(shop: Shop) -> None:
    status, code, text = explain(shop.client.pay())
    assert (status, code) == (403, UNKNOWN_CHANNEL)
    assert "no dispatch rows" in text
    assert shop.first.pay().status == 200


def test_the_merchants_id_of_somebody_else_is_unknown(shop: Shop, client: Client) -> None:
    with shop.dispatch((shop.first, "")):
        stranger = replace(shop.client, token=client.token)
        assert explain(stranger.pay())[:2] == (403, UNKNOWN_CHANNEL)
        assert "no dispatch rows" not in explain(stranger.pay())[2]


def test_rows_choose_by_what_the_payment_tells_and_channel_ids_keep_working(shop: Shop) -> None:
    with shop.dispatch(
        (shop.second, "--currencies USD --amount-min 100.00"),
        (shop.second, "--bins 5454 --payment-types PA"),
        (shop.second, "--countries AT"),
        (shop.first, ""),
    ):
        pay = shop.client.pay
        assert read_channel(shop, pay()) == "first"
        assert read_channel(shop, pay(currency="USD", amount="100.00")) == "second"
        assert read_channel(shop, pay(currency="USD", amount="99.99")) == "first"
        master = {"paymentBrand": "MASTER", "card__number": "5454545454545454"}
        assert read_channel(shop, pay(**master, paymentType="PA")) == "second"
        assert read_channel(shop, pay(**master)) == "first"
        assert read_channel(shop, pay(billing__country="AT")) == "second"
        assert read_channel(shop, pay(billing__country="DE", shipping__country="AT")) == "first"
        assert read_channel(shop, shop.second.pay()) == "second"
        assert read_channel(shop, shop.first.pay(currency="USD", amount="100.00")) == "first"


def test_what_fits_no_row_is_told_what_the_nearest_one_asks_for(shop: Shop) -> None:
    with shop.dispatch((shop.first, "--currencies USD --brands AMEX"), (shop.second, "--currencies GBP,USD")):
        assert explain(shop.client.pay())[:2] == (400, "600.200.500")
        assert "row 2, the nearest, asks for another currency: currencies GBP,USD" in explain(shop.client.pay())[2]
        assert "42" not in explain(shop.client.pay())[2].rpartition("row 2")[2]
    with shop.dispatch((shop.first, "--payment-types PA")):
        assert shop.client.pay().code == "600.200.202"
    with shop.dispatch((shop.first, "--amount-max 10.00")):
        assert shop.client.pay().code == "600.200.201"


def test_a_checkout_has_no_brand_yet_and_passes_a_row_that_asks_for_one(shop: Shop) -> None:
    with shop.dispatch((shop.second, "--brands VISA"), (shop.first, "")):
        made = shop.client.post("/v1/checkouts", CHECKOUT)
        assert made.status == 200
        read = f"/v1/checkouts/{made.json['id']}/payment"
        assert "another entityId" in explain(shop.second.get(read))[2]
        assert shop.client.get(read).code == "000.200.000"
        updated = shop.client.post(f"/v1/checkouts/{made.json['id']}", {"amount": "5.00"})
        assert updated.code == "000.200.101"
        assert (
            shop.client.send(
                "DELETE",
                f"/v1/checkouts/{made.json['id']}?entityId={shop.client.entity_id}",
                None,
                shop.client.authorized(),
            ).status
            == 200
        )
    with shop.dispatch((shop.second, "--brands VISA")):
        assert shop.client.post("/v1/checkouts", CHECKOUT).code == "600.200.500"


def test_follow_ups_and_reads_use_the_channel_of_the_payment(shop: Shop) -> None:
    with shop.dispatch((shop.second, "--currencies USD"), (shop.first, "--currencies EUR")):
        held = shop.client.pay(paymentType="PA", currency="USD").json["id"]
        money = {"amount": "92.00", "currency": "USD"}
        assert shop.client.get(f"/v1/payments/{held}").json["id"] == held
        assert shop.client.get(f"/v1/query/{held}").json["id"] == held
        captured = shop.client.post(f"/v1/payments/{held}", {**money, "paymentType": "CP"})
        assert read_channel(shop, captured) == "second"
        refunded = shop.client.post(
            "/v1/payments", {**money, "paymentType": "RF", "referenceUuid": captured.json["id"]}
        )
        assert read_channel(shop, refunded) == "second"
        # What is about a currency that no row takes follows its payment all the same.
        other = shop.second.pay(paymentType="PA", currency="GBP").json["id"]
        reversed_ = shop.client.post(f"/v1/payments/{other}", {"paymentType": "RV"})
        assert read_channel(shop, reversed_) == "second"
        unknown = "8a" + "0" * 30
        assert explain(shop.client.post(f"/v1/payments/{unknown}", {"paymentType": "RV"})) == explain(
            shop.second.post(f"/v1/payments/{unknown}", {"paymentType": "RV"})
        )


def test_a_search_by_the_merchants_id_finds_payments_of_all_channels_in_one_order(shop: Shop) -> None:
    with shop.dispatch((shop.second, "--currencies USD"), (shop.first, "")):
        made = [
            shop.client.pay(currency=currency, merchantTransactionId="across-channels").json["id"]
            for currency in ("USD", "EUR", "USD", "EUR", "EUR")
        ]
        wanted = {"merchantTransactionId": "across-channels", "limit": "2"}
        first = shop.client.get("/v3/query", wanted).json
        assert [each["id"] for each in first["records"]] == made[:2]
        assert first["pages"] == 3
        second = shop.client.get("/v3/query", {**wanted, "pageNo": "2"}).json
        assert [each["id"] for each in second["records"]] == made[2:4]
        led = shop.client.get("/v3/query", {**wanted, "cursor": second["cursor"]}).json
        assert [each["id"] for each in led["records"]] == made[4:]
        one = shop.second.get("/v3/query", wanted).json
        assert [each["id"] for each in one["records"]] == [made[0], made[2]]
        limited = run_command(shop.gateway, "token", "add", shop.client.entity_id, "--channels", shop.first.entity_id)
        narrow = replace(shop.client, token=limited)
        wait_until(lambda: narrow.get("/v3/query", wanted).status == 200)
        found = narrow.get("/v3/query", {"merchantTransactionId": "across-channels"}).json["records"]
        assert [each["id"] for each in found] == [made[1], made[3], made[4]]


def test_a_registration_tells_its_brand_and_keeps_its_channel(shop: Shop) -> None:
    with shop.dispatch(
        (shop.second, "--payment-types RG"), (shop.second, "--bins 4200 --amount-min 50.00"), (shop.first, "")
    ):
        stored = shop.client.post("/v1/registrations", REGISTRATION).json["id"]
        pays = f"/v1/registrations/{stored}/payments"
        assert read_channel(shop, shop.client.post(pays, CHECKOUT)) == "second"
        assert read_channel(shop, shop.client.post(pays, {**CHECKOUT, "amount": "49.99"})) == "first"
        assert shop.client.get(f"/v1/registrations/{stored}").json["id"] == stored
        job = {"registrationId": stored, "amount": "60.00", "currency": "EUR", "paymentType": "DB"}
        plan = {"job.second": "0", "job.minute": "0", "job.hour": "0", "job.dayOfMonth": "1", "job.month": "*"}
        plan |= {"job.dayOfWeek": "?", "job.year": "*"}
        planned = shop.client.post("/scheduling/v1/schedules", {**job, **plan})
        assert planned.status == 200, planned.json
        path = f"/scheduling/v1/schedules/{planned.json['id']}"
        assert shop.client.get(path).status == 200
        assert shop.client.post(f"{path}/deschedule", {}).status == 200


def test_a_payment_link_keeps_its_channel(shop: Shop) -> None:
    with shop.dispatch((shop.second, "--amount-min 50.00"), (shop.first, "")):
        link = shop.client.post("/paybylink/v1", CHECKOUT | {"merchant.name": "Shop"})
        assert link.status == 200, link.json
        path = f"/paybylink/v1/{link.json['id']}"
        assert shop.client.get(path).status == 200
        assert "another entityId" in explain(shop.first.get(path))[2]


def test_a_token_for_one_channel_is_not_dispatched_to_another(shop: Shop) -> None:
    token = run_command(shop.gateway, "token", "add", shop.client.entity_id, "--channels", shop.second.entity_id)
    narrow = replace(shop.client, token=token)
    with shop.dispatch((shop.first, "--currencies EUR"), (shop.second, "")):
        wait_until(lambda: narrow.pay(currency="USD").status == 200)
        assert explain(narrow.pay())[:2] == (403, UNKNOWN_CHANNEL)
        foreign = shop.client.pay().json["id"]
        refund = {"paymentType": "RF", "amount": "1.00", "currency": "EUR"}
        assert narrow.post(f"/v1/payments/{foreign}", refund).status == 404
        checkout = shop.client.post("/v1/checkouts", CHECKOUT).json["id"]
        assert "another entityId" in explain(narrow.get(f"/v1/checkouts/{checkout}/payment"))[2]


def test_a_closed_channel_refuses_what_its_row_takes(shop: Shop) -> None:
    third = add_channel(shop.gateway, shop.first, "third")
    with shop.dispatch((third, "--currencies USD"), (shop.first, "")):
        assert shop.client.pay(currency="USD").status == 200
        run_command(shop.gateway, "channel", "set", third.entity_id, "--closed")
        wait_until(lambda: shop.client.pay(currency="USD").code == CLOSED)
        assert shop.client.pay().status == 200


def test_a_repeated_request_stays_on_its_channel_when_the_rows_change(shop: Shop) -> None:
    key = {"Idempotency-Key": "moved-meanwhile"}
    with shop.dispatch((shop.first, "")):
        paid = shop.client.pay(key, merchantTransactionId="moved-order")
        prepared = shop.client.post("/v1/checkouts", CHECKOUT, {"Idempotency-Key": "moved-checkout"})
    with shop.dispatch((shop.second, "")):
        again = shop.client.pay(key, merchantTransactionId="moved-order")
        assert (again.json["id"], again.headers.get("idempotency-replayed")) == (paid.json["id"], "true")
        repeated = shop.client.post("/v1/checkouts", CHECKOUT, {"Idempotency-Key": "moved-checkout"})
        assert repeated.json["id"] == prepared.json["id"]
        assert shop.client.pay(key, merchantTransactionId="another-order").status == 409
        found = shop.client.get("/v1/query", {"merchantTransactionId": "moved-order"}).json["payments"]
        assert [each["id"] for each in found] == [paid.json["id"]]
    with shop.dispatch((shop.second, "--currencies USD")):
        assert shop.client.pay(key, merchantTransactionId="moved-order").json["id"] == paid.json["id"]


def test_a_key_of_a_refused_request_is_free_for_another_channel(shop: Shop) -> None:
    key = {"Idempotency-Key": "refused-first"}
    with shop.dispatch((shop.second, "--currencies USD"), (shop.first, "")):
        assert shop.client.pay(key, amount="x").faults
        assert read_channel(shop, shop.client.pay(key, currency="USD")) == "second"


def test_of_many_at_once_under_one_key_one_pays(shop: Shop) -> None:
    key = {"Idempotency-Key": "at-once"}
    with shop.dispatch((shop.first, "")), ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: shop.client.pay(key, merchantTransactionId="order-at-once"), range(8)))
        assert {answer.status for answer in answers} <= {200, 409}
        found = shop.client.get("/v1/query", {"merchantTransactionId": "order-at-once"}).json["payments"]
        assert len(found) == 1


def test_rows_are_listed_moved_and_removed(shop: Shop) -> None:
    with shop.dispatch((shop.first, ""), (shop.second, "--currencies USD --hours 22-06")):
        first, second = shop.list_rows()
        assert (second["place"], second["channel"], second["hours"]) == (2, shop.second.entity_id, "22-06")
        run_command(shop.gateway, "dispatch", "move", second["id"], "1")
        assert [row["id"] for row in shop.list_rows()] == [second["id"], first["id"]]
        run_command(shop.gateway, "dispatch", "move", second["id"], "99")
        assert [row["id"] for row in shop.list_rows()] == [first["id"], second["id"]]
    assert shop.list_rows() == []
    with pytest.raises(RuntimeError, match="--currencies: not a currency"):
        run_command(shop.gateway, "dispatch", "add", shop.first.entity_id, "--currencies", "EURO")
