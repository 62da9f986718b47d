"""Fields become an order: brand, statement, test mode, details and objections."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.contract.orders import find_return_url, find_window, read_order, recall_order
from tollgate.payments.accounts import CardAccount, OpenedCard, make_card_summary
from tollgate.payments.merchants import Channel
from tollgate.payments.order import NO_DETAILS, Order, Sequence, TestMode
from tollgate.payments.payment import Payment, State
from tollgate.values import ChannelId, InvalidParameters, MerchantId, Money, PaymentId, Refusal, Secret

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
        Situation("create_payment", None, channel.is_lenient, is_live),
    )
    return read_order(fields, channel, today=TODAY, short_id="1234.5678.9012", is_live=is_live)


def test_a_plain_order_has_what_was_asked_for_and_no_details() -> None:
    order = read()

    assert (order.payment_type, order.money, order.brand, order.method) == ("DB", Money(9200, "EUR"), "VISA", "CC")
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


def test_the_shopper_knows_the_merchant_by_its_name_or_else_by_that_of_the_channel() -> None:
    assert read().merchant_name == CHANNEL.name
    assert read({"descriptor": "Order 7"}).merchant_name == CHANNEL.name
    assert read({"merchant.name": "Jones"}).merchant_name == "Jones"


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


def test_a_live_host_has_no_test_modes_and_no_simulator_overrides() -> None:
    order = read({"customParameters[forceResultCode]": "no code"}, is_live=True)

    assert (order.test_mode, order.simulator_overrides) == (None, {})
    with pytest.raises(Refusal) as refused:
        read({"testMode": "INTERNAL"}, is_live=True)
    assert refused.value.result.code == "600.200.701"


def test_a_simulator_override_on_a_test_host_is_read_by_its_key_or_refused() -> None:
    assert read({"customParameters[simulatorDelay]": "5"}).simulator_overrides == {"simulatorDelay": "5"}
    with pytest.raises(InvalidParameters) as refused:
        read({"customParameters[simulatorDelay]": "x", "customParameters[forceResultCode]": "y"})
    assert len(refused.value.faults) == 2


@pytest.mark.parametrize(
    "name",
    [
        "taxAmount",
        "shipping.cost",
        "cart.items[3].shipping",
        "cart.payments[0].amount",
        "airline.totalTaxAmount",
        "airline.passengers[0].legs[1].fareAmount",
        "merchant.shipping.cost",
    ],
)
def test_every_forwarded_amount_has_only_fractions_that_its_currency_has(name: str) -> None:
    yen = {"amount": "500", "currency": "JPY"}

    assert read({**yen, name: "1.50"}).objection == "100.550.303"
    assert read({**yen, name: "1.00"}).objection is None
    assert read({name: "1.50"}).objection is None


def test_an_amount_beside_a_currency_of_its_own_is_in_that_currency() -> None:
    in_yen = {"cart.items[7].price": "2.50", "cart.items[7].currency": "JPY"}

    assert read(in_yen).objection == "100.550.303"
    assert read({**in_yen, "cart.items[7].currency": "USD"}).objection is None
    assert read({"amount": "500", "currency": "JPY", "risk.amount": "2.50"}).objection is None


def test_details_are_typed() -> None:
    details = read({"standingInstruction.expiry": "2030-01-01"}).details

    assert details.standing_instruction is not None
    assert details.standing_instruction.expiry == date(2030, 1, 1)


def test_a_wallet_that_nobody_can_open_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        read({"paymentBrand": "PAZE", "virtualAccount.accountId": "jane"})

    assert refused.value.result.code == "600.200.100"


# ---- understood again from what was stored ----


def store(order: Order) -> Payment:
    return Payment(
        id=PaymentId("8a03"),
        merchant_id=CHANNEL.merchant_id,
        channel_id=CHANNEL.id,
        payment_type=order.payment_type,
        state=State.WAITING,
        money=order.money,
        brand=order.brand,
        method=order.method,
        descriptor=order.descriptor,
        short_id=order.short_id,
        ndc="ndc",
        created_at=1,
        deadline_at=2,
        test_mode=order.test_mode,
        merchant_transaction_id=order.merchant_transaction_id,
        return_url=order.return_url,
        card=order.card_summary,
        echo=order.echo,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"paymentType": "PA", "amount": "0"},
        {"amount": "500", "currency": "JPY"},
        {
            "shopperResultUrl": "https://shop.example/back?order=7",
            "merchantTransactionId": "order-0001",
            "descriptor": "Order 7",
            "merchant.name": "Jones",
            "merchant.mcc": "5812",
            "transactionProcessingCode": "FUNDING",
            "testMode": "EXTERNAL",
            "taxAmount": "1.50",
            "cart.items[7].price": "2.00",
            "sender.birthDate": "1980-02-29",
            "sender.accountNumber": "4200000000000042",
            "recipient.accountNumber": "AT611904300234573201",
            "standingInstruction.mode": "INITIAL",
            "standingInstruction.expiry": "2030-01-01",
            "customer.browser.language": "de",
            "customer.browser.challengeWindow": "4",
            "threeDSecure.challengeIndicator": "04",
            "customParameters[3DS2_flow]": "challenge",
            "customParameters[shop]": "x",
        },
    ],
    ids=["plain", "nothing", "yen", "everything"],
)
def test_an_order_is_understood_again_from_what_was_stored(changes: dict[str, str]) -> None:
    order = read(changes)
    assert isinstance(order.account, CardAccount)
    account = replace(order.account, cvv=None)
    before = replace(order, account=account)

    assert not {"sender.accountNumber", "recipient.accountNumber"} & order.echo.keys()
    # What is stored of a first payment says nothing of direct debits, which have no shopper to come back.
    assert recall_order(store(order), account, CHANNEL, order.hidden) == replace(before, sequence=Sequence.ONCE)


def test_the_network_behind_a_wallet_is_known_again() -> None:
    card = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034", wallet="walletB")
    opened = OpenedCard(account=card, card_summary=make_card_summary("4200000000000000", card), network="VISA")
    money = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "GOOGLEPAY")]
    fields = read_fields([*money, ("walletB.paymentToken", "{}")], Situation("create_payment", None, False, False))
    order = read_order(fields, CHANNEL, today=TODAY, short_id="1", is_live=False, opened=opened)

    recalled = recall_order(store(order), card, CHANNEL)

    assert (recalled.brand, recalled.network) == (order.brand, order.network) == ("GOOGLEPAY", "VISA")


def test_where_the_shopper_comes_back_to_and_in_which_window_is_read_from_what_was_stored() -> None:
    echo = read({"shopperResultUrl": "https://shop.example/back", "customer.browser.challengeWindow": "2"}).echo

    assert (find_return_url(echo), find_window(echo)) == ("https://shop.example/back", "2")
    assert (find_return_url({}), find_window({})) == (None, None)


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "javascript://x/%0aalert(1)", "data:text/html,x", "vbscript://x", "blob://x"),
        *("/back", "//shop.example", "https://", "https://shop.example/\r\nx", "https://shop.example/ x", "file:///x"),
    ],
)
def test_a_shopper_is_never_sent_where_script_runs(address: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        read({"shopperResultUrl": address})

    assert [fault.name for fault in refused.value.faults] == ["shopperResultUrl"]
