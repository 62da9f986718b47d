"""Decides which addresses that others wrote may be sent to, and says which rule refuses one.

Rules for an address as it is written are rows here, networks are rows of their own. Names are not looked up here.
"""

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote

from yarl import URL

from tollgate.wire.acquirer import Forbidden
from tollgate.wire.addresses import find_closed, find_row

UNREADABLE = "the address cannot be read"

_VISIBLE = "".join(chr(code) for code in range(0x21, 0x7F))
_PLAIN_HTTP_PORT = 80
_HOST = re.compile(r"[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_NUMBER = re.compile(r"(.*\.)?([0-9]+|0[xX][0-9A-Fa-f]*)\.?|.*:.*")
"""A host that ends like this is read as a number by some program, and it must then be one to every program."""

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str, int] | tuple[int, bytes]]


class ClosedAddress(OSError):
    """The address is closed; aiohttp reports it as a failed connection."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Guard:
    """The terms of a host: live or test, and the ports that its operator lists."""

    is_live: bool
    ports: frozenset[int]

    @property
    def open_ports(self) -> frozenset[int]:
        return self.ports if self.is_live else self.ports | {_PLAIN_HTTP_PORT}

    def read_address(self, url: str) -> URL:
        """Reads an address, or raises Forbidden with the first rule that refuses it as it is written.

        What is written is not changed, because shops sign theirs; only illegal characters are escaped.
        """
        try:
            address = URL(quote(url, safe=_VISIBLE), encoded=True) if url.isascii() else URL(url)
            refusing = next((rule for rule in RULES if rule.refuses(address, self)), None)
        except ValueError:
            raise Forbidden(UNREADABLE) from None
        if refusing is not None:
            raise Forbidden(refusing.text.format(port=address.port, ports=self._render_ports()))
        return address

    def find_refusal(self, address: str, port: int) -> str | None:
        """Finds the rule against a connection to a numeric address."""
        try:
            row = find_row(address)
            closed = find_closed(address, is_live=self.is_live)
        except ValueError:
            return f"{address} is not a numeric address"
        if closed is not None:
            return f"address {address} is {closed.what}"
        # A row that is not closed is open to test hosts, where a developer's shop may listen on any port.
        if row is None and port not in self.open_ports:
            return f"port {port} is not among {self._render_ports()}"
        return None

    def open_socket(self, info: AddressInfo) -> socket.socket:
        """Opens a socket for the very address that is connected to next, or raises ClosedAddress."""
        family, kind, protocol, _, (address, port, *_) = info
        rule = self.find_refusal(str(address), int(port))
        if rule is not None:
            raise ClosedAddress(rule)
        return socket.socket(family, kind, protocol)

    def _render_ports(self) -> str:
        return ", ".join(str(port) for port in sorted(self.open_ports))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for addresses as they are written. Those behind a row may rely on the row."""

    text: str
    refuses: Callable[[URL, Guard], bool]


def _is_odd_number(host: str) -> bool:
    """Tells whether the host is a number that is not written as addresses usually are, such as 127.1."""
    if _NUMBER.fullmatch(host) is None:
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


RULES = (
    Rule("only http and https are allowed", lambda address, _: address.scheme not in ("http", "https")),
    Rule("the address has no host", lambda address, _: not address.raw_host),
    Rule("a user or password in the address is refused", lambda address, _: "@" in address.raw_authority),
    Rule("the host is not a name or number", lambda address, _: _HOST.fullmatch(address.raw_host or "") is None),
    Rule("the host is a number in an unusual spelling", lambda address, _: _is_odd_number(address.raw_host or "")),
    Rule("http is refused on a live host", lambda address, guard: guard.is_live and address.scheme == "http"),
    # On a test host the port is checked with the numeric address, because some networks are open on every port.
    Rule(
        "port {port} is not among {ports}",
        lambda address, guard: guard.is_live and address.port not in guard.open_ports,
    ),
)
