"""The connectors as rows, each by its name. The protocols themselves are in their own modules and folders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors import card, redirect, sepa
from tollgate.connectors.exchange import AcquirerAccount, Connector
from tollgate.connectors.iso8583 import connector as iso8583
from tollgate.connectors.iso8583.network import KEY_SECRET
from tollgate.connectors.stripe import exchanges as stripe
from tollgate.connectors.stripe.api import API_KEY
from tollgate.connectors.stripe.events import WEBHOOK_SECRET


@dataclass(frozen=True, slots=True)
class ConnectorRow:
    make: Callable[[AcquirerAccount | None], Connector]
    """Makes the connector of an acquirer account; None where the channel has none of its own."""
    protocols: frozenset[Protocol]
    """The brands that it takes, by their protocols."""
    needs_account: bool = False
    """Its later messages carry the account that the first payment charged."""
    takes_tokens: bool = True
    """It charges network tokens; otherwise a registered card is charged by its own number."""
    secrets: tuple[str, ...] = ()
    """The names of the secrets that an acquirer account has, or may have."""
    needed: tuple[str, ...] = ()
    """Those without which its acquirer takes no request."""

    def list_missing(self, account: AcquirerAccount) -> list[str]:
        return [name for name in self.needed if name not in account.secrets]


CONNECTORS: Mapping[ConnectorName, ConnectorRow] = {
    ConnectorName.JSON: ConnectorRow(lambda _account: card, frozenset({Protocol.CARD})),
    ConnectorName.REDIRECT: ConnectorRow(lambda _account: redirect, frozenset({Protocol.REDIRECT})),
    ConnectorName.SEPA: ConnectorRow(lambda _account: sepa, frozenset({Protocol.SEPA})),
    ConnectorName.ISO8583: ConnectorRow(
        iso8583.make, frozenset({Protocol.CARD}), needs_account=True, secrets=(KEY_SECRET,)
    ),
    ConnectorName.STRIPE: ConnectorRow(
        stripe.make,
        frozenset({Protocol.CARD}),
        needs_account=True,
        takes_tokens=False,
        secrets=(API_KEY, WEBHOOK_SECRET),
        needed=(API_KEY,),
    ),
}

_OWN: Mapping[Protocol, Connector] = {
    protocol: CONNECTORS[name].make(None)
    for name in (ConnectorName.JSON, ConnectorName.REDIRECT, ConnectorName.SEPA)
    for protocol in CONNECTORS[name].protocols
}


def get_connector(brand: str) -> Connector:
    """Returns the connector that a brand has by itself, on a channel that has chosen no other."""
    return _OWN[BRANDS[brand].protocol]


def takes_brand(chosen: ConnectorName, brand: str) -> bool:
    """Tells whether an account with this connector takes a brand; by our own protocol each has its connector."""
    return chosen is ConnectorName.JSON or BRANDS[brand].protocol in CONNECTORS[chosen].protocols
