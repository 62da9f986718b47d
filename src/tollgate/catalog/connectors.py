"""The names of the connectors. Each protocol itself is in a module or folder of `connectors`."""

from collections.abc import Mapping
from enum import StrEnum


class ConnectorName(StrEnum):
    JSON = "json"
    REDIRECT = "redirect"
    SEPA = "sepa"
    ISO8583 = "iso8583"
    STRIPE = "stripe"


ACQUIRER_CONNECTORS: Mapping[ConnectorName, tuple[str, ...]] = {
    ConnectorName.JSON: ("https", "http"),
    ConnectorName.ISO8583: ("tls", "tcp"),
    ConnectorName.STRIPE: ("https", "http"),
}
"""The connectors among which a channel chooses for its cards, with the schemes of their addresses.

The other connectors belong to their brands.
"""
