"""Further moments of the same crash points, as rows, for the long run alone. No engine here."""

from __future__ import annotations

from crash.crashes import Ending, Kill
from crash.method_cases import MethodCrash
from crash.method_crashes import (
    ACCOUNT,
    ANSWERED,
    APPROVED,
    ASKED_LATE,
    AT_PROVIDER,
    CALLED_OFF,
    CARD,
    CHALLENGED,
    COLLECTED,
    FAILED,
    FILED,
    GIVEN_BACK,
    HOME,
    IN_NO_FILE,
    LEFT,
    NEVER_OPENED,
    NEVER_TAKEN,
    NOT_PROVEN,
    NOTED,
    PAID,
    PENDING,
    PROVIDER,
    REFUSED,
    REOPENED,
    STARTED,
    TAKEN,
    TIMED_OUT,
)
from crash.scenarios import Step

AUTHENTICATION_CRASHES = (
    MethodCrash(102, CARD, Kill("during authentication request"), (Ending(NEVER_TAKEN, FAILED),)),
    MethodCrash(
        104,
        CARD,
        Kill("during authentication pending", (STARTED, CHALLENGED)),
        (Ending(NEVER_TAKEN, FAILED), Ending(TIMED_OUT, PENDING)),
    ),
    MethodCrash(
        106,
        CARD,
        Kill("during challenge result", (CHALLENGED, ANSWERED)),
        (Ending(TAKEN, "heard"), Ending(TAKEN, "awaited no more")),
        step=Step.TELL,
    ),
    MethodCrash(
        108,
        LEFT,
        Kill("after challenge result"),
        (Ending(TIMED_OUT, "awaited no more"),),
        step=Step.TELL,
        is_left=True,
    ),
    MethodCrash(
        122,
        ASKED_LATE,
        Kill("during issuer asked"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Step.COLLECT,
    ),
    MethodCrash(
        123,
        ASKED_LATE,
        Kill("after issuer asked"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Step.COLLECT,
    ),
    MethodCrash(
        109,
        ASKED_LATE,
        Kill("after authentication request"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Step.COLLECT,
    ),
    MethodCrash(
        110,
        ASKED_LATE,
        Kill("during issuer answered", ("DB waiting, authentication open, its end is set", CHALLENGED)),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Step.COLLECT,
    ),
    MethodCrash(
        111,
        ASKED_LATE,
        Kill("after issuer answered"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Step.COLLECT,
    ),
    MethodCrash(112, CARD, Kill("before payment resumed"), (Ending(TAKEN, HOME),), step=Step.RETURN),
    MethodCrash(
        113,
        CARD,
        Kill("during payment resumed", (ANSWERED, REOPENED)),
        (Ending(TAKEN, HOME), Ending(NEVER_TAKEN, HOME)),
        step=Step.RETURN,
    ),
    MethodCrash(
        115,
        CARD,
        Kill("during charge request"),
        (Ending(NEVER_TAKEN, HOME), Ending(GIVEN_BACK, HOME)),
        step=Step.RETURN,
    ),
    MethodCrash(116, CARD, Kill("after charge request"), (Ending(GIVEN_BACK, HOME),), step=Step.RETURN),
    MethodCrash(
        117,
        CARD,
        Kill("during completion", (REOPENED, APPROVED)),
        (Ending(TAKEN, HOME), Ending(GIVEN_BACK, HOME)),
        step=Step.RETURN,
    ),
    MethodCrash(118, CARD, Kill("after completion"), (Ending(TAKEN, HOME),), step=Step.RETURN),
    MethodCrash(119, REFUSED, Kill("before closed without charge"), (Ending(NOT_PROVEN, HOME),), step=Step.RETURN),
    MethodCrash(
        120,
        REFUSED,
        Kill("during closed without charge", (ANSWERED, "DB declined, authentication closed, its end is set")),
        (Ending(NOT_PROVEN, HOME),),
        step=Step.RETURN,
    ),
    MethodCrash(121, REFUSED, Kill("after closed without charge"), (Ending(NOT_PROVEN, HOME),), step=Step.RETURN),
)

PROVIDER_CRASHES = (
    MethodCrash(141, PROVIDER, Kill("after payment started"), (Ending(NEVER_OPENED, FAILED),)),
    MethodCrash(
        142, PROVIDER, Kill("during charge request"), (Ending(NEVER_OPENED, FAILED), Ending(CALLED_OFF, FAILED))
    ),
    MethodCrash(
        144,
        PROVIDER,
        Kill("during completion", (STARTED, AT_PROVIDER)),
        (Ending(CALLED_OFF, FAILED), Ending(PAID, PENDING)),
    ),
    MethodCrash(145, PROVIDER, Kill("after completion"), (Ending(PAID, PENDING),)),
    MethodCrash(146, PROVIDER, Kill("before inquiry on return"), (Ending(PAID, HOME),), step=Step.RETURN),
    MethodCrash(
        148,
        PROVIDER,
        Kill("during completion on return", (AT_PROVIDER, "DB approved, an inquiry is due")),
        (Ending(PAID, HOME),),
        step=Step.RETURN,
    ),
    MethodCrash(149, PROVIDER, Kill("after completion on return"), (Ending(PAID, HOME),), step=Step.RETURN),
)

ACCOUNT_CRASHES = (
    MethodCrash(162, ACCOUNT, Kill("after charge request"), (Ending(IN_NO_FILE, FAILED),)),
    MethodCrash(
        163,
        ACCOUNT,
        Kill("during completion", (NOTED, "DB approved, instruction open")),
        (Ending(FILED, "`000.100.112`, replayed"), Ending(IN_NO_FILE, FAILED)),
    ),
    MethodCrash(164, ACCOUNT, Kill("after completion"), (Ending(FILED, "`000.100.112`, replayed"),)),
    MethodCrash(165, ACCOUNT, Kill("during instruction queued", (STARTED, NOTED)), (Ending(IN_NO_FILE, FAILED),)),
)

RECOVERIES = (
    MethodCrash(
        152,
        PROVIDER,
        Kill("after charge request"),
        (Ending(CALLED_OFF, FAILED),),
        recoveries=(Kill("after reversal request"), Kill("after decided completion")),
    ),
    MethodCrash(
        171,
        ACCOUNT,
        Kill("after instruction queued"),
        (Ending(IN_NO_FILE, FAILED),),
        recoveries=(
            Kill(
                "during instruction cancelled",
                (
                    "DB declined, instruction open, a reversal is due",
                    "DB declined, instruction cancelled, a reversal is due",
                ),
            ),
        ),
    ),
)

LATE_CRASHES = (
    MethodCrash(
        182,
        ACCOUNT,
        Kill("during bank file", ("DB approved, instruction open", "DB approved, instruction filed")),
        (COLLECTED,),
        step=None,
    ),
    MethodCrash(184, LEFT, Kill("after waiting expired"), (Ending(TIMED_OUT, "`000.200.000`"),), step=None),
)

SECTIONS: dict[str, tuple[MethodCrash, ...]] = {
    "Further moments": (*AUTHENTICATION_CRASHES, *PROVIDER_CRASHES, *ACCOUNT_CRASHES, *RECOVERIES, *LATE_CRASHES),
}
SHARES = (AUTHENTICATION_CRASHES, (*PROVIDER_CRASHES, *ACCOUNT_CRASHES), RECOVERIES, LATE_CRASHES)
