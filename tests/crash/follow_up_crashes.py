"""Every seam of what follows a payment, of facts, of repeats and of technical reversals, as rows. No engine here."""

from __future__ import annotations

from acquirer import Manner
from crash.payment_crashes import DB, PA, UNHEARD, given_back, never_taken, taken
from crash.wreckage import Crash, Deed, Ending, Kill, Share

CP = Deed("CP", ("PA",))
FINAL_CP = Deed("CP", ("PA",), extra=(("sequence", "FINAL"),), title="final CP of PA")
RV_OF_PA = Deed("RV", ("PA",), Share.REST)
RV_OF_DB = Deed("RV", ("DB",), Share.REST)
RF_OF_DB = Deed("RF", ("DB",))
RF_OF_CP = Deed("RF", ("PA", "CP"))
RB = Deed("RB", ("DB",))
INCREMENT = Deed(
    "PA", ("PA",), extra=(("standingInstruction.industryPractice", "INCREMENTAL_AUTH"),), title="increment of PA"
)
EXCESS = Deed("RF", ("DB",), Share.TOO_MUCH, title="refused RF of DB")
CB = Deed("CB", ("DB",))


def repeated(kind: str) -> Ending:
    """Settled as pending when its process was dead, and then finished under the same key."""
    return Ending(f"{kind} approved `000.100.112`, executed once", "`000.200.000`, replayed")


REFUSED = Ending("RF declined `700.400.200`", "`700.400.200`, replayed")
UNRECORDED = Ending("nothing", "`000.100.200`")
# A bank has no idempotency key; a second chargeback of the same payment is refused as such.
RECORDED = Ending("CB approved `000.100.200`", "`700.400.400`")

RESERVED, REPEAT_OWED = "CP started, money reserved", "CP unresolved, money reserved, a repeat is owed"
REVERSAL_OWED, REVERSAL_BEGUN = "DB declined, a reversal is owed", "DB declined; RV started"

_WRITTEN = Kill("after the follow-up's first write")
_ANSWERED = Kill("after the answer to the follow-up")

SENDING_CRASHES = (
    Crash(1, CP, Kill("before the follow-up's first write"), (UNHEARD,)),
    Crash(2, CP, Kill("amid the follow-up's first write", ("nothing", RESERVED)), (UNHEARD, repeated("CP"))),
    Crash(3, CP, _WRITTEN, (repeated("CP"),)),
    Crash(4, CP, Kill("amid the follow-up's sending"), (repeated("CP"),)),
    Crash(5, CP, Kill("amid the wait for an acquirer that has not acted"), (repeated("CP"),), Manner.HOLD),
    Crash(6, CP, Kill("amid the wait for an acquirer that has acted"), (repeated("CP"),), Manner.ACT_AND_HOLD),
    Crash(7, CP, _ANSWERED, (repeated("CP"),)),
    Crash(8, CP, Kill("amid the follow-up's second write", (RESERVED, "CP approved")), (taken("CP"), repeated("CP"))),
    Crash(9, CP, Kill("after the follow-up's second write"), (taken("CP"),)),
    *(
        Crash(10 + 2 * place + shift, deed, kill, (repeated(deed.kind),))
        for place, deed in enumerate((FINAL_CP, RV_OF_PA, RV_OF_DB, RF_OF_DB, RF_OF_CP, RB))
        for shift, kill in enumerate((_WRITTEN, _ANSWERED))
    ),
    Crash(22, INCREMENT, _WRITTEN, (never_taken("PA"),)),
    Crash(23, INCREMENT, _ANSWERED, (given_back("PA"),)),
    Crash(24, EXCESS, _WRITTEN, (REFUSED,)),
    Crash(25, EXCESS, Kill("after the follow-up's second write"), (REFUSED,)),
)

FACT_CRASHES = (
    Crash(31, CB, Kill("before the record's first write"), (UNRECORDED,)),
    Crash(32, CB, Kill("amid the record's first write", ("nothing", "CB started")), (UNRECORDED, RECORDED)),
    Crash(33, CB, Kill("after the record's first write"), (RECORDED,)),
    Crash(34, CB, Kill("amid the second write of what is decided", ("CB started", "CB approved")), (RECORDED,)),
    Crash(35, CB, Kill("after the second write of what is decided"), (RECORDED,)),
)

RECOVERY_CRASHES = (
    # Each takes up where the one before it died, so one capture outlives six deaths.
    Crash(
        41,
        CP,
        _ANSWERED,
        (repeated("CP"),),
        recoveries=(
            Kill("before settling an overdue follow-up"),
            Kill("after settling an overdue follow-up"),
            Kill("before the errand's sending"),
            Kill("after the answer to the errand"),
            Kill("after the write of what the errand learned"),
        ),
    ),
    Crash(
        42,
        CP,
        _WRITTEN,
        (repeated("CP"),),
        # The worker that runs errands may be done with this one before the knife falls, so nothing can follow here.
        recoveries=(Kill("amid settling an overdue follow-up", (RESERVED, REPEAT_OWED, "CP approved")),),
    ),
    Crash(
        45,
        CP,
        _WRITTEN,
        (repeated("CP"),),
        recoveries=(
            Kill("amid the errand's sending"),
            Kill("amid the write of what the errand learned", (REPEAT_OWED, "CP approved")),
        ),
    ),
    # It was never sent, so the errand that dies is the one that executed it.
    Crash(43, RF_OF_CP, _WRITTEN, (repeated("RF"),), recoveries=(Kill("after the answer to the errand"),)),
    Crash(
        44,
        CB,
        Kill("after the record's first write"),
        (RECORDED,),
        recoveries=(
            Kill("before settling an overdue follow-up"),
            Kill("after settling an overdue follow-up"),
        ),
    ),
)

REVERSAL_CRASHES = (
    Crash(
        51,
        DB,
        Kill("after the acquirer's answer"),
        (given_back("DB"),),
        recoveries=(
            Kill("before the reversal's first write"),
            Kill("after the reversal's first write"),
            Kill("after settling an overdue follow-up"),
        ),
    ),
    Crash(
        52,
        DB,
        Kill("after the first write"),
        (never_taken("DB"),),
        recoveries=(Kill("amid the reversal's first write", (REVERSAL_OWED, REVERSAL_BEGUN)),),
    ),
    Crash(
        53,
        PA,
        Kill("after the acquirer's answer"),
        (given_back("PA"),),
        recoveries=(Kill("after the second write of what is decided"),),
    ),
    Crash(
        54,
        INCREMENT,
        _ANSWERED,
        (given_back("PA"),),
        recoveries=(
            Kill("after settling an overdue follow-up"),
            Kill("amid the second write of what is decided", ("PA declined; RV started", "PA declined; RV approved")),
        ),
    ),
)
