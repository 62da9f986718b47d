"""A proposed routing, tried against payments of the past: where they would have gone, and what that would have changed.

Every payment is judged by what was known before it. Nothing is read or sent here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from tollgate.catalog.result_rows.row import Origin
from tollgate.catalog.results import CAUSES
from tollgate.connectors.table import takes_brand
from tollgate.operations.success_rates import SuccessRates, list_buckets
from tollgate.payments import routing
from tollgate.payments.merchants import AcquirerTerms, RoutingTerms
from tollgate.payments.payment import Outcome, Payment

_APPROVED = frozenset({Outcome.APPROVED, Outcome.LATE, Outcome.STALE, Outcome.REFUSED})
_EXPECTED_TRIES = 1_000_000
"""An expectation of the file counts like so many charges."""


class Sums(msgspec.Struct, frozen=True):
    """Payments of one currency, as they went and as they would have gone."""

    payments: int = 0
    elsewhere: int = 0
    unknown: int = 0
    """Those of `elsewhere` whose account had not decided any charge before, so that its rate is a guess."""
    cost: int = 0
    """Hundredths of the currency."""
    cost_proposed: int = 0
    approved: int = 0
    """Hundredths of a percent of payments."""
    approved_proposed: int = 0

    def add(self, other: "Sums") -> "Sums":
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Sums(*[one + two for one, two in pairs])


class Trial(msgspec.Struct, frozen=True):
    sums: Mapping[str, Sums]
    """The sums by currency."""
    moves: Mapping[tuple[str, str], int]
    """The number of payments that would have gone elsewhere, by the account that had them and the other one."""


def is_routed(payment: Payment) -> bool:
    """Tells whether a payment was sent to an acquirer account that decided it, or stayed silent."""
    if not payment.is_charge:
        return False
    cause = CAUSES.get(payment.result_code)
    is_partners = cause is not None and cause.origin is Origin.PARTNER
    return payment.outcome in (*_APPROVED, Outcome.SILENT) or (payment.outcome is Outcome.DECLINED and is_partners)


def try_routing(
    payments: Iterable[Payment],
    proposed: Mapping[str, AcquirerTerms],
    known: Mapping[str, AcquirerTerms],
    terms: RoutingTerms,
    expected: Mapping[str, int],
) -> Trial:
    """Routes payments again, the oldest first.

    known: the terms of the accounts that had the payments. expected: the percentage of charges that accounts without
    experience are expected to approve.
    """
    rates = SuccessRates()
    sums: dict[str, Sums] = {}
    moves: Counter[tuple[str, str]] = Counter()
    for payment in payments:
        used = payment.account_id or payment.channel_id
        candidates = {each: _make_candidate(rates, payment, each, proposed[each], expected) for each in proposed}
        amount = payment.money.hundredths
        decision = routing.choose([*candidates.values()], amount, terms.strategy, terms.exploration, payment.id)
        before = _make_candidate(rates, payment, used, proposed.get(used) or known[used], expected)
        # What none of the proposed accounts can take stays where it was.
        chosen = candidates[decision.order[0]] if decision.order else before
        is_approved = payment.outcome in _APPROVED
        went = int(is_approved) * routing.PER_WHOLE
        is_elsewhere = chosen.id != used
        currency = payment.money.currency
        sums[currency] = sums.get(currency, Sums()).add(
            Sums(
                payments=1,
                elsewhere=int(is_elsewhere),
                unknown=int(is_elsewhere and not chosen.tries),
                cost=before.estimate_cost(amount),
                cost_proposed=chosen.estimate_cost(amount),
                approved=went,
                approved_proposed=chosen.estimate_rate() if is_elsewhere else went,
            )
        )
        if is_elsewhere:
            moves[used, chosen.id] += 1
        rates.note(payment.merchant_id, used, list_buckets(payment), is_approved, payment.created_at)
    return Trial(sums, moves)


def _make_candidate(
    rates: SuccessRates, payment: Payment, account_id: str, terms: AcquirerTerms, expected: Mapping[str, int]
) -> routing.Candidate:
    rate = rates.estimate(payment.merchant_id, account_id, list_buckets(payment), payment.created_at)
    tries, approvals = rate.tries, rate.approvals
    if not tries and account_id in expected:
        tries, approvals = _EXPECTED_TRIES, expected[account_id] * _EXPECTED_TRIES // 100
    return routing.Candidate(
        id=account_id,
        priority=terms.priority,
        weight=terms.weight,
        cost_fixed=terms.cost_fixed,
        cost_rate=terms.cost_rate,
        obstacle="" if takes_brand(terms.connector, payment.brand) else "its protocol does not know the brand",
        tries=tries,
        approvals=approvals,
    )
