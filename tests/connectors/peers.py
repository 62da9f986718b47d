"""The connectors under test, one row each: the connector, the acquirer on the other side, and what it takes.

Whoever writes a connector adds a row here. The tests are the same for all rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from _pytest.mark import ParameterSet

from connectors.cases import CASES
from connectors.driving import PeerRow
from connectors.iso8583_peer import HostPeer
from connectors.json_peers import LedgerPeer, QueuePeer
from connectors.samples import BANK_ORDER, CARD_ORDER, WALLET_ORDER, make_account
from connectors.stripe_peer import StripePeer
from connectors.template import TEMPLATE, load_template
from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.table import CONNECTORS
from tollgate.values import Secret

PEERS: Mapping[str, PeerRow] = {
    ConnectorName.JSON: PeerRow(CONNECTORS[ConnectorName.JSON], lambda _store: LedgerPeer(), CARD_ORDER),
    ConnectorName.REDIRECT: PeerRow(CONNECTORS[ConnectorName.REDIRECT], lambda _store: LedgerPeer(), WALLET_ORDER),
    ConnectorName.SEPA: PeerRow(
        CONNECTORS[ConnectorName.SEPA], QueuePeer, BANK_ORDER, currencies=("EUR",), holds=False
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
    TEMPLATE: load_template(),
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
