"""Fields become an order: brand, statement, test mode, details and objections."""

from __future__ import annotations

from datetime import date

import pytest

from tollgate.catalog import Situation
from tollgate.contract import read_fields, read_order
from tollgate.payments import NO_DETAILS, Channel, Order, TestMode
from tollgate.values import ChannelId, InvalidParameters, MerchantId, Money, Refusal

TODAY = date(2026, 11, 15)
CHANNEL = Channel(id=ChannelId("8a01"), merchant_id=MerchantId("8a02"), name="Shop", created_at=1)
SENT = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentType": "DB",
    "card.number": "4200000000000000",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "731",
}


def read(changes: dict[str, str] | None = None, *, channel: Channel = CHANNEL, is_live: bool = False) -> Order:
    fields = read_fields(
        [(name, value) for name, value in {**SENT, **(changes or {})}.items() if value],
        Situation("payment", None, channel.is_lenient, is_live),
    )
    return read_order(fields, channel, today=TODAY, short_id="1234.5678.9012", is_live=is_live)


def test_a_plain_order_has_what_was_asked_for_and_no_details() -> None:
    order = read()

    assert (order.kind, order.money, order.brand, order.method) == ("DB", Money(9200, "EUR"), "VISA", "CC")
    assert order.details is NO_DETAILS
    assert order.objection is None
    assert order.test_mode is TestMode.INTERNAL


def test_neither_number_nor_cvv_is_in_what_prints_or_is_echoed() -> None:
    order = read()

    assert "4200000000000000" not in repr(order)
    assert "731" not in repr(order)


def test_the_statement_is_the_merchants_name_or_else_the_descriptor() -> None:
    assert read().statement == read().descriptor == "1234.5678.9012 Shop"
    assert read({"descriptor": "Order 7"}).statement == "Order 7"
    order = read({"descriptor": "Order 7", "merchant.name": "Jones"})
    assert (order.statement, order.descriptor) == ("Jones", "Order 7")


def test_a_long_channel_name_is_cut_to_what_a_descriptor_holds() -> None:
    long = Channel(id=CHANNEL.id, merchant_id=CHANNEL.merchant_id, name="x" * 300, created_at=1)

    assert len(read(channel=long).descriptor) == 127


@pytest.mark.parametrize(
    ("changes", "objection"),
    [
        ({"card.number": "4200000000000001"}, "100.100.101"),
        ({"paymentBrand": "MASTER"}, "100.100.700"),
        ({"card.expiryMonth": "10", "card.expiryYear": "2026"}, "100.100.303"),
        ({"card.expiryMonth": "11", "card.expiryYear": "2026"}, None),
        ({"card.cvv": "7319"}, "100.100.601"),
        ({"card.cvv": ""}, None),
        ({"amount": "0"}, "100.550.300"),
        ({"amount": "0", "paymentType": "PA"}, None),
        ({"amount": "1.50", "currency": "JPY"}, "100.550.303"),
        ({"shipping.cost": "1.50", "currency": "JPY"}, "100.550.303"),
    ],
)
def test_objections_are_part_of_the_order(changes: dict[str, str], objection: str | None) -> None:
    assert read(changes).objection == objection


def test_a_channel_may_insist_on_the_cvv() -> None:
    insisting = Channel(id=CHANNEL.id, merchant_id=CHANNEL.merchant_id, name="Shop", created_at=1, requires_cvv=True)

    assert read({"card.cvv": ""}, channel=insisting).objection == "100.100.600"


def test_a_live_host_has_no_test_modes_and_no_levers() -> None:
    order = read({"customParameters[forceResultCode]": "no code"}, is_live=True)

    assert (order.test_mode, order.levers) == (None, {})
    with pytest.raises(Refusal) as refused:
        read({"testMode": "INTERNAL"}, is_live=True)
    assert refused.value.result.code == "600.200.701"


def test_a_lever_on_a_test_host_is_read_by_its_key_or_refused() -> None:
    assert read({"customParameters[simulatorDelay]": "5"}).levers == {"simulatorDelay": "5"}
    with pytest.raises(InvalidParameters) as refused:
        read({"customParameters[simulatorDelay]": "x", "customParameters[forceResultCode]": "y"})
    assert len(refused.value.faults) == 2


def test_details_are_typed_in_the_currency_they_are_in() -> None:
    details = read(
        {
            "taxAmount": "1.50",
            "forex.amount": "100",
            "forex.currency": "JPY",
            "cart.items[7].price": "2.00",
            "cart.items[2].price": "3.00",
            "cart.items[2].currency": "USD",
            "sender.birthDate": "1980-02-29",
            "standingInstruction.expiry": "2030-01-01",
        }
    ).details

    assert (details.tax_amount, details.forex) == (Money(150, "EUR"), Money(10000, "JPY"))
    assert [item.price for item in details.cart] == [Money(300, "USD"), Money(200, "EUR")]
    assert details.sender is not None
    assert details.sender.birth_date == date(1980, 2, 29)
    assert details.standing_instruction is not None
    assert details.standing_instruction.expiry == date(2030, 1, 1)


def test_a_wallet_that_nobody_can_open_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        read({"paymentBrand": "PAZE", "virtualAccount.accountId": "jane"})

    assert refused.value.result.code == "600.200.100"
