"""Addresses and spellings, and the rule that refuses each on a live and on a test host. No packet leaves a test."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from tollgate.wire import Forbidden, Outgoing, Unsent
from tollgate.wire.guard import RULES
from unit.wire.receivers import SOON_S, ScriptedNames, notifying

pytestmark = pytest.mark.anyio

OPEN = ""
SCHEME = "only http and https are allowed"
NO_HOST = "the address has no host"
USER = "a user or password in the address is refused"
STRANGE = "the host is not a name or number"
ODD = "the host is a number in an unusual spelling"
PLAIN = "http is refused on a live host"
UNREADABLE = "the address cannot be read"


def closed(address: str, what: str) -> str:
    return f"address {address} is {what}"


def shut(port: int) -> str:
    return f"port {port} is not among 443, 8443"


def shut_in_tests(port: int) -> str:
    return f"port {port} is not among 80, 443, 8443"


LOOPBACK = closed("127.0.0.1", "loopback")
LINK_LOCAL = "link-local; also the metadata of most clouds"
CARRIER = "shared by customers of one carrier; also the metadata of some clouds"
MAPPED = "an IPv4 address, mapped"
NAT64 = "an IPv4 address behind NAT64"
TEREDO = "for protocol assignments, or an IPv4 address in Teredo"
CLOUD = "the metadata of a cloud"

NAMES = {
    "shop.example": ["93.184.216.34"],
    "shop.example.": ["93.184.216.34"],
    "xn--mnze-0ra.example": ["93.184.216.34"],
    "a_b.shop.example": ["93.184.216.34"],
    "both.example": ["93.184.216.34", "2606:4700:4700::1111"],
    "localhost": ["127.0.0.1", "::1"],
    "localhost.": ["127.0.0.1"],
    "inside.example": ["10.1.2.3"],
    "last.example": ["93.184.216.34", "2606:4700:4700::1111", "10.1.2.3"],
    "first.example": ["169.254.169.254", "93.184.216.34"],
    "mapped.example": ["::ffff:10.1.2.3"],
    "zone.example": ["fe80::1%eth0"],
    "nonsense.example": ["0x7f.1"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
}

ROWS = (
    # The open internet.
    ("https://shop.example/", OPEN, OPEN),
    ("https://shop.example./", OPEN, OPEN),
    ("https://SHOP.Example/", OPEN, OPEN),
    ("https://shop.example:8443/hook?a=b#c", OPEN, OPEN),
    ("https://a_b.shop.example/", OPEN, OPEN),
    ("https://münze.example/", OPEN, OPEN),
    ("https://both.example/", OPEN, OPEN),
    ("https://93.184.216.34/", OPEN, OPEN),
    ("https://[2606:4700:4700::1111]/", OPEN, OPEN),
    ("https://[2606:4700:4700:0:0:0:0:1111]:443/", OPEN, OPEN),
    ("https://shop.example:/", OPEN, OPEN),
    # Schemes and ports.
    ("http://shop.example/", PLAIN, OPEN),
    ("http://shop.example:443/", PLAIN, OPEN),
    ("http://93.184.216.34:8443/", PLAIN, OPEN),
    ("https://shop.example:80/", shut(80), OPEN),
    ("https://shop.example:25/", shut(25), shut_in_tests(25)),
    ("https://shop.example:22/", shut(22), shut_in_tests(22)),
    ("https://shop.example:0/", shut(0), shut_in_tests(0)),
    ("https://shop.example:65535/", shut(65535), shut_in_tests(65535)),
    ("http://shop.example:6379/", PLAIN, shut_in_tests(6379)),
    ("https://93.184.216.34:9443/", shut(9443), shut_in_tests(9443)),
    ("https://[2606:4700:4700::1111]:5432/", shut(5432), shut_in_tests(5432)),
    ("https://shop.example:99999/", UNREADABLE, UNREADABLE),
    ("https://shop.example:-1/", UNREADABLE, UNREADABLE),
    ("https://shop.example:443x/", UNREADABLE, UNREADABLE),
    # What is no plain web address.
    ("ftp://shop.example/", SCHEME, SCHEME),
    ("file:///etc/passwd", SCHEME, SCHEME),
    ("gopher://127.0.0.1:6379/_INFO", SCHEME, SCHEME),
    ("javascript:alert(1)", SCHEME, SCHEME),
    ("shop://order/1", SCHEME, SCHEME),
    ("//shop.example/", SCHEME, SCHEME),
    ("/back", SCHEME, SCHEME),
    ("", SCHEME, SCHEME),
    ("https:shop.example", NO_HOST, NO_HOST),
    ("https:///back", NO_HOST, NO_HOST),
    ("https://", NO_HOST, NO_HOST),
    ("https://user:password@shop.example/", USER, USER),
    ("https://user@shop.example/", USER, USER),
    ("https://:password@shop.example/", USER, USER),
    ("https://shop.example@127.0.0.1/", USER, USER),
    ("https://shop.example:443@127.0.0.1/", USER, USER),
    ("https://127.0.0.1\\@shop.example/", UNREADABLE, UNREADABLE),
    ("https://shop.example\\.evil.example/", UNREADABLE, UNREADABLE),
    ("https://[::1/", UNREADABLE, UNREADABLE),
    ("https://[::1].shop.example/", UNREADABLE, UNREADABLE),
    ("https://a..b/", STRANGE, STRANGE),
    ("https://127%2e0%2e0%2e1/", STRANGE, STRANGE),
    ("https://local%68ost/", STRANGE, STRANGE),
    ("https://a%00b/", STRANGE, STRANGE),
    ("https://shop.example\r\nHost: inside/", UNREADABLE, UNREADABLE),
    ("https://shop.example /", STRANGE, STRANGE),
    (f"https://{'a' * 64}.example/", STRANGE, STRANGE),
    # Loopback, in each spelling that some program reads.
    ("https://127.0.0.1/", LOOPBACK, OPEN),
    ("http://127.0.0.1:8080/", PLAIN, OPEN),
    ("https://127.255.255.254:443/", closed("127.255.255.254", "loopback"), OPEN),
    ("https://localhost/", LOOPBACK, OPEN),
    ("https://localhost./", LOOPBACK, OPEN),
    ("http://localhost:6379/", PLAIN, OPEN),
    ("https://ⓛocalhost/", LOOPBACK, OPEN),
    ("https://127.0.0.1.nip.example/", LOOPBACK, OPEN),
    ("https://127.1/", ODD, ODD),
    ("https://127.0.1/", ODD, ODD),
    ("https://2130706433/", ODD, ODD),
    ("https://0x7f000001/", ODD, ODD),
    ("https://0X7F000001/", ODD, ODD),
    ("https://0x7f.1/", ODD, ODD),
    ("https://0x7f.0x0.0x0.0x1/", ODD, ODD),
    ("https://0177.0.0.1/", ODD, ODD),
    ("https://017700000001/", ODD, ODD),
    ("https://127.0.0.01/", ODD, ODD),
    ("https://127.0.0.1./", ODD, ODD),
    ("https://127.0.0.256/", ODD, ODD),
    ("https://0x/", ODD, ODD),
    ("https://0/", ODD, ODD),
    ("https://shop.1/", ODD, ODD),
    ("https://①②⑦.0.0.1/", LOOPBACK, OPEN),
    ("https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", LOOPBACK, OPEN),
    ("https://127。0。0。1/", LOOPBACK, OPEN),
    ("https://\uff11\uff12\uff17.1/", ODD, ODD),
    ("https://[::1]/", closed("::1", "loopback"), OPEN),
    ("https://[0:0:0:0:0:0:0:1]:9/", shut(9), OPEN),
    ("https://[::1%25lo]/", STRANGE, STRANGE),
    ("https://[::1%lo]/", STRANGE, STRANGE),
    ("https://[:::]/", ODD, ODD),
    ("https://[::127.1]/", ODD, ODD),
    # Other closed networks.
    ("https://0.0.0.0/", closed("0.0.0.0", "unspecified"), closed("0.0.0.0", "unspecified")),
    ("https://[::]/", closed("::", "unspecified"), closed("::", "unspecified")),
    ("https://10.0.0.1/", *(closed("10.0.0.1", "private"),) * 2),
    ("http://10.0.0.1:3000/", PLAIN, closed("10.0.0.1", "private")),
    ("https://172.16.0.1/", *(closed("172.16.0.1", "private"),) * 2),
    ("https://172.31.255.255/", *(closed("172.31.255.255", "private"),) * 2),
    ("https://192.168.1.1/", *(closed("192.168.1.1", "private"),) * 2),
    ("https://[fd12:3456::1]/", *(closed("fd12:3456::1", "private"),) * 2),
    ("https://100.64.0.1/", closed("100.64.0.1", CARRIER), closed("100.64.0.1", CARRIER)),
    ("https://169.254.169.254/", closed("169.254.169.254", LINK_LOCAL), closed("169.254.169.254", LINK_LOCAL)),
    ("https://168.63.129.16/", closed("168.63.129.16", CLOUD), closed("168.63.129.16", CLOUD)),
    ("https://[fd00:ec2::254]/", closed("fd00:ec2::254", CLOUD), closed("fd00:ec2::254", CLOUD)),
    ("https://[fe80::1]/", closed("fe80::1", "link-local"), closed("fe80::1", "link-local")),
    ("https://[fe80::1%25eth0]/", STRANGE, STRANGE),
    ("https://224.0.0.1/", closed("224.0.0.1", "multicast"), closed("224.0.0.1", "multicast")),
    ("https://[ff02::1]/", closed("ff02::1", "multicast"), closed("ff02::1", "multicast")),
    ("https://255.255.255.255/", *(closed("255.255.255.255", "reserved or broadcast"),) * 2),
    ("https://192.0.2.1/", *(closed("192.0.2.1", "for documentation"),) * 2),
    ("https://198.18.0.1/", *(closed("198.18.0.1", "for benchmarks"),) * 2),
    # An IPv4 address within an IPv6 address.
    ("https://[::ffff:127.0.0.1]/", *(closed("::ffff:127.0.0.1", MAPPED),) * 2),
    ("https://[::ffff:7f00:1]/", *(closed("::ffff:7f00:1", MAPPED),) * 2),
    ("https://[::FFFF:10.0.0.1]/", *(closed("::FFFF:10.0.0.1", MAPPED),) * 2),
    ("https://[::127.0.0.1]/", *(closed("::127.0.0.1", "an IPv4 address, of the time when that was allowed"),) * 2),
    ("https://[::ffff:0:7f00:1]/", *(closed("::ffff:0:7f00:1", "an IPv4 address, translated"),) * 2),
    ("https://[64:ff9b::7f00:1]/", *(closed("64:ff9b::7f00:1", NAT64),) * 2),
    ("https://[64:ff9b::10.0.0.1]/", *(closed("64:ff9b::10.0.0.1", NAT64),) * 2),
    ("https://[64:ff9b:1::1]/", *(closed("64:ff9b:1::1", f"{NAT64} of one network"),) * 2),
    ("https://[2002:7f00:1::]/", *(closed("2002:7f00:1::", "an IPv4 address in 6to4"),) * 2),
    ("https://[2001:0:7f00:1::]/", *(closed("2001:0:7f00:1::", TEREDO),) * 2),
    # Names: any closed address refuses the name.
    ("https://inside.example/", *(closed("10.1.2.3", "private"),) * 2),
    ("https://last.example/", *(closed("10.1.2.3", "private"),) * 2),
    ("https://last.example:9000/", shut(9000), shut_in_tests(9000)),
    ("https://first.example/", *(closed("169.254.169.254", LINK_LOCAL),) * 2),
    ("https://mapped.example/", *(closed("::ffff:10.1.2.3", MAPPED),) * 2),
    ("https://zone.example/", *(closed("fe80::1%eth0", "link-local"),) * 2),
    ("https://nonsense.example/", *("0x7f.1 is not a numeric address",) * 2),
)


class Network:
    """Refuses every connection, and remembers where it would have led."""

    def __init__(self) -> None:
        self.connected: list[str] = []

    async def connect(self, _socket: socket.socket, address: tuple[Any, ...]) -> None:
        self.connected.append(address[0])
        raise OSError(errno.ECONNREFUSED, "refused")


@pytest.fixture
async def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    network = Network()
    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", network.connect)
    return network


async def look_up(host: str) -> Sequence[str]:
    return NAMES[host.lower()]


async def get_rule(url: str, *, is_live: bool) -> str:
    """Returns the rule that refuses an address, or OPEN if it is connected to."""
    async with notifying(is_live=is_live, look_up=look_up) as notifier:
        with pytest.raises(Unsent) as fault:
            await notifier.send(Outgoing(url, "POST", body=b"{}"), SOON_S)
    if isinstance(fault.value, Forbidden):
        return fault.value.rule
    assert fault.value.reason == "connection refused"
    return OPEN


@pytest.mark.parametrize("is_live", [True, False], ids=["live", "test"])
@pytest.mark.parametrize(("url", "on_live", "on_test"), ROWS, ids=[row[0] for row in ROWS])
async def test_each_spelling_is_open_or_refused_by_its_rule(
    network: Network, url: str, on_live: str, on_test: str, is_live: bool
) -> None:
    expected = on_live if is_live else on_test

    assert await get_rule(url, is_live=is_live) == expected
    assert bool(network.connected) == (expected == OPEN)


def test_the_table_has_enough_spellings_and_meets_every_rule() -> None:
    rules = {rule for _, *expected in ROWS for rule in expected}

    assert len({url for url, *_ in ROWS}) == len(ROWS) >= 80
    assert {rule.text.format(port=25, ports="443, 8443") for rule in RULES} <= rules


async def test_an_operator_lists_other_ports(network: Network) -> None:
    async with notifying(is_live=True, ports=frozenset({9443}), look_up=look_up) as notifier:
        with pytest.raises(Unsent, match="refused") as fault:
            await notifier.send(Outgoing("https://shop.example:9443/"), SOON_S)
        with pytest.raises(Forbidden, match="port 443 is not among 9443"):
            await notifier.send(Outgoing("https://shop.example/"), SOON_S)
    assert fault.type is Unsent
    assert network.connected == ["93.184.216.34"]


async def test_a_name_server_that_changes_its_mind_leads_nowhere_else(network: Network) -> None:
    """The first answer is checked and connected to; the second one is checked by the next attempt."""
    names = ScriptedNames([["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["93.184.216.34"]])
    rules = []
    async with notifying(is_live=True, look_up=names.look_up) as notifier:
        for _ in range(4):
            with pytest.raises(Unsent) as fault:
                await notifier.send(Outgoing("https://rebinding.example/"), SOON_S)
            rules.append(fault.value.rule if isinstance(fault.value, Forbidden) else OPEN)

    assert rules == [OPEN, LOOPBACK, closed("10.0.0.1", "private"), OPEN]
    assert names.asked == ["rebinding.example"] * 4
    assert network.connected == ["93.184.216.34"] * 2
