"""The report of a back-test: what rules would have said about stored payments, split by what became of them.

Nothing is judged or read here.
"""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from tollgate.payments.following import Action
from tollgate.payments.payment import Payment, State
from tollgate.payments.risk import RiskFinding, RiskOutcome


class Fate(StrEnum):
    """The fate of a payment; one that was refunded or charged back is also approved."""

    APPROVED = "approved"
    DECLINED = "declined"
    REFUNDED = "refunded"
    CHARGED_BACK = "charged_back"
    OPEN = "open"
    """It is not decided yet."""


_STATES = {State.APPROVED: Fate.APPROVED, State.DECLINED: Fate.DECLINED}
_GIVEN_BACK = {
    Action.REFUND: (Fate.REFUNDED, 1),
    Action.REVERSAL: (Fate.REFUNDED, 1),
    Action.CHARGEBACK: (Fate.CHARGED_BACK, 1),
    Action.RETURN: (Fate.REFUNDED, -1),
    Action.REPEATED_CHARGEBACK: (Fate.CHARGED_BACK, 1),
    Action.CHARGEBACK_REVERSAL: (Fate.CHARGED_BACK, -1),
}


def list_fates(first: Payment, followed: Iterable[Payment] = ()) -> dict[Fate, int]:
    """Returns each fate of the first payment of a chain with its amount in hundredths."""
    fates = {_STATES.get(first.state, Fate.OPEN): first.money.hundredths}
    for payment in followed:
        if payment.state is State.APPROVED and payment.action in _GIVEN_BACK:
            fate, sign = _GIVEN_BACK[payment.action]
            fates[fate] = fates.get(fate, 0) + sign * payment.money.hundredths
    return {fate: amount for fate, amount in fates.items() if amount or fate in (*_STATES.values(), Fate.OPEN)}


class Tally(msgspec.Struct):
    """The number of payments of each fate, and their amounts by currency."""

    counts: dict[Fate, int] = {}
    amounts: dict[Fate, dict[str, int]] = {}

    def add(self, fates: dict[Fate, int], currency: str) -> None:
        for fate, amount in fates.items():
            self.counts[fate] = self.counts.get(fate, 0) + 1
            sums = self.amounts.setdefault(fate, {})
            sums[currency] = sums.get(currency, 0) + amount


class Report(msgspec.Struct):
    payments: Tally = msgspec.field(default_factory=Tally)
    """All payments that were judged."""
    outcomes: dict[RiskOutcome, Tally] = {}
    """The payments by the outcome of all rules together."""
    rules: dict[str, Tally] = {}
    """The payments by the id of each rule that was hit."""

    def add(self, finding: RiskFinding, fates: dict[Fate, int], currency: str) -> None:
        self.payments.add(fates, currency)
        self.outcomes.setdefault(finding.outcome, Tally()).add(fates, currency)
        for rule_id in {hit.rule_id for hit in finding.hits}:
            self.rules.setdefault(rule_id, Tally()).add(fates, currency)
