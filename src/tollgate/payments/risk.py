"""Risk: what rules say about a payment. The facts are gathered, and the outcome carried out, in `operations`."""

from collections.abc import Mapping, Set
from enum import StrEnum

import msgspec

from tollgate.catalog.risk_rows import Attribute
from tollgate.values import Instant, MerchantId, Money


class RiskOutcome(StrEnum):
    """The demand of a rule; of several, the last of this list counts."""

    ACCEPT = "accept"
    STEP_UP = "step_up"
    """The shopper is authenticated by 3-D Secure first."""
    REVIEW = "review"
    """A person decides; the money is kept until then."""
    REFUSE = "refuse"


SEVERITY = {outcome: place for place, outcome in enumerate(RiskOutcome)}


class RuleMode(StrEnum):
    SHADOW = "shadow"
    """It is evaluated and noted, and changes nothing."""
    ACTIVE = "active"
    OFF = "off"


LISTED = 0
"""The version that an entry of a list has in place of a rule's."""


class Hit(msgspec.Struct, frozen=True, array_like=True):
    """A rule that was hit, in the version that counted then, or an entry of a list that named the payment."""

    rule_id: str
    version: int
    """`LISTED` for an entry."""
    outcome: RiskOutcome
    points: int = 0
    is_shadow: bool = False
    """It is only noted, and changes nothing."""

    @property
    def is_entry(self) -> bool:
        return self.version == LISTED

    @property
    def listed_on(self) -> "ListName":
        """Returns the list that an entry was on."""
        return ListName.BLOCK if self.outcome is RiskOutcome.REFUSE else ListName.ALLOW


class RiskFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of all rules for one payment, as it is written with the payment."""

    score: int = 0
    """The sum of the points of active rules that were hit, from 0 to 100."""
    outcome: RiskOutcome = RiskOutcome.ACCEPT
    code: str = ""
    """The result code of the rule that decided."""
    hits: tuple[Hit, ...] = ()
    reviewed_code: str = ""
    """The result code with which the review was opened; empty before somebody decided it."""
    decided_at: Instant | None = None
    """The time of that decision."""

    @property
    def is_allowed(self) -> bool:
        """Tells whether a value was on the allow list, so that no rule may decide."""
        return any(hit.is_entry and hit.outcome is RiskOutcome.ACCEPT for hit in self.hits)


class Terms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The terms of a rule; which of them it has depends on its kind."""

    attribute: Attribute | None = None
    window_s: int = 0
    count: int = 0
    amount: int = 0
    currency: str = ""
    countries: tuple[str, ...] = ()
    compared: str = ""
    answers: tuple[str, ...] = ()
    score: int = 0


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a rule; the newest counts, and none is ever changed."""

    merchant_id: MerchantId
    id: str
    version: int = 1
    channel_id: str = ""
    """The channel whose payments it judges; empty for all of the merchant."""
    name: str
    kind: str
    """The name of a row of `catalog/risk_rows.py`."""
    terms: Terms = Terms()
    mode: RuleMode = RuleMode.SHADOW
    outcome: RiskOutcome
    code: str = ""
    """The result code that it raises; empty for an outcome that raises none."""
    points: int = 0
    created_at: Instant
    created_by: str


class ListName(StrEnum):
    BLOCK = "block"
    ALLOW = "allow"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A value on the block list or the allow list."""

    merchant_id: MerchantId
    id: str
    list: ListName
    attribute: Attribute
    value_hash: bytes
    shown: str
    """The value with most of it hidden."""
    ends_at: Instant | None = None
    """The time from which it does not count any more."""
    note: str = ""
    created_at: Instant
    created_by: str

    def is_counted(self, at: Instant) -> bool:
        """Tells whether it counts for a payment of this time, which may be one of the past."""
        return self.created_at <= at and (self.ends_at is None or at < self.ends_at)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known about a payment before it is sent; the values are keyed hashes."""

    at: Instant
    money: Money
    bin_country: str = ""
    billing_country: str = ""
    ip_country: str = ""
    """Countries have two letters; an unknown one is empty."""
    is_proxy: bool = False
    is_other_holder: bool = False
    """The holder of the card has another name than the customer."""
    present: Set[Attribute] = frozenset()
    """The attributes that it has a value of."""
    values: Mapping[Attribute, bytes] = {}
    """The key of each value, by which its sightings are found; the pairs and other derived attributes too.

    This and the next are needed where a rule that counts may be hit.
    """
    others: Mapping[Attribute, bytes] = {}
    """The other value of each pair."""
    listed: tuple[tuple[Attribute, bytes], ...] = ()
    """The values as the lists name them."""
