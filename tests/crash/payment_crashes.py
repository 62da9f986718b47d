"""Every seam of a payment and of its recovery, as rows: where the gateway dies, how that may end. No engine here."""

from __future__ import annotations

from acquirer import Manner
from crash.wreckage import Crash, Deed, Ending, Kill

DB, PA, CD = Deed("DB"), Deed("PA"), Deed("CD")

UNHEARD = Ending("nothing", "`000.100.112`")
"""Nothing was recorded, so nobody was ever asked for money; the next try is the first."""
REVERSED = "; RV approved `000.100.112`"


def taken(kind: str) -> Ending:
    return Ending(f"{kind} approved `000.100.112`, executed once", "`000.100.112`, replayed")


def given_back(kind: str) -> Ending:
    return Ending(f"{kind} declined `900.100.300`, executed once and undone{REVERSED}", "`900.100.300`, replayed")


def never_taken(kind: str) -> Ending:
    return Ending(f"{kind} declined `900.100.300`, never executed{REVERSED}", "`900.100.300`, replayed")


# A credit is answered as pending first, and that answer is repeated; what it came to is read by its id.
PAID_OUT = Ending("CD approved `000.100.112`, executed once", "`000.200.000`, replayed")
NEVER_PAID_OUT = Ending("CD declined `900.100.310`, never executed", "`000.200.000`, replayed")

_INQUIRY_OWED = "CD unresolved, an inquiry is owed"

PAYMENT_CRASHES = (
    Crash(1, DB, Kill("before the first write"), (UNHEARD,)),
    Crash(2, DB, Kill("amid the first write", ("nothing", "DB started")), (UNHEARD, never_taken("DB"))),
    Crash(3, DB, Kill("after the first write"), (never_taken("DB"),)),
    Crash(4, DB, Kill("amid the sending"), (never_taken("DB"), given_back("DB"))),
    Crash(5, DB, Kill("amid the wait for an acquirer that has not acted"), (never_taken("DB"),), Manner.HOLD),
    Crash(6, DB, Kill("amid the wait for an acquirer that has acted"), (given_back("DB"),), Manner.ACT_AND_HOLD),
    Crash(7, DB, Kill("after the acquirer's answer"), (given_back("DB"),)),
    Crash(8, DB, Kill("amid the second write", ("DB started", "DB approved")), (taken("DB"), given_back("DB"))),
    Crash(9, DB, Kill("after the second write"), (taken("DB"),)),
    Crash(10, CD, Kill("after the first write"), (NEVER_PAID_OUT,)),
    # Each takes up where the one before it died, so one payment outlives six deaths.
    Crash(
        11,
        PA,
        Kill("after the acquirer's answer"),
        (given_back("PA"),),
        recoveries=(
            Kill("before settling an overdue attempt"),
            Kill("after settling an overdue attempt"),
            Kill("before the errand's sending"),
            Kill("after the answer to the errand"),
            Kill("after the errand"),
        ),
    ),
    Crash(
        12,
        CD,
        Kill("after the acquirer's answer"),
        (PAID_OUT,),
        # The worker that runs errands may be done with this one before the knife falls, so nothing can follow here.
        recoveries=(Kill("amid settling an overdue attempt", ("CD started", _INQUIRY_OWED, "CD approved")),),
    ),
    Crash(
        13,
        CD,
        Kill("after the acquirer's answer"),
        (PAID_OUT,),
        recoveries=(Kill("amid the errand", (_INQUIRY_OWED, "CD approved")),),
    ),
)
