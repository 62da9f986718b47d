"""Reads who calls through a proxy that is trusted, and whether the caller reached it by https.

From anybody else the same headers mean nothing.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import msgspec

from tollgate.web.addresses import read_address
from tollgate.web.head import Head

_PEERS_KEPT = 1024


class Origin(msgspec.Struct, frozen=True):
    """The caller's address, empty where it has none, and how the request came."""

    address: str
    is_secure: bool
    is_through_proxy: bool = False


class Proxies:
    """The proxies that end TLS in front of this process, by their addresses and networks."""

    def __init__(self, text: str = "") -> None:
        self._networks = read_networks(text)
        # A process talks to the same few proxies, and comparing addresses costs more than routing a request.
        self.trusts = lru_cache(_PEERS_KEPT)(self._trusts)

    def find_origin(self, head: Head, peer: str, *, is_secure: bool) -> Origin:
        if not self._networks or not self.trusts(peer):
            return Origin(read_address(peer), is_secure)
        forwarded = head.headers.get(b"x-forwarded-proto", b"")
        # Where several proxies have written down a scheme, all of them must have seen https.
        is_secure = is_secure or {word.strip().lower() for word in forwarded.split(b",")} == {b"https"}
        return Origin(self._find_address(head, peer), is_secure, is_through_proxy=True)

    def _find_address(self, head: Head, peer: str) -> str:
        """Returns the last address that is no trusted proxy; the caller may have invented everything before it."""
        chain = head.headers.get(b"x-forwarded-for", b"").decode("latin-1")
        if not chain:
            return read_address(peer)
        address = ""
        for sent in reversed(chain.split(",")):
            address = read_address(sent.strip())
            if not address or not self.trusts(address):
                break
        return address

    def _trusts(self, peer: str) -> bool:
        found = read_address(peer)
        return bool(found) and any(ip_address(found) in network for network in self._networks)


def read_networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Reads a text such as `10.0.0.5, 10.1.0.0/16`; anything else is a ValueError."""
    return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())
