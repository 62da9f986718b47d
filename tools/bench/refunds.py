"""Measures refunds beside few and beside many stored payments, over HTTP. Judges nothing.

Rounds are short and alternate between the two servers, and so does the one that begins, so that whatever else the
machine does hits both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tools.bench.calling import read_body, render_post, send_all
from tools.bench.plan import Plan, Side
from tools.bench.stocked import Costs, Pair, Stocked
from tools.bench.subject import ORDER

PAYING_CONNECTIONS = 16
"""The payments to be refunded are made by so many connections, outside of what is measured."""

WARM_UP = 64
"""Refunds of each case on each server before any counts."""

REFUND = {"paymentType": "RF", "amount": ORDER["amount"], "currency": ORDER["currency"]}


@dataclass(frozen=True)
class Case:
    of: str
    connections: int
    is_fresh: bool
    """A fresh payment was just made; others lie anywhere among those that were filled in."""
    each: int
    """Refunds in a round: as few as show a load of so many connections, so that turns change often."""


CASES = (
    Case("a payment just made", 1, is_fresh=True, each=8),
    Case("a payment just made", 16, is_fresh=True, each=64),
    Case("any payment stored", 1, is_fresh=False, each=8),
)


@dataclass
class RefundResult:
    costs: dict[Case, Costs] = field(default_factory=lambda: {case: Costs() for case in CASES})
    cpu_us: dict[Case, tuple[float, float]] = field(default_factory=dict)
    """The server's own processor time for one refund, beside few and beside many."""
    refunds: int = 0
    """The refunds on each server, found in its database afterwards, each with its event and its ledger entry."""
    few_at_end: int = 0
    """The transactions that the small store had grown to."""


@dataclass
class _Bout:
    """One server with the payments that wait to be refunded, and what it has spent."""

    stocked: Stocked
    stored_ids: Iterator[str]
    cpu_s: dict[Case, float] = field(default_factory=lambda: dict.fromkeys(CASES, 0.0))
    refunds: int = 0

    def measure(self, case: Case, count: int) -> float:
        """Returns the milliseconds for one refund: from the first request to the last answer, shared out."""
        ids = self._pay(count) if case.is_fresh else [next(self.stored_ids) for _ in range(count)]
        client, subject = self.stocked.client, self.stocked.subject
        fields = {"entityId": client.entity_id, **REFUND}
        requests = [render_post(f"/v1/payments/{each}", self.stocked.headers, fields) for each in ids]
        before_s = subject.read_cpu_s()
        _, spent_s = send_all(client.base_url, requests, case.connections)
        self.cpu_s[case] += subject.read_cpu_s() - before_s
        self.refunds += count
        return spent_s / count * 1e3

    def _pay(self, count: int) -> list[str]:
        client = self.stocked.client
        fields = {"entityId": client.entity_id, **ORDER}
        request = render_post("/v1/payments", self.stocked.headers, fields)
        bodies, _ = send_all(client.base_url, [request] * count, min(count, PAYING_CONNECTIONS))
        return [str(read_body(body)["id"]) for body in bodies]

    def check(self, side: Side) -> int:
        """Every refund answered must be in the database with all that belongs to it; the transactions there."""
        transactions, events = side.count_completed(self.stocked.database)
        refunds, lines = side.count_refunds(self.stocked.database)
        if not (transactions == events and self.refunds == refunds == lines):
            raise RuntimeError(f"{self.refunds} refunds answered, {refunds} stored, {lines} lines, {events} events")
        return transactions


def measure_refunds(side: Side, pair: Pair, plan: Plan, tell: Callable[[str], None]) -> RefundResult:
    # Some more than are measured: the first ones warm both up.
    needed = plan.refunds + WARM_UP
    few, many = (_Bout(each, iter(side.pick_stored(each.database, needed))) for each in pair)
    result = RefundResult()
    for case in CASES:
        for bout in (few, many):
            bout.measure(case, WARM_UP)
            bout.cpu_s[case] = 0.0
        rounds = plan.refunds // case.each
        for number in range(rounds):
            few_ms, many_ms = _measure_round(few, many, case, is_turned=number % 2 == 1)
            result.costs[case].few.append(few_ms)
            result.costs[case].many.append(many_ms)
        measured = rounds * case.each
        result.cpu_us[case] = few.cpu_s[case] / measured * 1e6, many.cpu_s[case] / measured * 1e6
    result.few_at_end, _ = few.check(side), many.check(side)
    result.refunds = few.refunds
    growths = ", ".join(f"{costs.growth:.2f}" for costs in result.costs.values())
    tell(f"{side.name}: a refund beside {plan.stored_many} payments costs {growths} times that beside few")
    return result


def _measure_round(few: _Bout, many: _Bout, case: Case, *, is_turned: bool) -> tuple[float, float]:
    """Returns the times beside few and beside many; turned, the server with many goes first."""
    if is_turned:
        many_ms = many.measure(case, case.each)
        return few.measure(case, case.each), many_ms
    return few.measure(case, case.each), many.measure(case, case.each)
