"""The choice of an acquirer account: a pure function of the accounts, the payment and a seed.

What is known of the accounts, and the sending, is left to `operations`.
"""

from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b

import msgspec


class Strategy(StrEnum):
    """The way in which one of several accounts of the same priority is chosen."""

    WEIGHT = "weight"
    """The choice is left to chance, in proportion to the weights."""
    SUCCESS = "success"
    """The one that approved most of the payments like this one, but for a share by weight."""
    COST = "cost"
    """The cheapest one for the amount."""


class Considered(msgspec.Struct, frozen=True, array_like=True):
    """An account that a payment could have gone to, as it is written with the payment."""

    account_id: str
    reason: str
    """The words that say why it was chosen or not."""
    score: int | None = None
    """A number by which accounts of one priority were compared; None where it could not be used."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An account, and what is known of it at the time of the choice."""

    id: str
    priority: int
    weight: int
    cost_fixed: int
    cost_rate: int
    obstacle: str = ""
    """The reason why it cannot take this payment; empty if it can."""
    is_failing: bool = False
    """Its circuit is open: it failed too often of late, and gets only what no other account can take."""
    tries: float = 0
    """Charges like this one that it decided of late, of which older ones count less, and those that it approved."""
    approvals: float = 0

    def estimate_cost(self, amount: int) -> int:
        """Returns what a charge costs, in hundredths of its currency, rounded up."""
        return self.cost_fixed - (-amount * self.cost_rate // PER_WHOLE)

    def estimate_rate(self) -> int:
        """Returns the share of charges that it is expected to approve, in hundredths of a percent."""
        return round((self.approvals + _PRIOR_APPROVALS) * PER_WHOLE / (self.tries + _PRIOR_TRIES))


class Decision(msgspec.Struct, frozen=True):
    order: tuple[str, ...]
    """The ids of the accounts to try, the chosen one first."""
    considered: tuple[Considered, ...]
    """Those accounts, and then the ones that cannot take the payment."""
    is_exploring: bool = False
    """It was chosen by weight although the strategy is another, to learn from it."""


PER_WHOLE = 10_000
"""Hundredths of a percent in a whole."""
_PRIOR_TRIES, _PRIOR_APPROVALS = 10, 9
"""An account of which little is known is expected to do well, so that it is tried."""


def choose(candidates: Sequence[Candidate], amount: int, strategy: Strategy, exploration: int, seed: str) -> Decision:
    """Orders the accounts that can take a payment. An account of a later priority never comes before an earlier one
    that can be used.

    exploration: the percentage of payments for which the strategy `success` chooses by weight.
    """
    is_exploring = strategy is Strategy.SUCCESS and _draw(seed, "exploration") * 100 < exploration
    is_by_weight = is_exploring or strategy is Strategy.WEIGHT
    usable = [each for each in candidates if not each.obstacle]
    scores = {each.id: _score(each, amount, strategy) for each in usable}
    # Drawn without putting back, in proportion to the weights.
    draws = {each.id: _draw(seed, each.id) ** (1 / each.weight) if each.weight else 0.0 for each in usable}

    def get_place(each: Candidate) -> tuple[bool, int, bool, int, float]:
        score = 0 if is_by_weight else scores[each.id]
        return each.is_failing, each.priority, not each.weight, -score, -draws[each.id]

    ordered = sorted(usable, key=get_place)
    considered = [
        Considered(each.id, each.obstacle or _explain(each, ordered[0], is_exploring), scores.get(each.id))
        for each in (*ordered, *(each for each in candidates if each.obstacle))
    ]
    return Decision(tuple(each.id for each in ordered), tuple(considered), is_exploring)


def render_considered(considered: Considered) -> str:
    """Renders why an account was chosen or not, with its score if it had one."""
    score = "" if considered.score is None else f", score {considered.score}"
    return f"{considered.reason}{score}"


def _draw(seed: str, name: str) -> float:
    """Returns a number from 0 to 1 that is always the same for the same seed and name."""
    return int.from_bytes(blake2b(f"{seed}/{name}".encode(), digest_size=8).digest(), "big") / 2**64


def _score(candidate: Candidate, amount: int, strategy: Strategy) -> int:
    """Returns the larger number for the better account: hundredths for costs, or else hundredths of a percent."""
    cost = candidate.estimate_cost(amount)
    if strategy is Strategy.COST:
        return -cost
    if strategy is Strategy.SUCCESS:
        return candidate.estimate_rate() - cost * PER_WHOLE // max(amount, 1)
    return candidate.weight


def _explain(candidate: Candidate, chosen: Candidate, is_exploring: bool) -> str:
    if candidate is chosen:
        return "chosen to learn" if is_exploring else "chosen"
    if candidate.is_failing:
        return "failed too often of late"
    return "later priority" if candidate.priority > chosen.priority else "not chosen"
