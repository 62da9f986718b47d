"""Reports over HTTP: one payment or its chain, lists by reference and by dates, pages by number and by cursor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from api.chains import authorise, capture, debit, name, refund
from api.merchants import add_channel
from gateway import Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

REFERENCE = "order-of-reports"


@dataclass(frozen=True)
class Shop:
    """A channel of its own with a chain of three, then four debits; all but the captures have one reference."""

    client: Client
    ids: list[str]
    """The types are, oldest first: PA, CP, RF, DB, DB, DB, DB."""
    first_day: str
    last_day: str

    @property
    def dates(self) -> dict[str, str]:
        return {"date.from": self.first_day, "date.to": self.last_day}


@pytest.fixture(scope="module")
def shop(gateway: GatewayProcess, client: Client) -> Shop:
    merchant = add_channel(gateway, client, "Reports")
    authorised = authorise(merchant, "90.00", merchantTransactionId=REFERENCE)
    captured = name(capture(merchant, authorised, "30.00", merchantTransactionId="capture-of-reports"))
    refunded = name(refund(merchant, captured, "10.00", merchantTransactionId="refunded-of-reports"))
    debits = [debit(merchant, f"{n}.00", merchantTransactionId=REFERENCE) for n in range(1, 5)]
    days = [merchant.get(f"/v1/query/{payment_id}").json["timestamp"][:10] for payment_id in (authorised, debits[-1])]
    return Shop(merchant, [authorised, captured, refunded, *debits], *days)


def ids(answer: Answer, key: str = "payments") -> list[str]:
    assert answer.status == 200, answer.body
    return [row["id"] for row in answer.json[key]]


# ---- by id ----


def test_any_transaction_of_a_chain_is_reported_with_the_whole_chain_on_request(shop: Shop) -> None:
    for payment_id in shop.ids[:3]:
        plain = shop.client.get(f"/v1/query/{payment_id}")
        linked = shop.client.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"})

        assert plain.json == shop.client.get(f"/v1/payments/{payment_id}").json
        assert ids(linked) == shop.ids[:3]
        assert [row["paymentType"] for row in linked.json["payments"]] == ["PA", "CP", "RF"]
        assert linked.json == {**plain.json, "payments": linked.json["payments"]}


def test_the_newer_report_on_one_payment_is_a_list(shop: Shop) -> None:
    captured = shop.ids[1]

    alone = shop.client.get(f"/v3/query/{captured}")
    linked = shop.client.get(f"/v3/query/{captured}", {"includeLinkedTransactions": "true"})
    narrowed = {"includeLinkedTransactions": "true", "paymentTypes": "RF,PA", "paymentMethods": "CC,DC"}

    assert alone.json["result"]["code"] == "000.000.100"
    assert (ids(alone), alone.json["records"]) == ([captured], alone.json["payments"])
    assert ids(linked) == shop.ids[:3]
    assert ids(shop.client.get(f"/v3/query/{captured}", narrowed)) == [shop.ids[0], shop.ids[2]]
    assert shop.client.get(f"/v3/query/{captured}", {"paymentTypes": "DB"}).code == "700.400.580"


@pytest.mark.parametrize("version", ["v1", "v3"])
def test_payments_of_another_channel_are_as_unknown_as_none(shop: Shop, client: Client, version: str) -> None:
    for payment_id in (*shop.ids[:3], "8a" + "0" * 30, "%00"):
        answer = client.get(f"/{version}/query/{payment_id}", {"includeLinkedTransactions": "true"})
        assert (answer.status, answer.code) == (400, "700.400.580")


# ---- lists ----


def test_both_lists_by_reference_are_oldest_first(shop: Shop) -> None:
    expected = [shop.ids[0], *shop.ids[3:]]
    for path in ("/v1/query", "/v3/query"):
        answer = shop.client.get(path, {"merchantTransactionId": REFERENCE})
        assert ids(answer) == expected
        assert (answer.json["pages"], answer.json["pageNo"], "cursor" in answer.json) == (1, 1, False)


def test_a_list_by_dates_has_whole_days_and_both_names(shop: Shop) -> None:
    answer = shop.client.get("/v3/query", shop.dates)

    assert ids(answer) == ids(answer, "records") == shop.ids
    assert "linkedTransactions" not in answer.json["payments"][0]


def test_a_list_by_dates_knows_seconds(shop: Shop) -> None:
    moments = [shop.client.get(f"/v1/query/{payment_id}").json["timestamp"][:19] for payment_id in shop.ids]
    last = moments[-1]

    found = ids(shop.client.get("/v3/query", {"date.from": last, "date.to": last}))

    assert found == [payment_id for payment_id, at in zip(shop.ids, moments, strict=True) if at == last]
    before = shop.client.get("/v3/query", {"date.from": "2001-01-01", "date.to": "2001-12-31 23:59:59"})
    assert (before.status, before.code) == (400, "700.400.580")


def test_filters_narrow_a_list(shop: Shop) -> None:
    def find(**wanted: str) -> list[str]:
        return ids(shop.client.get("/v3/query", {**shop.dates, **wanted}))

    short_id = shop.client.get(f"/v1/query/{shop.ids[4]}").json["descriptor"].split()[0]
    assert find(paymentTypes="DB") == shop.ids[3:]
    assert find(paymentTypes="RF,CP") == shop.ids[1:3]
    assert find(paymentMethods="CC") == shop.ids
    assert find(shortId=short_id) == [shop.ids[4]]
    assert find(merchantTransactionId=REFERENCE, paymentTypes="PA") == [shop.ids[0]]
    assert shop.client.get("/v3/query", {**shop.dates, "paymentMethods": "DD"}).code == "700.400.580"


def test_every_record_of_a_list_shows_the_rest_of_its_chain_on_request(shop: Shop) -> None:
    answer = shop.client.get("/v3/query", {**shop.dates, "includeLinkedTransactions": "true"})

    linked = [[other["id"] for other in row["linkedTransactions"]] for row in answer.json["records"]]
    first, second, third = shop.ids[:3]
    assert linked == [[second, third], [first, third], [first, second], [], [], [], []]


@pytest.mark.parametrize(
    ("path", "sent", "faulty"),
    [
        ("/v1/query", {}, "merchantTransactionId"),
        ("/v3/query", {}, "merchantTransactionId"),
        ("/v3/query", {"shortId": "1234.1234.1234"}, "merchantTransactionId"),
        ("/v3/query", {"date.from": "2026-01-01"}, "date.to"),
        ("/v3/query", {"date.from": "2026-01-02", "date.to": "2026-01-01"}, "date.to"),
        ("/v3/query", {"date.from": "2026-02-30", "date.to": "2026-03-01"}, "date.from"),
        ("/v3/query", {"merchantTransactionId": REFERENCE, "paymentTypes": "DB,XX"}, "paymentTypes"),
        ("/v3/query", {"merchantTransactionId": REFERENCE, "paymentMethods": "cards"}, "paymentMethods"),
        ("/v3/query", {"merchantTransactionId": REFERENCE, "limit": "501"}, "limit"),
        ("/v3/query", {"merchantTransactionId": REFERENCE, "limit": "0"}, "limit"),
        ("/v3/query", {"merchantTransactionId": REFERENCE, "pageNo": "0"}, "pageNo"),
        ("/v3/query", {"merchantTransactionId": REFERENCE, "cursor": "!"}, "cursor"),
        (
            "/v3/query",
            {"merchantTransactionId": REFERENCE, "includeLinkedTransactions": "maybe"},
            "includeLinkedTransactions",
        ),
    ],
)
def test_a_faulty_query_is_answered_with_the_parameter(
    shop: Shop, path: str, sent: dict[str, str], faulty: str
) -> None:
    answer = shop.client.get(path, sent)

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert list(answer.faults) == [faulty]


# ---- pages ----


def test_numbered_pages_and_cursors_lead_through_the_same_list(shop: Shop) -> None:
    wanted = {**shop.dates, "limit": "3"}
    numbered = [shop.client.get("/v3/query", {**wanted, "pageNo": str(n)}) for n in (1, 2, 3)]
    led: list[Answer] = [numbered[0]]
    while "cursor" in led[-1].json:
        led.append(shop.client.get("/v3/query", {**wanted, "cursor": led[-1].json["cursor"]}))

    assert (
        [ids(page) for page in numbered] == [ids(page) for page in led] == [shop.ids[:3], shop.ids[3:6], shop.ids[6:]]
    )
    assert [(page.json["pages"], page.json["pageNo"]) for page in numbered] == [(3, 1), (3, 2), (3, 3)]
    assert all("pages" not in page.json and "pageNo" not in page.json for page in led[1:])
    assert "cursor" not in numbered[2].json


def test_the_older_list_has_pages_too(shop: Shop) -> None:
    wanted = {"merchantTransactionId": REFERENCE, "limit": "2"}
    first = shop.client.get("/v1/query", wanted)
    second = shop.client.get("/v1/query", {**wanted, "cursor": first.json["cursor"]})

    assert [*ids(first), *ids(second)] == [shop.ids[0], *shop.ids[3:6]]
    assert (first.json["pages"], "records" in first.json) == (3, False)


def test_a_page_beyond_the_last_is_a_miss(shop: Shop) -> None:
    answer = shop.client.get("/v3/query", {**shop.dates, "limit": "3", "pageNo": "4"})

    assert (answer.status, answer.code) == (400, "700.400.580")


def test_the_hundred_and_first_page_is_reached_by_cursor_only(shop: Shop) -> None:
    answer = shop.client.get("/v3/query", {**shop.dates, "pageNo": "101"})

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert "use cursor" in answer.faults["pageNo"]


def change_one(text: str, place: int) -> str:
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]


def test_a_cursor_continues_its_own_list_only(shop: Shop, client: Client, stranger: Client) -> None:
    wanted: dict[str, Any] = {**shop.dates, "limit": "2"}
    cursor = shop.client.get("/v3/query", wanted).json["cursor"]

    def is_refused(caller: Client, **changes: str) -> bool:
        answer = caller.get("/v3/query", {**wanted, "cursor": cursor, **changes})
        return (answer.status, list(answer.faults)) == (400, ["cursor"])

    assert shop.client.get("/v3/query", {**wanted, "cursor": cursor, "limit": "1"}).status == 200
    assert is_refused(shop.client, paymentTypes="DB")
    assert is_refused(shop.client, **{"date.from": "2020-01-01"})
    assert is_refused(shop.client, merchantTransactionId=REFERENCE)
    assert is_refused(client)
    assert is_refused(stranger)
    assert all(is_refused(shop.client, cursor=change_one(cursor, place)) for place in range(0, len(cursor), 9))
    assert is_refused(shop.client, cursor=cursor[:-1])
    assert is_refused(shop.client, cursor="A")
    both = shop.client.get("/v3/query", {**wanted, "cursor": cursor, "pageNo": "2"})
    assert list(both.faults) == ["pageNo"]
