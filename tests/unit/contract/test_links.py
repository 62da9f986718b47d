"""A payment link prepares and shows a cart and an end, and some of its parameters become a checkout."""

from __future__ import annotations

import pytest

from tollgate.contract.links import CartLine, fill_link_checkout, get_link_expiry, is_link_url, read_link_page
from tollgate.values import DAY, HOUR, Money, to_datetime

ORDER = {"amount": "38.50", "currency": "EUR", "paymentType": "DB"}
NOW = 1_800_000_000_000_000
LINK_ID = "6f0c2f5d3b1f4a6e9d0c7b8a5e4f3a21-b362376448ca"
URL = f"https://gate.example/paymentlink/{LINK_ID}"


def test_a_checkout_gets_what_is_paid_and_nothing_of_the_page() -> None:
    received = {
        "layout.logo": "https://shop.example/a.png",
        "layout.payButtonColor": "#fff",
        "validUntil": "5",
        "validUntilUnit": "DAY",
        "termsAndConditionsUrl": "https://shop.example/",
        "privacyPolicyUrl": "https://shop.example/",
        "collectBilling": "true",
        "mandatoryBilling": "true",
        "createQRCode": "true",
        "shopperResultUrl": "https://shop.example/thanks",
    }

    filled = fill_link_checkout({**ORDER, "merchant.name": "Shop", **received}, URL)

    assert filled == {**ORDER, "merchant.name": "Shop", "shopperResultUrl": URL}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, 90 * DAY),
        ({"validUntil": "5"}, 5 * DAY),
        ({"validUntil": "5", "validUntilUnit": "HOUR"}, 5 * HOUR),
    ],
)
def test_a_link_ends_after_the_time_that_was_said(said: dict[str, str], expected: int) -> None:
    assert get_link_expiry(said, NOW) == NOW + expected


@pytest.mark.parametrize(("count", "unit", "months"), [("1", "MONTH", 1), ("12", "MONTH", 12), ("1", "YEAR", 12)])
def test_months_and_years_are_those_of_the_calendar(count: str, unit: str, months: int) -> None:
    first, last = to_datetime(NOW), to_datetime(get_link_expiry({"validUntil": count, "validUntilUnit": unit}, NOW))

    assert (last.year - first.year) * 12 + last.month - first.month == months
    assert last.day == first.day


def test_the_cart_is_in_the_order_of_its_numbers() -> None:
    items = {
        "cart.items[10].name": "last",
        "cart.items[10].price": "1.00",
        "cart.items[2].name": "first",
        "cart.items[2].price": "2.50",
        "cart.items[2].quantity": "3",
        "cart.items[4].name": "by its total",
        "cart.items[4].totalAmount": "9.99",
        "cart.items[4].quantity": "2",
        "cart.items[5].name": "by weight",
        "cart.items[5].price": "2.00",
        "cart.items[5].quantity": "0.5",
        "cart.items[6].name": "without a price",
        "cart.items[7].price": "5.00",
        "cart.items[3].shipping.recipient.city": "Graz",
    }

    lines = read_link_page({**ORDER, **items}, "Channel").lines

    assert lines == (
        CartLine("first", "3", Money(750, "EUR")),
        CartLine("by its total", "2", Money(999, "EUR")),
        CartLine("by weight", "0.5", None),
        CartLine("without a price", "1", None),
        CartLine("last", "1", Money(100, "EUR")),
    )


def test_a_merchant_without_a_name_is_called_as_its_channel() -> None:
    assert read_link_page(ORDER, "Channel").merchant == "Channel"
    assert read_link_page({**ORDER, "merchant.name": "Shop"}, "Channel").merchant == "Shop"


@pytest.mark.parametrize(
    ("said", "collects", "demands"),
    [({}, False, False), ({"collectBilling": "true"}, True, False), ({"mandatoryBilling": "true"}, True, True)],
)
def test_who_insists_on_an_address_asks_for_it(said: dict[str, str], collects: bool, demands: bool) -> None:
    page = read_link_page({**ORDER, **said}, "")

    assert (page.collects_billing, page.demands_billing) == (collects, demands)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (URL, True),
        (f"http://127.0.0.1:8080/paymentlink/{LINK_ID}", True),
        (f"https://gate.example/pay/paymentlink/{LINK_ID}", True),
        (f"https://gate.example/other/{LINK_ID}", False),
        ("https://gate.example/paymentlink/x", False),
        (f"{URL}/more", False),
        (f"https://shop.example/result?from=/paymentlink/{LINK_ID}", False),
        (None, False),
    ],
)
def test_a_links_own_address_is_known_again_when_the_host_has_moved(url: str | None, expected: bool) -> None:
    assert is_link_url(url) is expected
