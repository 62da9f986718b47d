"""The crash points of authenticated shoppers, of providers' pages and of bank accounts, as rows. No engine here.

Those of every run; further moments, which only the long run takes the time for, stand in `further_crashes`.
"""

from __future__ import annotations

from crash.crashes import Ending, Kill
from crash.method_cases import MethodCrash, MethodRequest
from crash.payment_crashes import REVERSED
from crash.scenarios import Method, Step

CARD = MethodRequest("DB", title="DB with a challenge")
ASKED_LATE = MethodRequest("DB", title="DB whose page asks the browser first", brings_browser=False)
LEFT = MethodRequest("DB", title="DB with a challenge, whose shopper leaves")
REFUSED = MethodRequest("DB", title="DB with a challenge that fails", status="N")
PROVIDER = MethodRequest("DB", title="DB by PAYPAL", method=Method.PROVIDER)
ACCOUNT = MethodRequest("DB", title="DB by direct debit", method=Method.ACCOUNT)

HOME, PENDING, FAILED = "sent to the shop", "`000.200.000`, replayed", "`900.100.300`, replayed"

TAKEN = "DB approved `000.100.112`, executed once"
GIVEN_BACK = f"DB declined `900.100.300`, executed once and undone{REVERSED}"
NEVER_TAKEN = f"DB declined `900.100.300`, never executed{REVERSED}"
TIMED_OUT = "DB declined `100.396.103`, never charged"
NOT_PROVEN = "DB declined `100.380.401`, never charged"


STARTED, CHALLENGED = "DB started", "DB waiting, authentication challenged, its end is set"
ANSWERED = "DB waiting, authentication answered, its end is set"
REOPENED = "DB started, authentication closed, its end is set"
APPROVED = "DB approved, authentication closed, its end is set"

PAID = f"{TAKEN}, session approved"
CALLED_OFF = f"DB declined `900.100.300`, never charged, session cancelled{REVERSED}"
NEVER_OPENED = f"DB declined `900.100.300`, never charged, session unknown{REVERSED}"
AT_PROVIDER = "DB waiting, an inquiry is due"

FILED = "DB approved `000.100.112`, in one file"
IN_NO_FILE = f"DB declined `900.100.300`, in no file{REVERSED}"
NOTED = "DB started, instruction open"

COLLECTED = Ending(FILED, "`000.100.112`")

AUTHENTICATION_CRASHES = (
    MethodCrash(101, CARD, Kill("before authentication request"), (Ending(NEVER_TAKEN, FAILED),)),
    MethodCrash(103, CARD, Kill("after authentication request"), (Ending(NEVER_TAKEN, FAILED),)),
    MethodCrash(105, CARD, Kill("after authentication pending"), (Ending(TIMED_OUT, PENDING),)),
    MethodCrash(
        107,
        CARD,
        Kill("after challenge result"),
        (Ending(TAKEN, "awaited no more"),),
        step=Step.TELL,
    ),
    MethodCrash(114, CARD, Kill("after payment resumed"), (Ending(NEVER_TAKEN, HOME),), step=Step.RETURN),
)

AUTHENTICATION_RECOVERIES = (
    MethodCrash(
        131,
        CARD,
        Kill("after charge request"),
        (Ending(GIVEN_BACK, HOME),),
        recoveries=(Kill("after overdue completion"), Kill("after reversal request")),
        step=Step.RETURN,
    ),
)

PROVIDER_CRASHES = (
    MethodCrash(143, PROVIDER, Kill("after charge request"), (Ending(CALLED_OFF, FAILED),)),
    MethodCrash(147, PROVIDER, Kill("after inquiry on return"), (Ending(PAID, HOME),), step=Step.RETURN),
)

PROVIDER_RECOVERIES = (
    MethodCrash(
        151,
        PROVIDER,
        Kill("after inquiry on return"),
        (Ending(PAID, HOME),),
        recoveries=(
            Kill("after recovery request"),
            Kill("during recovery completion", (AT_PROVIDER, "DB approved")),
        ),
        step=Step.RETURN,
    ),
)

ACCOUNT_CRASHES = (MethodCrash(161, ACCOUNT, Kill("after instruction queued"), (Ending(IN_NO_FILE, FAILED),)),)

ACCOUNT_RECOVERIES = (
    MethodCrash(
        172,
        ACCOUNT,
        Kill("after charge request"),
        (Ending(IN_NO_FILE, FAILED),),
        recoveries=(Kill("after instruction cancelled"), Kill("before reversal recorded")),
    ),
    MethodCrash(
        173,
        ACCOUNT,
        Kill("before instruction queued"),
        (Ending(IN_NO_FILE, FAILED),),
        recoveries=(Kill("after instruction queued"),),
    ),
)

LATE_COLLECTIONS = (
    MethodCrash(
        181,
        ACCOUNT,
        Kill("before bank file"),
        (COLLECTED,),
        recoveries=(Kill("after bank file"),),
        step=None,
    ),
)

LATE_SHOPPERS = (
    MethodCrash(
        183,
        LEFT,
        Kill("before waiting expired"),
        (Ending(TIMED_OUT, "`000.200.000`"),),
        recoveries=(Kill("during waiting expired", (CHALLENGED, "DB declined, authentication closed")),),
        step=None,
    ),
)

SECTIONS: dict[str, tuple[MethodCrash, ...]] = {
    "3-D Secure": (*AUTHENTICATION_CRASHES, *AUTHENTICATION_RECOVERIES, *LATE_SHOPPERS),
    "Providers' pages": (*PROVIDER_CRASHES, *PROVIDER_RECOVERIES),
    "SEPA direct debits": (*ACCOUNT_CRASHES, *ACCOUNT_RECOVERIES, *LATE_COLLECTIONS),
}
SHARES = (
    (*AUTHENTICATION_CRASHES, *PROVIDER_CRASHES, *ACCOUNT_CRASHES),
    (*AUTHENTICATION_RECOVERIES, *PROVIDER_RECOVERIES, *ACCOUNT_RECOVERIES),
    (*LATE_COLLECTIONS, *LATE_SHOPPERS),
)
"""Each in a world of its own: much of a recovery is waiting, and in the last one weeks go by."""
