"""The crash points of schedules and of network tokens, as rows. No engine here.

Those of every run come first; those that only the long run takes the time for stand in sections of their own.
"""

from __future__ import annotations

from acquirer import DECLINED_CENTS, Manner
from crash.background_cases import BackgroundCrash, BackgroundKill
from crash.calendars import Plan
from crash.crashes import Ending, Kill
from crash.payment_crashes import REVERSED
from crash.schedule_cases import RunRequest
from crash.token_cases import TokenRequest
from tollgate.connectors.acquiring import REVERSALS
from tollgate.payments.payment import RecoveryTask
from tollgate.payments.schedule import RUN_TOPIC

RUN = RunRequest("DB", title="run of a schedule")
LATE_RUN = RunRequest("DB", title="run after two missed ones", plan=Plan.MONTHLY)
DECLINED_RUN = RunRequest("DB", title="run that is declined", cents=DECLINED_CENTS)
ENDED_RUN = RunRequest("DB", title="run of a schedule that ends meanwhile", is_ended=True)
TOKEN = TokenRequest("RG", title="registered card that gets a network token")
REMOVAL = TokenRequest("RG", title="removal of a card with a network token", is_removal=True)

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
REVERSAL_OWED = "DB declined, run due, a reversal is due"
NO_TOKEN, TOKEN_STORED = "registration active, no token", "registration active, token active"

_ANSWERED = Kill("after charge request")
_OVERDUE = BackgroundKill("after overdue completion", asleep=RUN_TOPIC)
_NOTED = BackgroundKill("after run result", asleep=RecoveryTask.REVERSE)

RUN_CRASHES = (
    # Who makes its payment is another worker, who may be faster than the crash.
    BackgroundCrash(
        202,
        RUN,
        Kill("during run due", ("nothing", DUE, STARTED)),
        (MADE, MADE_AFTER_NOTHING, MADE_AFTER_UNDOING),
    ),
    BackgroundCrash(
        205,
        LATE_RUN,
        Kill("during run due", ("nothing", f"{DUE}{MISSED}", f"{STARTED}{MISSED}")),
        (MADE_LATE, ends(NEVER_TAKEN, PAID, run=f"run made{MISSED}"), ends(GIVEN_BACK, PAID, run=f"run made{MISSED}")),
    ),
    BackgroundCrash(209, RUN, Kill("during charge request"), (MADE_AFTER_NOTHING, MADE_AFTER_UNDOING)),
    BackgroundCrash(
        210,
        RUN,
        BackgroundKill("during the wait for an acquirer that has not acted", manner=Manner.HOLD),
        (MADE_AFTER_NOTHING,),
    ),
    BackgroundCrash(
        211,
        RUN,
        BackgroundKill("during the wait for an acquirer that has acted", manner=Manner.ACT_AND_HOLD),
        (MADE_AFTER_UNDOING,),
    ),
    BackgroundCrash(213, RUN, Kill("during completion", (STARTED, APPROVED)), (MADE, MADE_AFTER_UNDOING)),
    BackgroundCrash(216, RUN, Kill("during run result", (APPROVED, "DB approved, run made")), (MADE,)),
)

RUN_RECOVERIES = (
    # One due time outlives nine deaths: a try that took money, its reversal, and then a second try that took some.
    BackgroundCrash(
        231,
        RUN,
        _ANSWERED,
        (ends(GIVEN_BACK, GIVEN_BACK, PAID),),
        recoveries=(
            _OVERDUE,
            _NOTED,
            # The first try is not undone yet, so that the second has to wait although its time has come.
            BackgroundKill("after job postponed", (REVERSAL_OWED,), asleep=RecoveryTask.REVERSE),
            BackgroundKill(
                "during the wait for an acquirer that has undone it", manner=Manner.ACT_AND_HOLD, path=REVERSALS
            ),
            BackgroundKill("after reversal request", asleep=RUN_TOPIC),
            BackgroundKill("after decided completion", asleep=RUN_TOPIC),
            Kill("before payment started"),
            _ANSWERED,
        ),
    ),
    BackgroundCrash(
        233,
        ENDED_RUN,
        Kill("after run due"),
        (DROPPED,),
        recoveries=(Kill("during run dropped", (DUE, "run dropped")),),
    ),
)

TOKEN_CRASHES = (
    BackgroundCrash(242, TOKEN, Kill("after token request"), (HAS_TOKEN,)),
    BackgroundCrash(243, TOKEN, Kill("during token stored", (NO_TOKEN, TOKEN_STORED)), (HAS_TOKEN,)),
)

FURTHER_RUN_CRASHES = (
    BackgroundCrash(201, RUN, Kill("before run due"), (MADE,)),
    BackgroundCrash(203, RUN, Kill("after run due"), (MADE,)),
    BackgroundCrash(204, LATE_RUN, Kill("before run due"), (MADE_LATE,)),
    BackgroundCrash(206, RUN, Kill("before payment started"), (MADE,)),
    BackgroundCrash(207, RUN, Kill("during payment started", (DUE, STARTED)), (MADE, MADE_AFTER_NOTHING)),
    BackgroundCrash(208, RUN, Kill("after payment started"), (MADE_AFTER_NOTHING,)),
    BackgroundCrash(212, RUN, _ANSWERED, (MADE_AFTER_UNDOING,)),
    BackgroundCrash(214, RUN, Kill("after completion"), (MADE,)),
    BackgroundCrash(215, RUN, Kill("before run result"), (MADE,)),
    BackgroundCrash(217, RUN, Kill("after run result"), (MADE,)),
    BackgroundCrash(218, DECLINED_RUN, Kill("during run result", ("DB declined, run due",)), (FAILED,)),
)

FURTHER_RECOVERIES = (
    BackgroundCrash(
        232,
        DECLINED_RUN,
        Kill("after run result"),
        (FAILED,),
        recoveries=(
            Kill("before payment started"),
            Kill("after completion"),
            Kill("after run result"),
        ),
    ),
    BackgroundCrash(234, ENDED_RUN, Kill("after run due"), (DROPPED,), recoveries=(Kill("after run dropped"),)),
)

FURTHER_TOKEN_CRASHES = (
    BackgroundCrash(241, TOKEN, Kill("before token request"), (HAS_TOKEN,)),
    BackgroundCrash(244, TOKEN, Kill("after token stored"), (HAS_TOKEN,)),
    BackgroundCrash(245, REMOVAL, Kill("after token removal"), (HAS_NONE,)),
    BackgroundCrash(246, REMOVAL, Kill("before token removal"), (HAS_NONE,)),
)

Sections = dict[str, tuple[BackgroundCrash, ...]]
Shares = tuple[tuple[BackgroundCrash, ...], ...]

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
