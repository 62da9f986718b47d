"""A payment, its states, and the table of what an acquirer's verdict does to it.

How a verdict is obtained is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import PAYMENT_TYPES, Role
from tollgate.payments.accounts import CardSummary
from tollgate.payments.following import TAKEN, Action
from tollgate.payments.ledger import UNTOUCHED, Balance, Closure
from tollgate.payments.order import TestMode
from tollgate.values import ChannelId, CheckoutId, Instant, MerchantId, Money, PaymentId, RegistrationId


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction row. While `state` is STARTED the members of the settlement are empty.

    A result code that stands there all the same was known before the row was written: nothing will be sent.
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
    """Wall time after which nobody is still working on it and reconcile may settle it."""
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    lifecycle_id: str | None = None
    """Ties an authorization to what follows it; the merchant's own, and the same in the whole chain."""
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
    """What it does to the payment it refers to: nothing, where it begins a chain or was refused at once."""
    chain_id: PaymentId | None = None
    """The first payment of its chain; None where that is itself."""
    position: int = 1
    """Its number within the chain, without gaps."""
    releases: int = 0
    """What it gives back of a hold beside its own amount."""
    closes: int = Closure.NONE
    """The doors of the payment it refers to that it closes."""
    balance: Balance = UNTOUCHED
    mac: bytes | None = None
    """Seals what is written here; nothing is sealed before its first result."""

    @property
    def first_id(self) -> PaymentId:
        return self.chain_id or self.id

    @property
    def total(self) -> int:
        return self.money.hundredths + self.balance.added

    @property
    def left(self) -> int:
        """What neither settled nor open transactions have taken."""
        return self.total - self.balance.drawn - self.balance.held

    @property
    def taken(self) -> int:
        """What it took from the shopper by itself."""
        return self.money.hundredths if self.payment_type in TAKEN and self.state is State.APPROVED else 0

    @property
    def is_decided(self) -> bool:
        """Whether its result is known and only has to be written."""
        return self.state is State.STARTED and self.result_code != ""


class IdempotencyKey(msgspec.Struct, frozen=True, kw_only=True):
    """A promise that an idempotency key belongs to one request."""

    channel_id: ChannelId
    key: str
    fingerprint: bytes
    created_at: Instant


class Outcome(StrEnum):
    APPROVED = "approved"
    DECLINED = "declined"
    WAITING = "waiting"
    """Accepted, and somebody else has to act before it is decided."""
    CHALLENGED = "challenged"
    """Nothing was sent that moves money: the shopper has to prove something first."""
    SILENT = "silent"
    """It was sent and no answer came: nobody knows whether money moved."""
    UNSENT = "unsent"
    """It never left, so nothing happened."""
    LATE = "late"
    """Approved, but what it pays for is paid already."""
    STALE = "stale"
    """Approved, but what it pays for costs something else by now."""
    ABANDONED = "abandoned"
    """The shopper left the provider's page before deciding there, and the gateway gives the attempt up."""


DECIDED = frozenset({Outcome.APPROVED, Outcome.DECLINED, Outcome.LATE, Outcome.STALE, Outcome.ABANDONED})
"""Nobody has to be asked any more."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Outcome
    code: str
    details: Mapping[str, str] = {}
    """The acquirer's own words and references, answered as `resultDetails`; a name with a dot is a field of the answer
    itself, such as where the shopper goes next."""
    checkout_revision: int | None = None
    """Of the checkout that it pays for, as it was when this was weighed; an approval holds for no other."""


class State(IntEnum):
    """Where an attempt stands; the numbers are stored, so a number is never used again for something else."""

    STARTED = 0
    """Written before it is sent; only its settling may end this."""
    APPROVED = 1
    DECLINED = 2
    WAITING = 3
    """Accepted and not decided yet; a worker asks until it is."""
    UNRESOLVED = 4
    """Sent, unanswered, and finished by the worker that asks again."""


OPEN_STATES = frozenset({State.WAITING, State.UNRESOLVED})
"""Sent and not decided yet."""


class Nature(StrEnum):
    """Whose loss it is when nobody knows what happened."""

    TAKES = "takes"
    """Takes the shopper's money (or a hold on it): in doubt it is given back."""
    GIVES = "gives"
    """Pays out: in doubt the acquirer is asked, and what it never saw it will never do."""
    CHECKS = "checks"
    """Moves nothing: in doubt it failed, and may be asked again."""
    FOLLOWS = "follows"
    """Carries out what was decided about an earlier payment: in doubt the acquirer is asked, and the same is sent again
    under the same key, so that it happens once."""


_NATURES_BY_ROLE = {Role.FOLLOWS: Nature.FOLLOWS, Role.SYSTEM: Nature.FOLLOWS, Role.AUTHENTICATES: Nature.CHECKS}

NATURES: dict[str, Nature] = {
    code: _NATURES_BY_ROLE.get(row.role, Nature.TAKES if row.starts_with_shopper_money else Nature.GIVES)
    for code, row in PAYMENT_TYPES.items()
    if row.role in (Role.STARTS, *_NATURES_BY_ROLE)
}


class RecoveryTask(StrEnum):
    """What is still owed after a settlement; each is a durable job."""

    REVERSE = "reverse"
    INQUIRE = "inquire"
    REPEAT = "repeat"
    EXPIRE = "expire"
    """Ends what nobody took further in time."""
    COMPLETE = "settle"
    """Settles a payment whose process died, where that failed at first."""


RECOVERY_DELAYS: dict[RecoveryTask, Instant] = {RecoveryTask.EXPIRE: LIMITS.challenge_lifetime}
"""How long a recovery task waits before it is first run; others are run at once."""


class Move(msgspec.Struct, frozen=True):
    state: State
    recovery_task: RecoveryTask | None = None
    code: str | None = None
    """The result code that the situation dictates; None means the verdict's own."""


LATE_DETAIL = "LateApproval"
"""Among the details of what was approved too late: the code with which it was. What has it goes back."""
ABANDONED_DETAIL = "AbandonedBy"
"""Among the details of what was given up at a provider: who did. Its session is cancelled by a reversal."""

MOVES: dict[tuple[Nature, Outcome], Move] = {
    (Nature.TAKES, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.TAKES, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.TAKES, Outcome.WAITING): Move(State.WAITING, RecoveryTask.INQUIRE),
    # A failed answer never leaves money taken: the caller hears of a failure, so whatever was taken goes back.
    (Nature.TAKES, Outcome.SILENT): Move(State.DECLINED, RecoveryTask.REVERSE, codes.ACQUIRER_SILENT),
    (Nature.TAKES, Outcome.UNSENT): Move(State.DECLINED),
    # Nobody pays twice for one thing: what came second goes back.
    (Nature.TAKES, Outcome.LATE): Move(State.DECLINED, RecoveryTask.REVERSE, codes.DUPLICATE_REQUEST),
    # And nobody has a large thing for the price of a small one.
    (Nature.TAKES, Outcome.STALE): Move(State.DECLINED, RecoveryTask.REVERSE, codes.SESSION_EXPIRED),
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
        for outcome in (Outcome.LATE, Outcome.STALE)
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
