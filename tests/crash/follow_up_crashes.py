"""The crash points of follow-up payments, of facts, repeats and technical reversals, as rows. No engine here."""

from __future__ import annotations

from acquirer import Manner
from crash.crashes import Crash, Ending, Kill, Request, Share
from crash.payment_crashes import DB, PA, UNHEARD, given_back, never_taken, taken

CP = Request("CP", ("PA",))
FINAL_CP = Request("CP", ("PA",), extra=(("sequence", "FINAL"),), title="final CP of PA")
RV_OF_PA = Request("RV", ("PA",), Share.REST)
RV_OF_DB = Request("RV", ("DB",), Share.REST)
RF_OF_DB = Request("RF", ("DB",))
RF_OF_CP = Request("RF", ("PA", "CP"))
RB = Request("RB", ("DB",))
INCREMENT = Request(
    "PA", ("PA",), extra=(("standingInstruction.industryPractice", "INCREMENTAL_AUTH"),), title="increment of PA"
)
EXCESS = Request("RF", ("DB",), Share.TOO_MUCH, title="refused RF of DB")
CB = Request("CB", ("DB",))


def repeated(payment_type: str) -> Ending:
    """It was completed as pending when its process was dead, and then finished under the same key."""
    return Ending(f"{payment_type} approved `000.100.112`, executed once", "`000.200.000`, replayed")


REFUSED = Ending("RF declined `700.400.200`", "`700.400.200`, replayed")
UNRECORDED = Ending("nothing", "`000.100.200`")
# A bank has no idempotency key; a second chargeback of the same payment is refused as such.
RECORDED = Ending("CB approved `000.100.200`", "`700.400.400`")

RESERVED, REPEAT_OWED = "CP started, money reserved", "CP unresolved, money reserved, a repeat is due"
REVERSAL_OWED, REVERSAL_BEGUN = "DB declined, a reversal is due", "DB declined; RV started"

_WRITTEN = Kill("after follow-up started")
_ANSWERED = Kill("after follow-up request")

SENDING_CRASHES = (
    Crash(1, CP, Kill("before follow-up started"), (UNHEARD,)),
    Crash(2, CP, Kill("during follow-up started", ("nothing", RESERVED)), (UNHEARD, repeated("CP"))),
    Crash(3, CP, _WRITTEN, (repeated("CP"),)),
    Crash(4, CP, Kill("during follow-up request"), (repeated("CP"),)),
    Crash(5, CP, Kill("during the wait for an acquirer that has not acted"), (repeated("CP"),), Manner.HOLD),
    Crash(6, CP, Kill("during the wait for an acquirer that has acted"), (repeated("CP"),), Manner.ACT_AND_HOLD),
    Crash(7, CP, _ANSWERED, (repeated("CP"),)),
    Crash(8, CP, Kill("during follow-up completion", (RESERVED, "CP approved")), (taken("CP"), repeated("CP"))),
    Crash(9, CP, Kill("after follow-up completion"), (taken("CP"),)),
    *(
        Crash(10 + 2 * place + shift, request, kill, (repeated(request.payment_type),))
        for place, request in enumerate((FINAL_CP, RV_OF_PA, RV_OF_DB, RF_OF_DB, RF_OF_CP, RB))
        for shift, kill in enumerate((_WRITTEN, _ANSWERED))
    ),
    Crash(22, INCREMENT, _WRITTEN, (never_taken("PA"),)),
    Crash(23, INCREMENT, _ANSWERED, (given_back("PA"),)),
    Crash(24, EXCESS, _WRITTEN, (REFUSED,)),
    Crash(25, EXCESS, Kill("after follow-up completion"), (REFUSED,)),
)

FACT_CRASHES = (
    Crash(31, CB, Kill("before fact recorded"), (UNRECORDED,)),
    Crash(32, CB, Kill("during fact recorded", ("nothing", "CB started")), (UNRECORDED, RECORDED)),
    Crash(33, CB, Kill("after fact recorded"), (RECORDED,)),
    Crash(34, CB, Kill("during decided completion", ("CB started", "CB approved")), (RECORDED,)),
    Crash(35, CB, Kill("after decided completion"), (RECORDED,)),
)

RECOVERY_CRASHES = (
    # Each takes up where the one before it died, so one capture outlives six deaths.
    Crash(
        41,
        CP,
        _ANSWERED,
        (repeated("CP"),),
        recoveries=(
            Kill("before overdue completion"),
            Kill("after overdue completion"),
            Kill("before recovery request"),
            Kill("after recovery request"),
            Kill("after recovery completion"),
        ),
    ),
    Crash(
        42,
        CP,
        _WRITTEN,
        (repeated("CP"),),
        # The recovery worker may be done with this one before the process is killed, so nothing can follow here.
        recoveries=(Kill("during overdue completion", (RESERVED, REPEAT_OWED, "CP approved")),),
    ),
    Crash(
        45,
        CP,
        _WRITTEN,
        (repeated("CP"),),
        recoveries=(
            Kill("during recovery request"),
            Kill("during recovery completion", (REPEAT_OWED, "CP approved")),
        ),
    ),
    # It was never sent, so the recovery task that dies is the one that executed it.
    Crash(43, RF_OF_CP, _WRITTEN, (repeated("RF"),), recoveries=(Kill("after recovery request"),)),
    Crash(
        44,
        CB,
        Kill("after fact recorded"),
        (RECORDED,),
        recoveries=(
            Kill("before overdue completion"),
            Kill("after overdue completion"),
        ),
    ),
)

REVERSAL_CRASHES = (
    Crash(
        51,
        DB,
        Kill("after charge request"),
        (given_back("DB"),),
        recoveries=(
            Kill("before reversal recorded"),
            Kill("after reversal recorded"),
            Kill("after overdue completion"),
        ),
    ),
    Crash(
        52,
        DB,
        Kill("after payment started"),
        (never_taken("DB"),),
        recoveries=(Kill("during reversal recorded", (REVERSAL_OWED, REVERSAL_BEGUN)),),
    ),
    Crash(
        53,
        PA,
        Kill("after charge request"),
        (given_back("PA"),),
        recoveries=(Kill("after decided completion"),),
    ),
    Crash(
        54,
        INCREMENT,
        _ANSWERED,
        (given_back("PA"),),
        recoveries=(
            Kill("after overdue completion"),
            Kill("during decided completion", ("PA declined; RV started", "PA declined; RV approved")),
        ),
    ),
)
