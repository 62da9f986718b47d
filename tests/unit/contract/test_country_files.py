"""Files of countries in their makers' forms; a line that cannot be read is named."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv6Address
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.contract.country_files import AddressRange, Wrong, flatten, read_bins, read_locations, read_ranges

LOCATIONS = (
    "geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,is_in_european_union\n"
    '2921044,en,EU,Europe,DE,"Germany, Federal Republic",1\n'
    "6255148,en,EU,Europe,,,0\n"
)
BLOCKS = (
    "network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy\n"
    "203.0.113.0/24,2921044,2921044,,0\n"
    "198.51.100.0/25,,2921044,,1\n"
    "198.51.100.128/25,6255148,,,0\n"
)


def show(text: str, locations: Mapping[str, str] = {}) -> list[tuple[str, str, str, bool]]:
    """Returns the ranges of a file, cut where they overlap, with readable ends."""
    found = flatten(read_ranges("file.csv", text.splitlines(keepends=True), locations))
    return [(show_address(each.first), show_address(each.last), each.country, each.is_proxy) for each in found]


def show_address(number: int) -> str:
    address = IPv6Address(number)
    return str(address.ipv4_mapped or address)


@pytest.mark.parametrize(
    "text",
    [
        "203.0.113.0/24,DE\n",
        "203.0.113.0,203.0.113.255,DE\n",
        '"203.0.113.0","203.0.113.255","de","Germany"\n',
        '"3405803776","3405804031","DE","Germany"\n',
        '"281474087547136","281474087547391","DE","Germany"\n',
        "network,country\r\n203.0.113.0/24,DE\r\n",
        "country_code,range_end,range_start\n\n# a note\nDE,203.0.113.255,203.0.113.0\n",
        "203.0.113.0/25,DE\n203.0.113.128/25,DE\n",
    ],
)
def test_common_forms_say_the_same(text: str) -> None:
    assert show(text) == [("203.0.113.0", "203.0.113.255", "DE", False)]


def test_blocks_of_maxmind_get_their_country_from_the_locations() -> None:
    locations = read_locations("locations.csv", LOCATIONS.splitlines(keepends=True))

    assert locations == {"2921044": "DE", "6255148": ""}
    assert read_locations("blocks.csv", BLOCKS.splitlines(keepends=True)) is None
    assert show(BLOCKS, locations) == [
        ("198.51.100.0", "198.51.100.127", "DE", True),
        ("203.0.113.0", "203.0.113.255", "DE", False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("203.0.113.0/24,A1\n", True),
        ("203.0.113.0/24,T1\n", True),
        ("network,is_anonymous\n203.0.113.0/24,1\n", True),
        ("ip_from,ip_to,proxy_type,country_code\n3405803776,3405804031,VPN,DE\n", True),
        ("ip_from,ip_to,proxy_type,country_code\n3405803776,3405804031,-,DE\n", False),
    ],
)
def test_anonymous_proxies_are_recognised(text: str, expected: bool) -> None:
    assert [row[3] for row in show(text)] == [expected]


def test_a_narrower_range_wins_and_inherits_what_it_does_not_say() -> None:
    text = "network,country,is_proxy\n203.0.113.0/24,DE,\n203.0.113.64/26,FR,\n203.0.113.72/32,,1\n"

    assert show(text) == [
        ("203.0.113.0", "203.0.113.63", "DE", False),
        ("203.0.113.64", "203.0.113.71", "FR", False),
        ("203.0.113.72", "203.0.113.72", "FR", True),
        ("203.0.113.73", "203.0.113.127", "FR", False),
        ("203.0.113.128", "203.0.113.255", "DE", False),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("203.0.113.0/24,DE\n203.0.113.0/240,DE\n", "file.csv, line 2: the network"),
        ("203.0.113.0/24,DE\n\n203.0.114.0/24,Germany\n", "file.csv, line 3: the country"),
        ("203.0.113.0/24,DE\n203.0.114.0/24\n", "file.csv, line 2: there are too few columns"),
        ("203.0.113.9,203.0.113.1,DE\n", "file.csv, line 1: the range ends"),
        ("203.0.113.9,2001:db8::,DE\n", "file.csv, line 1: the first and the last"),
        ("203.0.113.0,203.0.113.99,DE\n203.0.113.50,203.0.114.0,DE\n", "file.csv, line 2: the range overlaps"),
        ("203.0.113.0/24,DE\n203.0.113.0/24,FR\n", "file.csv, line 2: the range has another country"),
        ("network,geoname_id\n203.0.113.0/24,77\n", "file.csv, line 2: no file of locations"),
        ("start,end,country\n1,2" + "0" * 40 + ",DE\n", "file.csv, line 2: the first and the last"),
        ("start,end,country\n²,³,DE\n", "file.csv, line 2: the first and the last"),
        ('203.0.113.0/24,"' + "x" * 200_000 + '"\n', "file.csv, line 1: field larger"),
        ("nonsense\n", "file.csv, line 1: there are too few columns"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(Wrong, match=said):
        show(text)


@given(st.text(max_size=200))
def test_no_text_raises_anything_else(text: str) -> None:
    lines = text.splitlines(keepends=True)
    with suppress(Wrong):
        show(text)
    with suppress(Wrong):
        read_bins("bins.csv", lines)
    with suppress(Wrong):
        read_locations("places.csv", lines)


networks = st.builds(
    lambda base, bits, country, proxy: AddressRange(
        base >> bits << bits, (base >> bits << bits) + 2**bits - 1, country, proxy, "here"
    ),
    st.integers(0, 255),
    st.integers(0, 7),
    st.sampled_from(["", "DE", "FR"]),
    st.booleans(),
)


@given(st.lists(networks, max_size=12))
def test_cut_ranges_never_overlap_and_say_what_the_narrowest_said(ranges: list[AddressRange]) -> None:
    try:
        cut = list(flatten(ranges))
    except Wrong:
        return
    assert all(one.first <= one.last < other.first for one, other in pairwise(cut))
    for point in range(256):
        around = [each for each in ranges if each.first <= point <= each.last]
        named = sorted((each for each in around if each.country), key=lambda each: each.last - each.first)
        found = next((each for each in cut if each.first <= point <= each.last), None)
        assert (found is not None) == bool(around)
        if found is not None:
            assert found.country == (named[0].country if named else "")
            assert found.is_proxy == any(each.is_proxy for each in around)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("420000,US\n", {"420000": "US"}),
        ("bin,brand,alpha_2\n42000012,VISA,DE\n", {"42000012": "DE", "420000": "DE"}),
        ("42000012,DE\n42000013,US\n", {"42000012": "DE", "42000013": "US"}),
        ("420000,FR\n42000013,US\n", {"420000": "FR", "42000013": "US"}),
        ("iin_start,iin_end,country\n420000,420002,DE\n", {"420000": "DE", "420001": "DE", "420002": "DE"}),
        ("4200001,DE\n", {"420000": "DE", **{f"4200001{digit}": "DE" for digit in range(10)}}),
        ("420000123456,DE\n", {"420000": "DE", "42000012": "DE"}),
        ("420000,\n430000,DE\n", {"430000": "DE"}),
    ],
)
def test_card_ranges_are_read_as_six_and_eight_digits(text: str, expected: dict[str, str]) -> None:
    assert read_bins("bins.csv", text.splitlines(keepends=True)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("420000,US\n4200xx,US\n", "bins.csv, line 2: a card range must be digits"),
        ("420000,US\n420000,DE\n", "bins.csv, line 2: the card range 420000 has another country on line 1"),
        ("420000,U\n", "bins.csv, line 1: the country"),
        ("42,US\n", "bins.csv, line 1: a card range must have"),
        ("iin_start,iin_end,country\n40000000,49999999,DE\n", "bins.csv, line 2: a card range may cover"),
        ("iin_start,iin_end,country\n420002,420001,DE\n", "bins.csv, line 2: a card range must have"),
    ],
)
def test_a_card_range_that_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(Wrong, match=said):
        read_bins("bins.csv", text.splitlines(keepends=True))
