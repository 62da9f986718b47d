"""The connectors under test, one row each: the connector, the acquirer on the other side, and what it takes.

Whoever writes a connector adds a row here. The tests are the same for all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest
from _pytest.mark import ParameterSet
from msgspec.structs import replace

from connectors.driving import CASES, PeerRow
from connectors.iso8583_peer import HostPeer
from connectors.json_peers import LedgerPeer, QueuePeer
from connectors.stripe_peer import StripePeer
from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.connectors.table import CONNECTORS
from tollgate.payments.accounts import BankAccount, CardAccount, VirtualAccount, make_card_summary
from tollgate.payments.order import Order
from tollgate.values import ChannelId, Money, Secret

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
_WALLET_ORDER = replace(
    CARD_ORDER, brand="PAYPAL", network=None, method="VA", account=VirtualAccount(), card_summary=None
)
_BANK_ORDER = replace(
    CARD_ORDER,
    brand="DIRECTDEBIT_SEPA",
    network=None,
    method="DD",
    account=BankAccount(holder="Jane Jones", iban=Secret(IBAN), mandate_id="M-1", signed_on=date(2026, 11, 1)),
    card_summary=None,
)


def make_account(connector: ConnectorName, *, secrets: Mapping[str, Secret]) -> AcquirerAccount:
    return AcquirerAccount(
        channel_id=ChannelId("8a" + "2" * 30),
        connector=connector,
        merchant_name="Jones",
        merchant_number="M-7",
        acquirer_number="400001",
        terminal_id="TERM0001",
        category="5732",
        country="DE",
        secrets=secrets,
    )


PEERS: Mapping[str, PeerRow] = {
    ConnectorName.JSON: PeerRow(CONNECTORS[ConnectorName.JSON], lambda _store: LedgerPeer(), CARD_ORDER),
    ConnectorName.REDIRECT: PeerRow(CONNECTORS[ConnectorName.REDIRECT], lambda _store: LedgerPeer(), _WALLET_ORDER),
    ConnectorName.SEPA: PeerRow(
        CONNECTORS[ConnectorName.SEPA], QueuePeer, _BANK_ORDER, currencies=("EUR",), holds=False
    ),
    ConnectorName.ISO8583: PeerRow(
        CONNECTORS[ConnectorName.ISO8583],
        lambda _store: HostPeer(),
        CARD_ORDER,
        make_account(ConnectorName.ISO8583, secrets={"key-encryption-key": Secret("0F" * 16)}),
    ),
    ConnectorName.STRIPE: PeerRow(
        CONNECTORS[ConnectorName.STRIPE],
        lambda _store: StripePeer(),
        CARD_ORDER,
        make_account(ConnectorName.STRIPE, secrets={"api-key": Secret("sk_test_4eC39HqLyjWD")}),
        takes=frozenset({"PA", "DB", "PA.CP"}),
        words=frozenset({"capture", "reversal", "refund", "rebill"}),
    ),
}


def list_cases(*, is_taken: bool) -> list[ParameterSet]:
    """Lists the cases of all connectors. A case that is not taken has a last step that is not."""
    return [
        pytest.param(name, case, id=f"{name}-{case}")
        for name, row in PEERS.items()
        for case in CASES
        if row.takes_case(CASES[case]) is is_taken and (is_taken or row.takes_start(CASES[case]))
    ]


TAKEN, UNTAKEN = list_cases(is_taken=True), list_cases(is_taken=False)
