"""Where a request comes from: the address as it is told on, and the network by which its owner is counted.

What may be done from there is not decided here.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

_ADDRESSES_KEPT = 1024
"""Shops call from the same few, and reading one costs more than routing the request."""
_OWN_BITS = 64
"""Whoever has one address of IPv6 has a whole network of them."""


@lru_cache(_ADDRESSES_KEPT)
def read_address(sent: str) -> str:
    """In its usual spelling. Empty for what is none: a socket of this machine, or what a proxy says of who hides."""
    try:
        found = ip_address(sent)
    except ValueError:
        return ""
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Address(int(found)))
    return str(found)


def name_network(address: str) -> str:
    """Of an address that was read so; who cannot be told from others has none."""
    if ":" not in address:
        return address
    return str(ip_network(f"{address}/{_OWN_BITS}", strict=False))
