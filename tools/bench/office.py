"""Measures pages of the back office beside few and beside many stored payments, and the memory of an export.

Both servers run at once and take turns, request by request. Judges nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import cycle
from statistics import median, quantiles
from urllib.parse import urlencode, urlsplit

from tools.bench.plan import Plan, Side
from tools.bench.stocked import Pair, Stocked
from tools.bench.subject import ORDER

from office_client import OfficeClient, enter_office

EXPORTED_MANY = 100_000
EXPORTED_FEW = 1_000
EACH = 20
"""A page is asked for so often on each server in one round."""
_OK = 200
_BLOCK = 65_536
_PICKED = 200


def _search(text: str) -> str:
    return f"/payments?{urlencode({'q': text})}"


CASES: dict[str, Callable[[str], str]] = {
    "the list": lambda _id: "/payments",
    "a search by e-mail": lambda _id: _search(ORDER["customer.email"]),
    "a search by digits, amount and code": lambda _id: _search("0000 92.00 EUR 000.100"),
    "a search by reference": lambda _id: _search("stored-7"),
    "a search by id": _search,
    "a filter that nothing fits": lambda _id: f"/payments?{urlencode({'brand': 'MASTER'})}",
    "one payment": lambda payment_id: f"/payments/{payment_id}",
    "the overview of 30 days": lambda _id: "/overview?period=30",
    "an export of one payment": lambda _id: f"/payments/export.csv?{urlencode({'q': 'stored-7'})}",
}
"""The path of each page below the merchant's, given the id of a stored payment."""


@dataclass
class Times:
    """The 95th percentile of each round in milliseconds, beside few and beside many."""

    few: list[float] = field(default_factory=list)
    many: list[float] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """Returns the median of the ratios within the rounds, because other work disturbs single ones."""
        return median(many / few for few, many in zip(self.few, self.many, strict=True))


@dataclass
class OfficeResult:
    times: dict[str, Times] = field(default_factory=lambda: {name: Times() for name in CASES})
    few_mb: float = 0.0
    """The memory that an export of few rows took, at its peak."""
    many_mb: float = 0.0
    many_rows: int = 0
    many_s: float = 0.0


def find_p95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


class _Browser:
    """A signed-in user with one connection that stays open."""

    def __init__(self, stocked: Stocked) -> None:
        self.stocked = stocked
        office: OfficeClient = enter_office(stocked.subject.process)
        self.base = office.base
        self._cookie = "; ".join(f"{name}={value}" for name, value in office.cookies.items())
        self._connection = HTTPConnection(urlsplit(office.base_url).netloc, timeout=600)

    def get(self, path: str) -> float:
        """Returns the milliseconds until the whole page was read."""
        began = time.perf_counter()
        self._connection.request("GET", self.base + path, headers={"Cookie": self._cookie})
        reply = self._connection.getresponse()
        reply.read()
        if reply.status != _OK:
            raise RuntimeError(f"{path} was answered with {reply.status}")
        return (time.perf_counter() - began) * 1e3

    def read_lines(self, path: str, count: int) -> int:
        """Reads so many lines of a file, or all if there are fewer, and leaves."""
        self._connection.request("GET", self.base + path, headers={"Cookie": self._cookie})
        reply = self._connection.getresponse()
        lines = 0
        while lines < count and (block := reply.read(_BLOCK)):
            lines += block.count(b"\n")
        self._connection.close()
        return lines

    def close(self) -> None:
        self._connection.close()


def measure_office(side: Side, pair: Pair, plan: Plan, tell: Callable[[str], None]) -> OfficeResult:
    result = OfficeResult()
    few, many = browsers = tuple(_Browser(stocked) for stocked in pair)
    ids = [cycle(side.pick_stored(each.stocked.database, _PICKED)) for each in browsers]
    for number in range(plan.page_rounds + 1):
        for name, make_path in CASES.items():
            spent_ms: tuple[list[float], list[float]] = ([], [])
            for turn in range(EACH):
                for place in (0, 1) if turn % 2 else (1, 0):
                    path = make_path(next(ids[place]))
                    spent_ms[place].append(browsers[place].get(path))
            # The first round warms both up.
            if number:
                result.times[name].few.append(find_p95(spent_ms[0]))
                result.times[name].many.append(find_p95(spent_ms[1]))
    for name, times in result.times.items():
        tell(f"{side.name}: {name} {median(times.few):.1f} and {median(times.many):.1f} ms")
    _measure_memory(few, many, result)
    tell(f"{side.name}: an export took {result.few_mb:.1f} and {result.many_mb:.1f} MiB")
    for browser in browsers:
        browser.close()
    return result


def _measure_memory(few: _Browser, many: _Browser, result: OfficeResult) -> None:
    """Both export once before, because the caches of the database grow up to their limits with the first export."""
    for browser in (few, many):
        browser.read_lines("/payments/export.csv", EXPORTED_MANY)
    result.few_mb = few.stocked.subject.measure_peak_mb(lambda: few.read_lines("/payments/export.csv", EXPORTED_FEW))
    began = time.perf_counter()

    def export() -> None:
        result.many_rows = many.read_lines("/payments/export.csv", EXPORTED_MANY)

    result.many_mb = many.stocked.subject.measure_peak_mb(export)
    result.many_s = time.perf_counter() - began
