"""Payments replayed through the choice of accounts, with three simulated acquirers whose quality drifts.

An oracle knows the quality of each acquirer at each moment; what it approves more is the regret. Nothing is sent.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from dataclasses import dataclass, field

from tollgate.operations.circuits import Circuits
from tollgate.operations.success_rates import SuccessRates
from tollgate.payments.routing import Candidate, Strategy, choose
from tollgate.values import HOUR, MINUTE, SECOND, MerchantId

ACQUIRERS = ("north", "south", "west")
BINS = ("400000", "420000", "510000", "540000", "601100", "340000")
CURRENCIES = ("EUR", "EUR", "EUR", "USD")
EVERY = 6 * SECOND
"""The time between two payments: 100,000 of them take a week."""
MERCHANT = MerchantId("8a" + "1" * 30)
EXPLORATION = 5
START = 1_790_000_000 * SECOND
UNREACHABLE, SILENT = "unreachable", "silent"


class Acquirers:
    """The quality of each acquirer for each BIN: a level, two waves of different lengths, and outages."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self._waves = {
            (name, bin_): (
                chance.uniform(0.78, 0.92),
                [(chance.uniform(0.01, 0.05), chance.uniform(*hours), chance.uniform(0, 6)) for hours in _LENGTHS],
            )
            for name in ACQUIRERS
            for bin_ in BINS
        }
        # Each has one of its own in each day: some minutes in which it cannot be reached, or does not answer.
        self._outages = [
            (name, kind, (day * 24 + chance.uniform(1, 22)) * HOUR, chance.uniform(10, 60) * MINUTE)
            for day in range(8)
            for name, kind in zip(ACQUIRERS, (UNREACHABLE, SILENT, UNREACHABLE), strict=True)
        ]

    def get_quality(self, name: str, bin_: str, at: int) -> float:
        level, waves = self._waves[name, bin_]
        hours = at / HOUR
        drift = sum(height * math.sin(hours / length * 2 * math.pi + phase) for height, length, phase in waves)
        return min(max(level + drift, 0.0), 0.99)

    def find_outage(self, name: str, at: int) -> str:
        outages = (kind for each, kind, since, length in self._outages if each == name and since <= at < since + length)
        return next(outages, "")


_LENGTHS = ((20.0, 60.0), (60.0, 200.0))


@dataclass
class Report:
    payments: int
    approved: float = 0.0
    """The sum of the probabilities of approval, in which the luck of single payments does not show."""
    oracle: float = 0.0
    weight: float = 0.0
    single: Counter[str] = field(default_factory=Counter)
    chosen: Counter[str] = field(default_factory=Counter)
    moved: int = 0
    """Payments that went to another account because the first could not be reached."""

    @property
    def regret(self) -> float:
        """Returns the payments of a hundred that the oracle would have had approved besides."""
        return (self.oracle - self.approved) / self.payments * 100

    def render(self) -> str:
        """Renders the row of the table in docs/routing.md, but for the seed."""
        shares = [self.oracle, self.approved, self.weight, max(self.single.values())]
        return " | ".join(
            [*[f"{each / self.payments:.2%}".replace("%", " %") for each in shares], f"{self.regret:.2f}"]
        )


@dataclass
class Router:
    """The choice of accounts as a process makes it, with its own circuits and success rates."""

    strategy: Strategy
    circuits: Circuits = field(default_factory=Circuits)
    rates: SuccessRates = field(default_factory=SuccessRates)

    def order(self, buckets: tuple[str, str], amount: int, now: int, seed: str) -> tuple[str, ...]:
        candidates = []
        for name in ACQUIRERS:
            rate = self.rates.estimate(MERCHANT, name, buckets, now)
            is_failing = self.circuits.is_open(name, now)
            candidates.append(
                Candidate(
                    id=name,
                    priority=1,
                    weight=100,
                    cost_fixed=0,
                    cost_rate=0,
                    is_failing=is_failing,
                    tries=rate.tries,
                    approvals=rate.approvals,
                )
            )
        ordered = choose(candidates, amount, self.strategy, EXPLORATION, seed).order
        self.circuits.begin_probe(ordered[0], now)
        return ordered

    def note(self, name: str, buckets: tuple[str, str], now: int, *, outage: str, is_approved: bool) -> None:
        self.circuits.note(name, bool(outage), now)
        if outage != UNREACHABLE:
            self.rates.note(MERCHANT, name, buckets, is_approved, now)


def replay(seed: int, payments: int) -> Report:
    acquirers, chance = Acquirers(seed), random.Random(seed)
    learning, blind = Router(Strategy.SUCCESS), Router(Strategy.WEIGHT)
    report = Report(payments)
    for number in range(payments):
        now = START + number * EVERY
        bin_, currency = chance.choice(BINS), chance.choice(CURRENCIES)
        amount, luck = chance.randrange(100, 100_000), chance.random()
        since = now - START
        qualities = {name: acquirers.get_quality(name, bin_, since) for name in ACQUIRERS}
        outages = {name: acquirers.find_outage(name, since) for name in ACQUIRERS}
        real = {name: 0.0 if outages[name] else quality for name, quality in qualities.items()}
        report.oracle += max(real.values())
        report.single.update(real)
        for router in (learning, blind):
            buckets = f"{bin_}/{currency}", f"/{currency}"
            for name in router.order(buckets, amount, now, f"{seed}/{number}"):
                outage = outages[name]
                router.note(name, buckets, now, outage=outage, is_approved=luck < real[name])
                if outage != UNREACHABLE:
                    break
                report.moved += router is learning
            if router is learning:
                report.approved += real[name]
                report.chosen[name] += 1
            else:
                report.weight += real[name]
    return report


if __name__ == "__main__":
    for given in map(int, sys.argv[1:]):
        print(f"| {given} | {replay(given, 100_000).render()} |")
