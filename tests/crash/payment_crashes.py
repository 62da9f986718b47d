"""The crash points of a payment and its recovery, as rows: where the gateway dies, how that may end. No engine here."""

from __future__ import annotations

from acquirer import DECLINED_CENTS, Manner
from crash.crashes import Crash, Ending, Kill, Request

DB, PA, CD = Request("DB"), Request("PA"), Request("CD")
_STORE = (("createRegistration", "true"),)
STORING = Request("DB", extra=_STORE, title="DB that registers its card")
STORING_IN_VAIN = Request("DB", extra=_STORE, title="declined DB that registers its card", cents=DECLINED_CENTS)

UNHEARD = Ending("nothing", "`000.100.112`")
"""Nothing was recorded, so the acquirer was never asked; the next try is the first."""
REVERSED = "; RV approved `000.100.112`"


def taken(payment_type: str) -> Ending:
    return Ending(f"{payment_type} approved `000.100.112`, executed once", "`000.100.112`, replayed")


def given_back(payment_type: str) -> Ending:
    return Ending(
        f"{payment_type} declined `900.100.300`, executed once and undone{REVERSED}", "`900.100.300`, replayed"
    )


def never_taken(payment_type: str) -> Ending:
    return Ending(f"{payment_type} declined `900.100.300`, never executed{REVERSED}", "`900.100.300`, replayed")


# A credit is answered as pending first, and that answer is repeated; what it came to is read by its id.
PAID_OUT = Ending("CD approved `000.100.112`, executed once", "`000.200.000`, replayed")
NEVER_PAID_OUT = Ending("CD declined `900.100.310`, never executed", "`000.200.000`, replayed")

_INQUIRY_OWED = "CD unresolved, an inquiry is due"

PAYMENT_CRASHES = (
    Crash(1, DB, Kill("before payment started"), (UNHEARD,)),
    Crash(2, DB, Kill("during payment started", ("nothing", "DB started")), (UNHEARD, never_taken("DB"))),
    Crash(3, DB, Kill("after payment started"), (never_taken("DB"),)),
    Crash(4, DB, Kill("during charge request"), (never_taken("DB"), given_back("DB"))),
    Crash(5, DB, Kill("during the wait for an acquirer that has not acted"), (never_taken("DB"),), Manner.HOLD),
    Crash(6, DB, Kill("during the wait for an acquirer that has acted"), (given_back("DB"),), Manner.ACT_AND_HOLD),
    Crash(7, DB, Kill("after charge request"), (given_back("DB"),)),
    Crash(8, DB, Kill("during completion", ("DB started", "DB approved")), (taken("DB"), given_back("DB"))),
    Crash(9, DB, Kill("after completion"), (taken("DB"),)),
    Crash(10, CD, Kill("after payment started"), (NEVER_PAID_OUT,)),
)

PAYMENT_RECOVERIES = (
    # Each takes up where the one before it died, so one payment outlives six deaths.
    Crash(
        11,
        PA,
        Kill("after charge request"),
        (given_back("PA"),),
        recoveries=(
            Kill("before overdue completion"),
            Kill("after overdue completion"),
            Kill("before reversal request"),
            Kill("after reversal request"),
            Kill("after decided completion"),
        ),
    ),
    Crash(
        12,
        CD,
        Kill("after charge request"),
        (PAID_OUT,),
        # The recovery worker may be done with this one before the process is killed, so nothing can follow here.
        recoveries=(Kill("during overdue completion", ("CD started", _INQUIRY_OWED, "CD approved")),),
    ),
    Crash(
        13,
        CD,
        Kill("after charge request"),
        (PAID_OUT,),
        recoveries=(Kill("during recovery completion", (_INQUIRY_OWED, "CD approved")),),
    ),
)

ACTIVE, REJECTED = "; registration active", "; registration rejected"
PENDING = "DB started, registration pending"
_DECLINED = "`800.100.152`"


def _join(ending: Ending, registration: str) -> Ending:
    return Ending(ending.rows + registration, ending.heard)


STORED = _join(taken("DB"), ACTIVE)
STORED_NOTHING = _join(never_taken("DB"), REJECTED)
STORED_AND_UNDONE = _join(given_back("DB"), REJECTED)
_STORED_IN_VAIN = Ending(f"DB declined {_DECLINED}, declined by the acquirer{REJECTED}", f"{_DECLINED}, replayed")
_IN_VAIN_AND_UNSURE = Ending(
    f"DB declined `900.100.300`, declined by the acquirer{REVERSED}{REJECTED}", "`900.100.300`, replayed"
)

STORING_CRASHES = (
    Crash(21, STORING, Kill("before payment started"), (UNHEARD,)),
    Crash(
        22,
        STORING,
        Kill("during payment started", ("nothing", PENDING)),
        (UNHEARD, STORED_NOTHING),
    ),
    Crash(23, STORING, Kill("after payment started"), (STORED_NOTHING,)),
    Crash(24, STORING, Kill("during charge request"), (STORED_NOTHING, STORED_AND_UNDONE)),
    Crash(25, STORING, Kill("after charge request"), (STORED_AND_UNDONE,)),
    Crash(
        26,
        STORING,
        Kill("during completion", (PENDING, "DB approved, registration active")),
        (STORED, STORED_AND_UNDONE),
    ),
    Crash(27, STORING, Kill("after completion"), (STORED,)),
    Crash(
        28,
        STORING_IN_VAIN,
        Kill("during completion", (PENDING, "DB declined, registration rejected")),
        (_STORED_IN_VAIN, _IN_VAIN_AND_UNSURE),
    ),
    Crash(29, STORING_IN_VAIN, Kill("after completion"), (_STORED_IN_VAIN,)),
)
