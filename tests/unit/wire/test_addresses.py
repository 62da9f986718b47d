"""Networks that no host is sent to, row by row; the standard library is the witness that none is missing."""

from __future__ import annotations

import random
from ipaddress import IPv4Address, IPv6Address

import pytest

from tollgate.wire.addresses import CLOSED, Closed, find_closed

OPEN = ("1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::200e")
NEIGHBOURS = (
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "223.255.255.255",
    "2003::",
    "2001:200::",
)
DRAWS = 20_000


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: str(row.network))
def test_a_live_host_goes_to_neither_end_of_a_closed_network(row: Closed) -> None:
    for address in (row.network[0], row.network[-1]):
        assert find_closed(str(address), is_live=True) is not None


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: str(row.network))
def test_every_row_decides_for_some_address_of_its_own(row: Closed) -> None:
    random_bytes = random.Random(1)
    span = row.network.num_addresses
    inside = [row.network[random_bytes.randrange(span)] for _ in range(200)]
    assert row in [find_closed(str(address), is_live=True) for address in (row.network[-1], *inside)]


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: str(row.network))
def test_a_test_host_goes_where_the_row_says(row: Closed) -> None:
    found = find_closed(str(row.network[-1]), is_live=False)
    assert (found is None) == row.is_open_in_tests


@pytest.mark.parametrize("address", [*OPEN, *NEIGHBOURS])
def test_the_open_internet_and_whatever_lies_beside_a_closed_network_is_open(address: str) -> None:
    assert find_closed(address, is_live=True) is None


def test_what_the_standard_library_does_not_call_global_is_closed() -> None:
    random_bytes = random.Random(2)
    drawn: list[IPv4Address | IPv6Address] = [
        *(IPv4Address(random_bytes.getrandbits(32)) for _ in range(DRAWS)),
        *(IPv6Address(random_bytes.getrandbits(128)) for _ in range(DRAWS)),
        # Random bits hardly ever meet what is special, which starts with zeros.
        *(IPv6Address(random_bytes.getrandbits(16) << 112 | random_bytes.getrandbits(32)) for _ in range(DRAWS)),
    ]
    strangers = [address for address in drawn if not address.is_global or address.is_multicast]
    assert len(strangers) > DRAWS // 10
    assert [address for address in strangers if find_closed(str(address), is_live=True) is None] == []


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "::ffff:169.254.169.254"],
)
@pytest.mark.parametrize("is_live", [True, False])
def test_the_metadata_of_clouds_is_closed_to_every_host(address: str, is_live: bool) -> None:
    assert find_closed(address, is_live=is_live) is not None


@pytest.mark.parametrize("inner", ["127.0.0.1", "10.0.0.1", "8.8.8.8"])
@pytest.mark.parametrize("is_live", [True, False])
def test_an_address_within_an_address_is_closed_to_every_host(inner: str, is_live: bool) -> None:
    packed = int(IPv4Address(inner))
    mapped, translated = f"::ffff:{inner}", f"::ffff:0:{inner}"
    shared, local = IPv6Address((0x64FF9B << 96) | packed), IPv6Address((0x64FF9B0001 << 80) | packed)
    six_to_four, teredo = IPv6Address((0x2002 << 112) | (packed << 80)), IPv6Address((0x20010000 << 96) | packed)
    for address in (mapped, translated, f"::{inner}", shared, local, six_to_four, teredo):
        assert find_closed(str(address), is_live=is_live) is not None, address


def test_a_zone_behind_an_address_changes_nothing() -> None:
    assert find_closed("fe80::1%eth0", is_live=False) is not None


@pytest.mark.parametrize("text", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "", "[::1]"])
def test_odd_spellings_are_no_addresses(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        find_closed(text, is_live=True)
