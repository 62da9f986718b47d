"""The payments and the account at an acquirer that the tests of all connectors begin with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.payments.accounts import BankAccount, CardAccount, VirtualAccount, make_card_summary
from tollgate.payments.order import Order
from tollgate.values import Money, Secret

CARD_NUMBER, CVV, IBAN = "4200000000000000", "9137", "DE89370400440532013000"
CARD = CardAccount(
    number=Secret(CARD_NUMBER), expiry_month="05", expiry_year="2034", holder="Jane Jones", cvv=Secret(CVV)
)
CARD_ORDER = Order(
    payment_type="DB",
    money=Money(10_000, "EUR"),
    brand="VISA",
    network="VISA",
    method="CC",
    account=CARD,
    card_summary=make_card_summary(CARD_NUMBER, CARD),
    statement="Jones",
    descriptor="Order 7",
    short_id="1234.5678.9012",
    merchant_transaction_id="order-0001",
)
WALLET_ORDER = replace(
    CARD_ORDER, brand="PAYPAL", network=None, method="VA", account=VirtualAccount(), card_summary=None
)
BANK_ORDER = replace(
    CARD_ORDER,
    brand="DIRECTDEBIT_SEPA",
    network=None,
    method="DD",
    account=BankAccount(holder="Jane Jones", iban=Secret(IBAN), mandate_id="M-1", signed_on=date(2026, 11, 1)),
    card_summary=None,
)


def make_account(connector: ConnectorName, *, secrets: Mapping[str, Secret]) -> AcquirerAccount:
    return AcquirerAccount(
        id="8a" + "2" * 30,
        connector=connector,
        merchant_name="Jones",
        merchant_number="M-7",
        acquirer_number="400001",
        terminal_id="TERM0001",
        category="5732",
        country="DE",
        secrets=secrets,
    )
