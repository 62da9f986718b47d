"""Stored payments judged again, with velocities as they were at the time of each, for a back-test. Reads no store.

Only what the longest window of an attribute still needs is held, so memory grows with a window and not with the stream.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tollgate.catalog import card_checks
from tollgate.catalog.risk_rows import TOTALS, Attribute
from tollgate.payments.payment import Outcome, Payment
from tollgate.payments.risk import Facts, RiskFinding, RiskOutcome, Rule, RuleMode
from tollgate.payments.risk_evaluation import CompiledRules, evaluate, evaluate_answers
from tollgate.payments.velocities import Sighting, Velocities, Velocity, begin_window
from tollgate.values import MINUTE, Instant

_Sums = dict[str, Velocity]

_ANSWERED = frozenset({Outcome.APPROVED, Outcome.REFUSED})
"""The outcomes of payments that are judged by the acquirer's answers too."""


def assume_active(rules: Sequence[Rule]) -> list[Rule]:
    """Returns the rules that are not off, as if none were in shadow."""
    found = [rule for rule in rules if rule.mode is not RuleMode.OFF]
    return [msgspec.structs.replace(rule, mode=RuleMode.ACTIVE) for rule in found]


def evaluate_payment(rules: CompiledRules, facts: Facts, velocities: Velocities, payment: Payment) -> RiskFinding:
    """Judges a stored payment as before it was sent, and then by the acquirer's answers, if it would have been sent."""
    finding = evaluate(rules, facts, velocities)
    if payment.outcome not in _ANSWERED or finding.outcome is RiskOutcome.REFUSE:
        return finding
    avs, cvv = (payment.details.get(name, "") for name in card_checks.MEMBERS)
    return evaluate_answers(rules, finding, avs, cvv) or finding


class _Seen:
    """The sightings of one attribute, by the key of the value."""

    def __init__(self) -> None:
        self.by_key: dict[bytes, deque[Sighting]] = {}
        self.order: deque[bytes] = deque()

    def forget(self, begin: Instant) -> None:
        while self.order and self.by_key[self.order[0]][0].at < begin:
            rows = self.by_key[self.order[0]]
            rows.popleft()
            if not rows:
                del self.by_key[self.order[0]]
            self.order.popleft()


class _Total:
    """The sums of one value within one window, by currency; windows of totals begin with a full minute."""

    def __init__(self) -> None:
        self.minutes: deque[tuple[Instant, _Sums]] = deque()
        self.sums: _Sums = {}

    def add(self, sighting: Sighting) -> None:
        minute = sighting.at - sighting.at % MINUTE
        if not self.minutes or self.minutes[-1][0] != minute:
            self.minutes.append((minute, {}))
        for sums in (self.minutes[-1][1], self.sums):
            _change(sums, sighting.currency, 1, sighting.amount)

    def forget(self, begin: Instant) -> None:
        while self.minutes and self.minutes[0][0] < begin:
            for currency, each in self.minutes.popleft()[1].items():
                _change(self.sums, currency, -each.count, -each.total)


def _change(sums: _Sums, currency: str, count: int, total: int) -> None:
    known = sums.get(currency, Velocity())
    sums[currency] = Velocity(known.count + count, known.total + total)


class Past:
    """The sightings of the payments that came before the one that is judged next."""

    def __init__(self, windows_s: Mapping[Attribute, int], totals: Iterable[tuple[Attribute, int]]) -> None:
        """windows_s: the longest window of each attribute; totals: each window of the attributes that are added up."""
        self._windows_s = windows_s
        self._seen = {attribute: _Seen() for attribute in windows_s if attribute not in TOTALS}
        self._totals: dict[tuple[Attribute, int], dict[bytes, _Total]] = {each: {} for each in totals}

    @property
    def sightings(self) -> int:
        """The number of sightings that are held."""
        return sum(len(seen.order) for seen in self._seen.values())

    def add(self, attribute: Attribute, key: bytes, sighting: Sighting) -> None:
        """Adds a sighting, which is not older than those of its attribute before it."""
        if attribute in self._seen:
            seen = self._seen[attribute]
            seen.by_key.setdefault(key, deque()).append(sighting)
            seen.order.append(key)
        for (added_up, _), by_key in self._totals.items():
            if added_up is attribute:
                by_key.setdefault(key, _Total()).add(sighting)

    def read_velocities(self, rules: CompiledRules, facts: Facts) -> Velocities:
        """Returns what the payment sees of the past, and forgets what none from now on can see."""
        for attribute, seen in self._seen.items():
            seen.forget(begin_window(facts.at, attribute, self._windows_s[attribute]))
        values = facts.values
        found = {
            attribute: self._seen[attribute].by_key.get(values[attribute], ())
            for attribute in rules.windows_s
            if attribute in values and attribute in self._seen
        }
        totals: dict[tuple[Attribute, int, str], Velocity] = {}
        for attribute, window_s in {(attribute, window_s) for attribute, window_s, _ in rules.totals}:
            total = self._totals[attribute, window_s].get(values[attribute], _Total())
            total.forget(begin_window(facts.at, attribute, window_s))
            totals |= {(attribute, window_s, currency): each for currency, each in total.sums.items()}
            totals[attribute, window_s, ""] = Velocity(sum(each.count for each in total.sums.values()), 0)
        return Velocities(facts.at, {attribute: list(rows) for attribute, rows in found.items() if rows}, totals)
