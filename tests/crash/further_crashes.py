"""Further moments of the same seams, as rows, for the long run alone. No engine here."""

from __future__ import annotations

from crash.journeys import Write
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
from crash.method_wreckage import MethodCrash
from crash.wreckage import Ending, Kill

AUTHENTICATION_CRASHES = (
    MethodCrash(102, CARD, Kill("amid the authentication request"), (Ending(NEVER_TAKEN, FAILED),)),
    MethodCrash(
        104,
        CARD,
        Kill("amid the write that lets the shopper go", (STARTED, CHALLENGED)),
        (Ending(NEVER_TAKEN, FAILED), Ending(TIMED_OUT, PENDING)),
    ),
    MethodCrash(
        106,
        CARD,
        Kill("amid the note of the issuer's result", (CHALLENGED, ANSWERED)),
        (Ending(TAKEN, "heard"), Ending(TAKEN, "awaited no more")),
        step=Write.TELL,
    ),
    MethodCrash(
        108,
        LEFT,
        Kill("after the note of the issuer's result"),
        (Ending(TIMED_OUT, "awaited no more"),),
        step=Write.TELL,
        is_left=True,
    ),
    MethodCrash(
        122,
        ASKED_LATE,
        Kill("amid the note that the issuer is asked"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Write.COLLECT,
    ),
    MethodCrash(
        123,
        ASKED_LATE,
        Kill("after the note that the issuer is asked"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Write.COLLECT,
    ),
    MethodCrash(
        109,
        ASKED_LATE,
        Kill("after the directory's answer"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Write.COLLECT,
    ),
    MethodCrash(
        110,
        ASKED_LATE,
        Kill("amid the note that the issuer asks", ("DB waiting, authentication open, its end is set", CHALLENGED)),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Write.COLLECT,
    ),
    MethodCrash(
        111,
        ASKED_LATE,
        Kill("after the note that the issuer asks"),
        (Ending(TAKEN, "sent to the issuer"),),
        step=Write.COLLECT,
    ),
    MethodCrash(112, CARD, Kill("before the reopening"), (Ending(TAKEN, HOME),), step=Write.RETURN),
    MethodCrash(
        113,
        CARD,
        Kill("amid the reopening", (ANSWERED, REOPENED)),
        (Ending(TAKEN, HOME), Ending(NEVER_TAKEN, HOME)),
        step=Write.RETURN,
    ),
    MethodCrash(
        115,
        CARD,
        Kill("amid the sending"),
        (Ending(NEVER_TAKEN, HOME), Ending(GIVEN_BACK, HOME)),
        step=Write.RETURN,
    ),
    MethodCrash(116, CARD, Kill("after the acquirer's answer"), (Ending(GIVEN_BACK, HOME),), step=Write.RETURN),
    MethodCrash(
        117,
        CARD,
        Kill("amid the write of what the charge came to", (REOPENED, APPROVED)),
        (Ending(TAKEN, HOME), Ending(GIVEN_BACK, HOME)),
        step=Write.RETURN,
    ),
    MethodCrash(
        118, CARD, Kill("after the write of what the charge came to"), (Ending(TAKEN, HOME),), step=Write.RETURN
    ),
    MethodCrash(119, REFUSED, Kill("before the end without a charge"), (Ending(NOT_PROVEN, HOME),), step=Write.RETURN),
    MethodCrash(
        120,
        REFUSED,
        Kill("amid the end without a charge", (ANSWERED, "DB declined, authentication closed, its end is set")),
        (Ending(NOT_PROVEN, HOME),),
        step=Write.RETURN,
    ),
    MethodCrash(121, REFUSED, Kill("after the end without a charge"), (Ending(NOT_PROVEN, HOME),), step=Write.RETURN),
)

PROVIDER_CRASHES = (
    MethodCrash(141, PROVIDER, Kill("after the first write"), (Ending(NEVER_OPENED, FAILED),)),
    MethodCrash(142, PROVIDER, Kill("amid the sending"), (Ending(NEVER_OPENED, FAILED), Ending(CALLED_OFF, FAILED))),
    MethodCrash(
        144,
        PROVIDER,
        Kill("amid the second write", (STARTED, AT_PROVIDER)),
        (Ending(CALLED_OFF, FAILED), Ending(PAID, PENDING)),
    ),
    MethodCrash(145, PROVIDER, Kill("after the second write"), (Ending(PAID, PENDING),)),
    MethodCrash(146, PROVIDER, Kill("before the inquiry of a return"), (Ending(PAID, HOME),), step=Write.RETURN),
    MethodCrash(
        148,
        PROVIDER,
        Kill("amid the write of what the return learned", (AT_PROVIDER, "DB approved, an inquiry is owed")),
        (Ending(PAID, HOME),),
        step=Write.RETURN,
    ),
    MethodCrash(
        149, PROVIDER, Kill("after the write of what the return learned"), (Ending(PAID, HOME),), step=Write.RETURN
    ),
)

ACCOUNT_CRASHES = (
    MethodCrash(162, ACCOUNT, Kill("after the acquirer's answer"), (Ending(IN_NO_FILE, FAILED),)),
    MethodCrash(
        163,
        ACCOUNT,
        Kill("amid the second write", (NOTED, "DB approved, instruction open")),
        (Ending(FILED, "`000.100.112`, replayed"), Ending(IN_NO_FILE, FAILED)),
    ),
    MethodCrash(164, ACCOUNT, Kill("after the second write"), (Ending(FILED, "`000.100.112`, replayed"),)),
    MethodCrash(165, ACCOUNT, Kill("amid the desk's note", (STARTED, NOTED)), (Ending(IN_NO_FILE, FAILED),)),
)

RECOVERIES = (
    MethodCrash(
        152,
        PROVIDER,
        Kill("after the acquirer's answer"),
        (Ending(CALLED_OFF, FAILED),),
        recoveries=(Kill("after the answer to the errand"), Kill("after the errand")),
    ),
    MethodCrash(
        171,
        ACCOUNT,
        Kill("after the desk's note"),
        (Ending(IN_NO_FILE, FAILED),),
        recoveries=(
            Kill(
                "amid the desk's cancellation",
                (
                    "DB declined, instruction open, a reversal is owed",
                    "DB declined, instruction cancelled, a reversal is owed",
                ),
            ),
        ),
    ),
)

LATE_CRASHES = (
    MethodCrash(
        182,
        ACCOUNT,
        Kill("amid the file's write", ("DB approved, instruction open", "DB approved, instruction filed")),
        (COLLECTED,),
        step=None,
    ),
    MethodCrash(184, LEFT, Kill("after the end of a wait"), (Ending(TIMED_OUT, "`000.200.000`"),), step=None),
)

SECTIONS: dict[str, tuple[MethodCrash, ...]] = {
    "Further moments": (*AUTHENTICATION_CRASHES, *PROVIDER_CRASHES, *ACCOUNT_CRASHES, *RECOVERIES, *LATE_CRASHES),
}
SHARES = (AUTHENTICATION_CRASHES, (*PROVIDER_CRASHES, *ACCOUNT_CRASHES), RECOVERIES, LATE_CRASHES)
