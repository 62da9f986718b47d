"""Files with the countries of addresses and of card ranges, in the forms that their makers publish.

What is read is written to the store elsewhere.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from tollgate.catalog.countries import ALPHA2_CODES

_IPV4_MAX = 2**32 - 1
_IPV4_MAPPED = 0xFFFF << 32
ROWS_MAX = 10_000_000
_BIN_LENGTHS = (6, 8)
_BIN_DIGITS_MIN = 4
_BIN_RANGE_MAX = 100_000

_NETWORK = ("network", "cidr", "prefix")
_FIRST = ("start", "start_ip", "ip_start", "range_start", "ip_from", "first")
_LAST = ("end", "end_ip", "ip_end", "range_end", "ip_to", "last")
_COUNTRY = ("country", "country_code", "country_iso_code", "iso_code", "alpha_2", "isocode2")
_PROXY = (
    *("is_proxy", "proxy", "is_anonymous", "is_anonymous_proxy", "is_anonymous_vpn"),
    *("is_public_proxy", "is_residential_proxy", "is_tor_exit_node", "proxy_type"),
)
_PLACES = ("geoname_id", "registered_country_geoname_id")
"""The ids of MaxMind; a file of locations has the country of each."""
_BIN = ("bin", "iin", "iin_start", "bin_start")
_BIN_LAST = ("iin_end", "bin_end")

_UNKNOWN = frozenset({"", "-", "ZZ", "XX", "EU", "AP", "A2"})
_PROXY_CODES = frozenset({"A1", "T1"})
"""Some makers name anonymous proxies and the Tor network in the place of a country."""
_FALSE = frozenset({"", "0", "false", "no", "-"})


class Wrong(ValueError):
    """A line that cannot be read; the text names the file and the line."""


class Line(NamedTuple):
    file: str
    number: int
    cells: Mapping[str, str]

    def find(self, names: Iterable[str]) -> str:
        return next((self.cells[name] for name in names if self.cells.get(name)), "")

    def make_fault(self, text: str) -> Wrong:
        return Wrong(f"{self.file}, line {self.number}: {text}")


class AddressRange(NamedTuple):
    """A range of addresses as sixteen bytes each, IPv4 as IPv6 has it."""

    first: int
    last: int
    country: str
    is_proxy: bool
    place: str
    """The line it stands on."""


def _read_lines(
    name: str, texts: Iterable[str], bare: Mapping[int, Sequence[str]], keys: Sequence[str]
) -> Iterator[Line]:
    """Yields the lines by the names of their columns. bare: the names for a file without a header, by its width."""
    reader = csv.reader(texts)
    header: Sequence[str] | None = None
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            raise Wrong(f"{name}, line {reader.line_num}: {fault}") from None
        cells = [cell.strip() for cell in cells]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if reader.line_num > ROWS_MAX:
            raise Wrong(f"{name}, line {reader.line_num}: a file has {ROWS_MAX} lines at most")
        if header is None:
            lowered = [cell.lower() for cell in cells]
            if any(key in lowered for key in keys):
                header = lowered
                continue
            header = bare[min(len(cells), max(bare))] if len(cells) >= min(bare) else ()
            # A network is one column, and two addresses are two.
            header = bare[min(bare)] if "/" in cells[0] else header
        if len(cells) < len(header) or not header:
            raise Wrong(f"{name}, line {reader.line_num}: there are too few columns")
        yield Line(name, reader.line_num, dict(zip(header, cells, strict=False)))


def _read_country(line: Line, text: str) -> tuple[str, bool]:
    """Returns a country, or "" where it is not known, and whether the text names anonymous proxies."""
    country = text.upper()
    if country in ALPHA2_CODES:
        return country, False
    if country in _UNKNOWN or country in _PROXY_CODES:
        return "", country in _PROXY_CODES
    raise line.make_fault("the country must be a code of ISO 3166-1 with two letters")


def read_locations(name: str, texts: Iterable[str]) -> dict[str, str] | None:
    """Returns the country of each place of MaxMind; None if the file is another one."""
    found: dict[str, str] = {}
    for line in _read_lines(name, texts, {2: ("geoname_id", "?")}, ("geoname_id",)):
        if "country_iso_code" not in line.cells or any(key in line.cells for key in _NETWORK):
            return None
        found[line.cells["geoname_id"]] = _read_country(line, line.cells["country_iso_code"])[0]
    return found or None


def read_ranges(name: str, texts: Iterable[str], locations: Mapping[str, str]) -> Iterator[AddressRange]:
    """Yields the ranges of a file: `network,country`, `start,end,country`, or MaxMind's blocks with their locations."""
    bare = {2: ("network", "country"), 3: ("start", "end", "country")}
    for line in _read_lines(name, texts, bare, (*_NETWORK, *_FIRST)):
        country, is_proxy = _read_country(line, line.find(_COUNTRY) or _find_place(line, locations))
        is_proxy = is_proxy or any(line.cells.get(key, "").lower() not in _FALSE for key in _PROXY)
        network = line.find(_NETWORK)
        first, last = _read_network(line, network) if network else _read_ends(line)
        if first > last:
            raise line.make_fault("the range ends before it begins")
        if country or is_proxy:
            yield AddressRange(first, last, country, is_proxy, f"{line.file}, line {line.number}")


def _find_place(line: Line, locations: Mapping[str, str]) -> str:
    place = line.find(_PLACES)
    if place and place not in locations:
        raise line.make_fault(f"no file of locations has the geoname_id {place[:20]}; name it in the same command")
    return locations.get(place, "")


def _read_network(line: Line, text: str) -> tuple[int, int]:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise line.make_fault("the network must be written like 203.0.113.0/24 or 2001:db8::/32") from None
    base = _IPV4_MAPPED if network.version == 4 else 0
    return base + int(network.network_address), base + int(network.broadcast_address)


def _read_ends(line: Line) -> tuple[int, int]:
    """Reads the first and the last address, written as addresses or as whole numbers."""
    sent = line.find(_FIRST), line.find(_LAST)
    try:
        if all(text.isdecimal() and len(text) <= 39 for text in sent):
            first, last = (int(text) for text in sent)
            ip_address(last)
            base = _IPV4_MAPPED if last <= _IPV4_MAX else 0
            return base + first, base + last
        ends = [ip_address(text) for text in sent]
    except ValueError:
        raise line.make_fault("the first and the last address of a range must be addresses") from None
    if ends[0].version != ends[1].version:
        raise line.make_fault("the first and the last address must be of one kind")
    base = _IPV4_MAPPED if ends[0].version == 4 else 0
    return base + int(ends[0]), base + int(ends[1])


def flatten(ranges: Iterable[AddressRange]) -> Iterator[AddressRange]:
    """Yields ranges that do not overlap: inside of another, the narrower one says the country.

    A narrower one without a country has that of the wider one, and whatever is inside of a proxy is one.
    """
    waiting: AddressRange | None = None
    for piece in _cut(ranges):
        if waiting is None:
            waiting = piece
        elif waiting.last + 1 == piece.first and waiting[2:4] == piece[2:4]:
            waiting = waiting._replace(last=piece.last)
        else:
            yield waiting
            waiting = piece
    if waiting is not None:
        yield waiting


def _cut(ranges: Iterable[AddressRange]) -> Iterator[AddressRange]:
    around: list[AddressRange] = []
    at = 0
    for each in sorted(ranges, key=lambda each: (each.first, -each.last)):
        while around and around[-1].last < each.first:
            inner = around.pop()
            if at <= inner.last:
                yield inner._replace(first=at)
                at = inner.last + 1
        if around:
            outer = around[-1]
            if each.last > outer.last:
                raise Wrong(f"{each.place}: the range overlaps that of {outer.place}")
            if (each.first, each.last) == (outer.first, outer.last) and "" != each.country != outer.country != "":
                raise Wrong(f"{each.place}: the range has another country on {outer.place}")
            if at < each.first:
                yield outer._replace(first=at, last=each.first - 1)
            each = each._replace(country=each.country or outer.country, is_proxy=each.is_proxy or outer.is_proxy)
        at = each.first
        around.append(each)
    while around:
        inner = around.pop()
        if at <= inner.last:
            yield inner._replace(first=at)
            at = inner.last + 1


def read_bins(name: str, texts: Iterable[str]) -> dict[str, str]:
    """Returns the country of card ranges of six and eight digits: `bin,country`, or a header that names the columns.

    Six digits have a country too if all longer ranges that begin with them have the same.
    """
    found: dict[str, tuple[str, int]] = {}
    for line in _read_lines(name, texts, {2: ("bin", "country")}, _BIN):
        country, _ = _read_country(line, line.find(_COUNTRY))
        for digits in _list_bins(line) if country else ():
            other, number = found.setdefault(digits, (country, line.number))
            if other != country:
                raise line.make_fault(f"the card range {digits} has another country on line {number}")
            if len(found) > ROWS_MAX:
                raise line.make_fault(f"a file has {ROWS_MAX} card ranges at most")
    countries = {digits: country for digits, (country, _) in found.items()}
    beginnings: dict[str, set[str]] = {}
    for digits, country in countries.items():
        beginnings.setdefault(digits[: _BIN_LENGTHS[0]], set()).add(country)
    agreed = {digits: country.pop() for digits, country in beginnings.items() if len(country) == 1}
    return agreed | countries


def _list_bins(line: Line) -> Iterator[str]:
    first, last = line.find(_BIN), line.find(_BIN_LAST)
    last = last or first
    if not (first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal() and len(first) == len(last)):
        raise line.make_fault("a card range must be digits")
    if not _BIN_DIGITS_MIN <= len(first) <= 19 or int(first) > int(last):
        raise line.make_fault(f"a card range must have {_BIN_DIGITS_MIN} to 19 digits and not end before it begins")
    length = next((each for each in _BIN_LENGTHS if len(first) <= each), _BIN_LENGTHS[-1])
    low, high = first[:length].ljust(length, "0"), last[:length].ljust(length, "9")
    if int(high) - int(low) >= _BIN_RANGE_MAX:
        raise line.make_fault(f"a card range may cover {_BIN_RANGE_MAX} numbers of {length} digits at most")
    for number in range(int(low), int(high) + 1):
        yield str(number).zfill(length)
