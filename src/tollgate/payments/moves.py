"""What a verdict does to an attempt, decided by table. Pure: nothing is read, written or sent here."""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from tollgate.catalog import AUTHENTICATION, LIMITS
from tollgate.payments.verdict import Outcome
from tollgate.values import Instant


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


NATURES: dict[str, Nature] = {
    "PA": Nature.TAKES,
    "DB": Nature.TAKES,
    "PA.CP": Nature.TAKES,
    "CD": Nature.GIVES,
    AUTHENTICATION: Nature.CHECKS,
    "CP": Nature.FOLLOWS,
    "RV": Nature.FOLLOWS,
    "RF": Nature.FOLLOWS,
    "RB": Nature.FOLLOWS,
    "RC": Nature.FOLLOWS,
    "CB": Nature.FOLLOWS,
    "CR": Nature.FOLLOWS,
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
"""How long an errand waits before it is first run; others are run at once."""


class Move(msgspec.Struct, frozen=True):
    state: State
    recovery_task: RecoveryTask | None = None
    code: str | None = None
    """The result code that the situation dictates; None means the verdict's own."""


SILENT_CODE = "900.100.300"
PENDING_CODE = "000.200.000"
PAID_TWICE_CODE = "800.110.100"
SESSION_OVER_CODE = "900.300.600"
ABANDONED_CODE = "100.396.101"
LATE_DETAIL = "LateApproval"
"""Among the details of what was approved too late: the code with which it was. What has it goes back."""
ABANDONED_DETAIL = "AbandonedBy"
"""Among the details of what was given up at a provider: who did. Its session is cancelled by a reversal."""

MOVES: dict[tuple[Nature, Outcome], Move] = {
    (Nature.TAKES, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.TAKES, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.TAKES, Outcome.WAITING): Move(State.WAITING, RecoveryTask.INQUIRE),
    # A failed answer never leaves money taken: the caller hears of a failure, so whatever was taken goes back.
    (Nature.TAKES, Outcome.SILENT): Move(State.DECLINED, RecoveryTask.REVERSE, SILENT_CODE),
    (Nature.TAKES, Outcome.UNSENT): Move(State.DECLINED),
    # Nobody pays twice for one thing: what came second goes back.
    (Nature.TAKES, Outcome.LATE): Move(State.DECLINED, RecoveryTask.REVERSE, PAID_TWICE_CODE),
    # And nobody has a large thing for the price of a small one.
    (Nature.TAKES, Outcome.STALE): Move(State.DECLINED, RecoveryTask.REVERSE, SESSION_OVER_CODE),
    # The provider may approve until it is told: the reversal cancels the session, or gives back what it took.
    (Nature.TAKES, Outcome.ABANDONED): Move(State.DECLINED, RecoveryTask.REVERSE, ABANDONED_CODE),
    (Nature.GIVES, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.GIVES, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.GIVES, Outcome.WAITING): Move(State.WAITING, RecoveryTask.INQUIRE),
    # Nobody is invited to pay out twice: it stays open until the acquirer says which it was.
    (Nature.GIVES, Outcome.SILENT): Move(State.UNRESOLVED, RecoveryTask.INQUIRE, PENDING_CODE),
    (Nature.GIVES, Outcome.UNSENT): Move(State.DECLINED),
    (Nature.CHECKS, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.CHECKS, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.CHECKS, Outcome.WAITING): Move(State.WAITING, RecoveryTask.EXPIRE),
    (Nature.CHECKS, Outcome.SILENT): Move(State.DECLINED, None, SILENT_CODE),
    (Nature.CHECKS, Outcome.UNSENT): Move(State.DECLINED),
    (Nature.FOLLOWS, Outcome.APPROVED): Move(State.APPROVED),
    (Nature.FOLLOWS, Outcome.DECLINED): Move(State.DECLINED),
    (Nature.FOLLOWS, Outcome.WAITING): Move(State.WAITING, RecoveryTask.REPEAT),
    (Nature.FOLLOWS, Outcome.SILENT): Move(State.UNRESOLVED, RecoveryTask.REPEAT, PENDING_CODE),
    (Nature.FOLLOWS, Outcome.UNSENT): Move(State.DECLINED),
    **{
        (nature, outcome): Move(State.APPROVED)
        for nature in Nature
        for outcome in (Outcome.LATE, Outcome.STALE)
        if nature is not Nature.TAKES
    },
    # Only what takes money waits at a provider's page while its checkout is open.
    **{
        (nature, Outcome.ABANDONED): Move(State.DECLINED, None, ABANDONED_CODE)
        for nature in Nature
        if nature is not Nature.TAKES
    },
    # Nothing was sent, so nothing has to be asked for: it ends by itself when nobody comes.
    **{(nature, Outcome.CHALLENGED): Move(State.WAITING, RecoveryTask.EXPIRE) for nature in Nature},
}
