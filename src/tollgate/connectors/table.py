"""The connector of each protocol. The protocols themselves are in their own modules."""

from collections.abc import Mapping

from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.connectors import card, redirect, sepa
from tollgate.connectors.exchange import Connector

_CONNECTORS: Mapping[Protocol, Connector] = {
    Protocol.CARD: card,
    Protocol.REDIRECT: redirect,
    Protocol.SEPA: sepa,
}


def get_connector(brand: str) -> Connector:
    return _CONNECTORS[BRANDS[brand].protocol]
