"""Decides which addresses a host may send to: networks as rows, from the registries of IANA, and TLS for card data.

Names are not looked up here.
"""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from yarl import URL


@dataclass(frozen=True, slots=True)
class Closed:
    """A network that is not the open internet."""

    network: IPv4Network | IPv6Network
    what: str
    """This completes the sentence "the address is ..."."""
    is_open_in_tests: bool = False
    """A developer's shop lives there, so that a test host may go there."""


def _close(network: str, what: str, *, is_open_in_tests: bool = False) -> Closed:
    return Closed(ip_network(network), what, is_open_in_tests)


CLOSED = (
    _close("0.0.0.0/8", "unspecified"),
    _close("10.0.0.0/8", "private"),
    _close("100.64.0.0/10", "shared by customers of one carrier; also the metadata of some clouds"),
    _close("127.0.0.0/8", "loopback", is_open_in_tests=True),
    _close("168.63.129.16/32", "the metadata of a cloud"),
    _close("169.254.0.0/16", "link-local; also the metadata of most clouds"),
    _close("172.16.0.0/12", "private"),
    _close("192.0.0.0/24", "for protocol assignments; also the metadata of some clouds"),
    _close("192.0.2.0/24", "for documentation"),
    _close("192.31.196.0/24", "a sink of reverse lookups"),
    _close("192.52.193.0/24", "for multicast through tunnels"),
    _close("192.88.99.0/24", "a relay of 6to4"),
    _close("192.168.0.0/16", "private"),
    _close("192.175.48.0/24", "a sink of reverse lookups"),
    _close("198.18.0.0/15", "for benchmarks"),
    _close("198.51.100.0/24", "for documentation"),
    _close("203.0.113.0/24", "for documentation"),
    _close("224.0.0.0/4", "multicast"),
    _close("240.0.0.0/4", "reserved or broadcast"),
    _close("::/128", "unspecified"),
    _close("::1/128", "loopback", is_open_in_tests=True),
    # What carries an IPv4 address within reaches whatever that one reaches.
    _close("::/96", "an IPv4 address, of the time when that was allowed"),
    _close("::ffff:0:0/96", "an IPv4 address, mapped"),
    _close("::ffff:0:0:0/96", "an IPv4 address, translated"),
    _close("64:ff9b::/96", "an IPv4 address behind NAT64"),
    _close("64:ff9b:1::/48", "an IPv4 address behind NAT64 of one network"),
    _close("100::/64", "discarded"),
    _close("2001::/23", "for protocol assignments, or an IPv4 address in Teredo"),
    _close("2001:db8::/32", "for documentation"),
    _close("2002::/16", "an IPv4 address in 6to4"),
    _close("2620:4f:8000::/48", "a sink of reverse lookups"),
    _close("3fff::/20", "for documentation"),
    _close("5f00::/16", "a segment of one network's routing"),
    _close("fc00::/7", "private"),
    _close("fd00:ec2::/32", "the metadata of a cloud"),
    _close("fe80::/10", "link-local"),
    _close("fec0::/10", "site-local, of the time when that was allowed"),
    _close("ff00::/8", "multicast"),
    # The open internet is 2000::/3; nobody knows yet what the rest will be.
    _close("::/3", "reserved"),
    _close("4000::/2", "reserved"),
    _close("8000::/1", "reserved"),
)


_ENCRYPTED = ("https", "tls")
_PLAIN = ("http", "tcp")


def find_row(address: str) -> Closed | None:
    """Finds the row of an address, and None for the open internet; raises ValueError for what is no address.

    The narrowest row decides, so that one address of an open network can be closed, and the other way round.
    """
    asked = ip_address(address)
    rows = [row for row in CLOSED if row.network.version == asked.version and asked in row.network]
    return max(rows, key=lambda row: row.network.prefixlen, default=None)


def find_closed(address: str, *, is_live: bool) -> Closed | None:
    """Finds the row that forbids an address to this kind of host; raises ValueError for what is no address."""
    row = find_row(address)
    return None if row is None or (row.is_open_in_tests and not is_live) else row


def may_carry_cards(url: str, *, is_live: bool, allows_plain_loopback: bool) -> bool:
    """Tells whether card data may be sent to this address: on a live host by https:// or tls:// alone.

    Where the operator allows it, http:// and tcp:// are taken to a loopback address that is written as a number. A
    name is refused, even `localhost`, because others may decide where it leads.
    """
    if not is_live:
        return True
    try:
        # The sender reads the address with the same parser, so that both see the same host.
        address = URL(url)
        if address.scheme in _ENCRYPTED:
            return True
        is_loopback = ip_address(address.host or "").is_loopback
    except ValueError:
        return False
    return address.scheme in _PLAIN and allows_plain_loopback and is_loopback
