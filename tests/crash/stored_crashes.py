"""The seams of schedules and of network tokens, as rows. No engine here.

Those of every run come first; those that only the long run takes the time for stand in sections of their own.
"""

from __future__ import annotations

from acquirer import DECLINED_CENTS, Manner
from crash.calendars import Plan
from crash.payment_crashes import REVERSED
from crash.schedule_wrecks import RunDeed
from crash.stored_wreckage import StoredCrash, StoredKill
from crash.token_wrecks import TokenDeed
from crash.wreckage import Ending, Kill
from tollgate.connectors.card import REVERSALS
from tollgate.payments.payment import RecoveryTask
from tollgate.payments.schedule import RUN_TOPIC

RUN = RunDeed("DB", title="run of a schedule")
LATE_RUN = RunDeed("DB", title="run after two that nobody was there for", plan=Plan.MONTHLY)
DECLINED_RUN = RunDeed("DB", title="run that is declined", cents=DECLINED_CENTS)
ENDED_RUN = RunDeed("DB", title="run of a schedule that ends meanwhile", is_ended=True)
TOKEN = TokenDeed("RG", title="stored card that gets a network token")
REMOVAL = TokenDeed("RG", title="removal of a card with a network token", is_removal=True)

PAID = "DB approved `000.100.112`, executed once"
NEVER_TAKEN = f"DB declined `900.100.300`, never executed{REVERSED}"
GIVEN_BACK = f"DB declined `900.100.300`, executed once and undone{REVERSED}"
DECLINED = "DB declined `800.100.152`, declined by the acquirer"
TRIES = 5


def ends(*payments: str, run: str = "run made") -> Ending:
    return Ending("; ".join([*payments, run]), "")


MADE = ends(PAID)
MADE_AFTER_NOTHING = ends(NEVER_TAKEN, PAID)
MADE_AFTER_UNDOING = ends(GIVEN_BACK, PAID)
MISSED = " and 2 missed"
MADE_LATE = ends(PAID, run=f"run made{MISSED}")
FAILED = ends(*[DECLINED] * TRIES, run="run failed")
DROPPED = ends(run="run dropped")
HAS_TOKEN = Ending("registration active, token active, active at the vault", "")
HAS_NONE = Ending("registration deleted, token deleted, deleted at the vault", "")

DUE, STARTED, APPROVED = "run due", "DB started, run due", "DB approved, run due"
REVERSAL_OWED = "DB declined, run due, a reversal is owed"
NO_TOKEN, TOKEN_KEPT = "registration active, no token", "registration active, token active"

_ANSWERED = Kill("after the acquirer's answer")
_OVERDUE = StoredKill("after settling an overdue attempt", asleep=RUN_TOPIC)
_NOTED = StoredKill("after the note on a run", asleep=RecoveryTask.REVERSE)

RUN_CRASHES = (
    # Who makes its payment is another worker, who may be faster than the knife.
    StoredCrash(
        202,
        RUN,
        Kill("amid the order of a run", ("nothing", DUE, STARTED)),
        (MADE, MADE_AFTER_NOTHING, MADE_AFTER_UNDOING),
    ),
    StoredCrash(
        205,
        LATE_RUN,
        Kill("amid the order of a run", ("nothing", f"{DUE}{MISSED}", f"{STARTED}{MISSED}")),
        (MADE_LATE, ends(NEVER_TAKEN, PAID, run=f"run made{MISSED}"), ends(GIVEN_BACK, PAID, run=f"run made{MISSED}")),
    ),
    StoredCrash(209, RUN, Kill("amid the sending"), (MADE_AFTER_NOTHING, MADE_AFTER_UNDOING)),
    StoredCrash(
        210,
        RUN,
        StoredKill("amid the wait for an acquirer that has not acted", manner=Manner.HOLD),
        (MADE_AFTER_NOTHING,),
    ),
    StoredCrash(
        211,
        RUN,
        StoredKill("amid the wait for an acquirer that has acted", manner=Manner.ACT_AND_HOLD),
        (MADE_AFTER_UNDOING,),
    ),
    StoredCrash(213, RUN, Kill("amid the second write", (STARTED, APPROVED)), (MADE, MADE_AFTER_UNDOING)),
    StoredCrash(216, RUN, Kill("amid the note on a run", (APPROVED, "DB approved, run made")), (MADE,)),
)

RUN_RECOVERIES = (
    # One due time outlives nine deaths: a try that took money, its reversal, and then a second try that took some.
    StoredCrash(
        231,
        RUN,
        _ANSWERED,
        (ends(GIVEN_BACK, GIVEN_BACK, PAID),),
        recoveries=(
            _OVERDUE,
            _NOTED,
            # Nobody has undone the first try yet, so that the second has to wait although its time has come.
            StoredKill("after the postponement of a run", (REVERSAL_OWED,), asleep=RecoveryTask.REVERSE),
            StoredKill("amid the wait for an acquirer that has undone it", manner=Manner.ACT_AND_HOLD, path=REVERSALS),
            StoredKill("after the answer to the errand", asleep=RUN_TOPIC),
            StoredKill("after the errand", asleep=RUN_TOPIC),
            Kill("before the first write of a run"),
            _ANSWERED,
        ),
    ),
    StoredCrash(
        233,
        ENDED_RUN,
        Kill("after the order of a run"),
        (DROPPED,),
        recoveries=(Kill("amid the drop of a run", (DUE, "run dropped")),),
    ),
)

TOKEN_CRASHES = (
    StoredCrash(242, TOKEN, Kill("after the vault's answer"), (HAS_TOKEN,)),
    StoredCrash(243, TOKEN, Kill("amid the write of a token", (NO_TOKEN, TOKEN_KEPT)), (HAS_TOKEN,)),
)

FURTHER_RUN_CRASHES = (
    StoredCrash(201, RUN, Kill("before the order of a run"), (MADE,)),
    StoredCrash(203, RUN, Kill("after the order of a run"), (MADE,)),
    StoredCrash(204, LATE_RUN, Kill("before the order of a run"), (MADE_LATE,)),
    StoredCrash(206, RUN, Kill("before the first write of a run"), (MADE,)),
    StoredCrash(207, RUN, Kill("amid the first write of a run", (DUE, STARTED)), (MADE, MADE_AFTER_NOTHING)),
    StoredCrash(208, RUN, Kill("after the first write of a run"), (MADE_AFTER_NOTHING,)),
    StoredCrash(212, RUN, _ANSWERED, (MADE_AFTER_UNDOING,)),
    StoredCrash(214, RUN, Kill("after the second write"), (MADE,)),
    StoredCrash(215, RUN, Kill("before the note on a run"), (MADE,)),
    StoredCrash(217, RUN, Kill("after the note on a run"), (MADE,)),
    StoredCrash(218, DECLINED_RUN, Kill("amid the note on a run", ("DB declined, run due",)), (FAILED,)),
)

FURTHER_RECOVERIES = (
    StoredCrash(
        232,
        DECLINED_RUN,
        Kill("after the note on a run"),
        (FAILED,),
        recoveries=(
            Kill("before the first write of a run"),
            Kill("after the second write"),
            Kill("after the note on a run"),
        ),
    ),
    StoredCrash(
        234, ENDED_RUN, Kill("after the order of a run"), (DROPPED,), recoveries=(Kill("after the drop of a run"),)
    ),
)

FURTHER_TOKEN_CRASHES = (
    StoredCrash(241, TOKEN, Kill("before the question to the vault"), (HAS_TOKEN,)),
    StoredCrash(244, TOKEN, Kill("after the write of a token"), (HAS_TOKEN,)),
    StoredCrash(245, REMOVAL, Kill("after the vault's answer"), (HAS_NONE,)),
)

Sections = dict[str, tuple[StoredCrash, ...]]
Shares = tuple[tuple[StoredCrash, ...], ...]

SECTIONS: Sections = {
    "Payments of schedules": (*RUN_CRASHES, *RUN_RECOVERIES),
    "Network tokens": TOKEN_CRASHES,
}
SHARES: Shares = ((*RUN_CRASHES, *TOKEN_CRASHES), RUN_RECOVERIES)
"""Each in a world of its own: much of a recovery is waiting."""

FURTHER_SECTIONS: Sections = {
    "Further moments of schedules and network tokens": (
        *FURTHER_RUN_CRASHES,
        *FURTHER_RECOVERIES,
        *FURTHER_TOKEN_CRASHES,
    ),
}
FURTHER_SHARES: Shares = (FURTHER_RUN_CRASHES, (*FURTHER_RECOVERIES, *FURTHER_TOKEN_CRASHES))
