"""Measures pages of a report, near the beginning and far from it, beside many stored payments. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median

from tools.bench.calling import Line, read_body, render_get, send_all
from tools.bench.plan import Plan
from tools.bench.stocked import Stocked

PAGE_SIZE = 100
WALKED_SIZE = 500
PAGES_EACH = 10
"""A page is asked for so often in one round."""
FIRST, SECOND, FAR = "first", "second, by cursor", "far, by cursor"
_DAY = timedelta(days=1)


@dataclass
class PageResult:
    far_page: int
    costs: dict[str, list[float]] = field(default_factory=lambda: {FIRST: [], SECOND: [], FAR: []})
    """The milliseconds for one page, of each round."""

    def growths(self, name: str) -> list[float]:
        """Returns how many times as much the far page costs as this one, within each round."""
        return [far / near for near, far in zip(self.costs[name], self.costs[FAR], strict=True)]


def measure_pages(name: str, stocked: Stocked, plan: Plan, tell: Callable[[str], None]) -> PageResult:
    """The far page is reached as a client reaches it: by the cursor of the page before, from the first one on."""
    report = _Report(stocked)
    requests = {
        FIRST: report.render(),
        SECOND: report.render(report.find_cursor(2)),
        FAR: report.render(report.find_cursor(plan.far_page)),
    }
    result = PageResult(plan.far_page)
    for request in requests.values():
        send_all(stocked.client.base_url, [request] * PAGES_EACH, connections=1)
    for number in range(plan.page_rounds):
        # Another one begins each time.
        for page in sorted(requests, reverse=number % 2 == 1):
            _, spent_s = send_all(stocked.client.base_url, [requests[page]] * PAGES_EACH, connections=1)
            result.costs[page].append(spent_s / PAGES_EACH * 1e3)
    tell(f"{name}: page {plan.far_page} costs {median(result.growths(SECOND)):.2f} times the second")
    return result


class _Report:
    """All payments of three days, so that midnight may come while we measure."""

    def __init__(self, stocked: Stocked) -> None:
        self._stocked = stocked
        today = datetime.now(UTC).date()
        self._query = {
            "entityId": stocked.client.entity_id,
            "date.from": str(today - _DAY),
            "date.to": str(today + _DAY),
        }

    def render(self, cursor: str | None = None, size: int = PAGE_SIZE) -> bytes:
        query = {**self._query, "limit": str(size)} | ({} if cursor is None else {"cursor": cursor})
        return render_get("/v3/query", self._stocked.headers, query)

    def find_cursor(self, page: int) -> str:
        """The one that leads to this page. The pages before are read in long ones: a cursor knows no length."""
        line = Line(self._stocked.client.base_url)
        cursor, before = None, (page - 1) * PAGE_SIZE
        while before:
            size = min(before, WALKED_SIZE)
            answer = read_body(line.send(self.render(cursor, size)))
            if len(answer["payments"]) != size:
                raise RuntimeError(f"a page has {len(answer['payments'])} payments instead of {size}")
            cursor, before = str(answer["cursor"]), before - size
        line.close()
        if cursor is None:
            raise ValueError("no cursor leads to the first page")
        return cursor
