"""Risk: what rules say about a payment. The facts are gathered, and the outcome carried out, in `operations`."""

from enum import StrEnum

import msgspec


class RiskOutcome(StrEnum):
    """The demand of a rule; of several, the last of this list counts."""

    ACCEPT = "accept"
    STEP_UP = "step_up"
    """The shopper is authenticated by 3-D Secure first."""
    REVIEW = "review"
    """A person decides; the money is kept until then."""
    REFUSE = "refuse"


class Hit(msgspec.Struct, frozen=True, array_like=True):
    """A rule that was hit, in the version that counted then."""

    rule_id: str
    version: int
    outcome: RiskOutcome
    points: int = 0
    is_shadow: bool = False
    """It is only noted, and changes nothing."""


class RiskFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of all rules for one payment, as it is written with the payment."""

    score: int = 0
    """The sum of the points of active rules that were hit, from 0 to 100."""
    outcome: RiskOutcome = RiskOutcome.ACCEPT
    code: str = ""
    """The result code of the rule that decided."""
    hits: tuple[Hit, ...] = ()
