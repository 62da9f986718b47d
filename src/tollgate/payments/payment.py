"""A payment, its states, and the table of what an acquirer's verdict does to it. Verdicts are obtained elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import PAYMENT_TYPES, Role
from tollgate.payments.accounts import CardSummary
from tollgate.payments.following import TAKEN, Action
from tollgate.payments.ledger import UNTOUCHED, Balance, Closure
from tollgate.payments.order import TestMode
from tollgate.payments.risk import RiskFinding
from tollgate.payments.routing import Considered
from tollgate.payments.splits import Split
from tollgate.values import ChannelId, CheckoutId, Instant, MerchantId, Money, PaymentId, RegistrationId


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of payments. While `state` is STARTED, `outcome` and `completed_at` are None.

    A started payment that has a result code was decided before it was written, and nothing is sent for it.
    """

    id: PaymentId
    merchant_id: MerchantId
    channel_id: ChannelId
    payment_type: str
    state: State
    money: Money
    brand: str
    method: str
    descriptor: str
    short_id: str
    ndc: str
    created_at: Instant
    deadline_at: Instant
    """After this time no process is still working on it, and a worker may recover it."""
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    lifecycle_id: str | None = None
    """The merchant's own id for an authorization and everything that follows it; the same in the whole chain."""
    referenced_id: PaymentId | None = None
    checkout_id: CheckoutId | None = None
    """The checkout that it pays for; a later transaction of its chain pays for none."""
    registration_id: RegistrationId | None = None
    """The registration that it uses or makes."""
    return_url: str | None = None
    """The shopper's browser is sent back to this address of the shop."""
    card: CardSummary | None = None
    echo: Mapping[str, str] = {}
    outcome: Outcome | None = None
    """The outcome that completed it; None while it is started."""
    result_code: str = ""
    details: Mapping[str, str] = {}
    completed_at: Instant | None = None
    action: Action | None = None
    """The effect on the payment that it names; None if it begins a chain or was refused at once."""
    chain_id: PaymentId | None = None
    """The first payment of its chain; None if it is the first one itself."""
    position: int = 1
    """Its number within the chain, without gaps."""
    releases: int = 0
    """The part of a hold that it releases in addition to its own amount."""
    closes: int = Closure.NONE
    """The follow-ups for which it closes the payment that it names."""
    split: Split = ()
    """The shares of the sellers of a marketplace; a payment that moves nothing of theirs has none."""
    balance: Balance = UNTOUCHED
    events: int = 0
    """The number of its events so far; the store counts them."""
    connector: ConnectorName | None = None
    """The connector of the acquirer account that has it; None for the one that its brand has by itself."""
    account_id: str | None = None
    """The acquirer account that has it; None for the one that has the id of the channel."""
    routing: tuple[Considered, ...] = ()
    """The accounts that were considered for it; none where the channel had one account only."""
    risk: RiskFinding | None = None
    """The finding of the risk rules; None where none was hit."""
    mac: bytes | None = None
    """The signature of the row, which is written with its first result."""

    @property
    def first_id(self) -> PaymentId:
        return self.chain_id or self.id

    @property
    def total(self) -> int:
        return self.money.hundredths + self.balance.added

    @property
    def left(self) -> int:
        """The amount that neither completed nor open follow-ups have taken."""
        return self.total - self.balance.drawn - self.balance.reserved

    @property
    def taken(self) -> int:
        """The amount that this payment itself took from the shopper."""
        return self.money.hundredths if self.payment_type in TAKEN and self.state is State.APPROVED else 0

    @property
    def told_at(self) -> Instant | None:
        """The time of its last event: its completion, or the decision of its review."""
        return self.completed_at if self.risk is None else self.risk.decided_at or self.completed_at

    @property
    def is_charge(self) -> bool:
        """Tells whether it is an initial payment that takes money, which routing and risk rules are about."""
        return self.chain_id is None and NATURES[self.payment_type] is Nature.TAKES

    @property
    def is_decided(self) -> bool:
        """Tells whether its result is known and only has to be written."""
        return self.state is State.STARTED and self.result_code != ""


class IdempotencyKey(msgspec.Struct, frozen=True, kw_only=True):
    """An idempotency key, and the fingerprint of the one request that it belongs to."""

    merchant_id: MerchantId
    channel_id: ChannelId
    key: str
    fingerprint: bytes
    created_at: Instant
    is_dispatched: bool = False
    """The request named its merchant: no other channel of the merchant may take the key for such a request."""


class Outcome(StrEnum):
    APPROVED = "approved"
    DECLINED = "declined"
    WAITING = "waiting"
    """It was accepted, and somebody else has to act before it is decided."""
    CHALLENGED = "challenged"
    """Nothing was sent that moves money: the shopper has to prove something first."""
    SILENT = "silent"
    """It was sent and no answer came: nobody knows whether money moved."""
    UNSENT = "unsent"
    """It was never sent, so nothing happened."""
    LATE = "late"
    """It was approved, but its checkout is already paid."""
    STALE = "stale"
    """It was approved, but its checkout has changed since."""
    REFUSED = "refused"
    """It was approved, and the risk rules refused it by what the acquirer answered."""
    ABANDONED = "abandoned"
    """The shopper left the provider's page without deciding, and the gateway gave up the attempt."""


DECIDED = frozenset(
    {Outcome.APPROVED, Outcome.DECLINED, Outcome.LATE, Outcome.STALE, Outcome.REFUSED, Outcome.ABANDONED}
)
"""The outcomes after which no partner has to be asked again."""


class AccountChange(msgspec.Struct, frozen=True):
    """The acquirer account that a payment went to after others could not be reached, with its connector."""

    account_id: str | None
    connector: ConnectorName | None
    routing: tuple[Considered, ...]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Outcome
    code: str
    details: Mapping[str, str] = {}
    """The acquirer's own texts and references, answered as `resultDetails`. A name with a dot is a field of the answer
    itself, such as the page to which the shopper goes next."""
    checkout_revision: int | None = None
    """The revision of the checkout for which an approval was decided; it holds for no other revision."""
    account: AccountChange | None = None
    """The account that gave it, if it is not the one with which the payment was started."""
    risk: RiskFinding | None = None
    """The finding of the risk rules, if the acquirer's answer changed it."""


class State(IntEnum):
    """The state of an attempt. The numbers are stored, so a number is never reused."""

    STARTED = 0
    """It is written before anything is sent; only its completion ends this state."""
    APPROVED = 1
    DECLINED = 2
    WAITING = 3
    """It was accepted and is not decided yet; a worker asks until it is."""
    UNRESOLVED = 4
    """It was sent and not answered; a worker sends or asks again."""


OPEN_STATES = frozenset({State.WAITING, State.UNRESOLVED})
"""The states of attempts that were sent and are not decided yet."""


class Nature(StrEnum):
    """The risk of a payment type: it decides what is done when an acquirer does not answer."""

    TAKES = "takes"
    """It takes or holds the shopper's money: in doubt the money is given back."""
    GIVES = "gives"
    """It pays out: in doubt the acquirer is asked, and a payout that it never saw is not sent again."""
    CHECKS = "checks"
    """It moves no money: in doubt it failed, and may be repeated."""
    FOLLOWS = "follows"
    """It follows an earlier payment: in doubt the acquirer is asked, and the same request is sent again under the same
    key, so that it is executed once."""


_NATURES_BY_ROLE = {Role.FOLLOWS: Nature.FOLLOWS, Role.SYSTEM: Nature.FOLLOWS, Role.AUTHENTICATES: Nature.CHECKS}

NATURES: dict[str, Nature] = {
    code: _NATURES_BY_ROLE.get(row.role, Nature.TAKES if row.starts_with_shopper_money else Nature.GIVES)
    for code, row in PAYMENT_TYPES.items()
    if row.role in (Role.STARTS, *_NATURES_BY_ROLE)
}


class RecoveryTask(StrEnum):
    """The work that remains after a completion; each task is a durable job."""

    REVERSE = "reverse"
    INQUIRE = "inquire"
    REPEAT = "repeat"
    EXPIRE = "expire"
    """The attempt ends because nobody continued it in time."""
    COMPLETE = "complete"
    """A payment whose process died is completed, after the first try to do so failed."""
    GIVE_BACK = "give_back"
    """The money of a payment that a review rejected goes back."""


RECOVERY_DELAYS: dict[RecoveryTask, Instant] = {RecoveryTask.EXPIRE: LIMITS.challenge_lifetime}
"""The time that a recovery task waits before its first run; others run at once."""


class Move(msgspec.Struct, frozen=True):
    state: State
    recovery_task: RecoveryTask | None = None
    code: str | None = None
    """The result code that replaces the verdict's own."""


LATE_DETAIL = "LateApproval"
"""The name of a detail: the code of an approval that came too late. The money of such a payment goes back."""
ABANDONED_DETAIL = "AbandonedBy"
"""The name of a detail: who gave up an attempt at a provider. A reversal cancels its session."""

MOVES: dict[tuple[Nature, Outcome], Move] = {
    (Nature.TAKES, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.TAKES, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.TAKES, Outcome.WAITING): Move(State.WAITING, RecoveryTask.INQUIRE),
    # The caller is told of a failure, so whatever was taken goes back.
    (Nature.TAKES, Outcome.SILENT): Move(State.DECLINED, RecoveryTask.REVERSE, codes.ACQUIRER_SILENT),
    (Nature.TAKES, Outcome.UNSENT): Move(State.DECLINED),
    # Nobody pays twice for one thing: what came second goes back.
    (Nature.TAKES, Outcome.LATE): Move(State.DECLINED, RecoveryTask.REVERSE, codes.DUPLICATE_REQUEST),
    # Nor does anybody get a changed checkout for its old price.
    (Nature.TAKES, Outcome.STALE): Move(State.DECLINED, RecoveryTask.REVERSE, codes.SESSION_EXPIRED),
    # What the risk rules refuse after the acquirer's answer goes back, under the code of the rule.
    (Nature.TAKES, Outcome.REFUSED): Move(State.DECLINED, RecoveryTask.REVERSE),
    # The provider may approve until it is told: the reversal cancels the session, or gives back what it took.
    (Nature.TAKES, Outcome.ABANDONED): Move(State.DECLINED, RecoveryTask.REVERSE, codes.SHOPPER_CANCELLED),
    (Nature.GIVES, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.GIVES, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.GIVES, Outcome.WAITING): Move(State.WAITING, RecoveryTask.INQUIRE),
    # Nobody is invited to pay out twice: it stays open until the acquirer says which it was.
    (Nature.GIVES, Outcome.SILENT): Move(State.UNRESOLVED, RecoveryTask.INQUIRE, codes.PENDING),
    (Nature.GIVES, Outcome.UNSENT): Move(State.DECLINED),
    (Nature.CHECKS, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.CHECKS, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.CHECKS, Outcome.WAITING): Move(State.WAITING, RecoveryTask.EXPIRE),
    (Nature.CHECKS, Outcome.SILENT): Move(State.DECLINED, None, codes.ACQUIRER_SILENT),
    (Nature.CHECKS, Outcome.UNSENT): Move(State.DECLINED),
    (Nature.FOLLOWS, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.FOLLOWS, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.FOLLOWS, Outcome.WAITING): Move(State.WAITING, RecoveryTask.REPEAT),
    (Nature.FOLLOWS, Outcome.SILENT): Move(State.UNRESOLVED, RecoveryTask.REPEAT, codes.PENDING),
    (Nature.FOLLOWS, Outcome.UNSENT): Move(State.DECLINED),
    **{
        (nature, outcome): Move(State.APPROVED)
        for nature in Nature
        for outcome in (Outcome.LATE, Outcome.STALE, Outcome.REFUSED)
        if nature is not Nature.TAKES
    },
    # Only what takes money waits at a provider's page while its checkout is open.
    **{
        (nature, Outcome.ABANDONED): Move(State.DECLINED, None, codes.SHOPPER_CANCELLED)
        for nature in Nature
        if nature is not Nature.TAKES
    },
    # Nothing was sent, so nothing has to be asked for: it ends by itself when nobody comes.
    **{(nature, Outcome.CHALLENGED): Move(State.WAITING, RecoveryTask.EXPIRE) for nature in Nature},
}
