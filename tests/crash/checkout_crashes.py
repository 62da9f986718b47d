"""The seams of a checkout, as rows: what a shopper submits, what its merchant is told, and the call to its shop."""

from __future__ import annotations

from crash.checkout_wreckage import APPROVED, CheckoutCrash, CheckoutDeed, Part
from crash.journeys import Method
from crash.payment_crashes import REVERSED
from crash.wreckage import Ending, Kill

PAYING = CheckoutDeed("DB", title="DB of a checkout")
STORING = CheckoutDeed("RG", title="registration of a checkout", kind_of_checkout="registration")
ASKING = CheckoutDeed("DB", title="status of a paid checkout", part=Part.STATUS)
RETURNING = CheckoutDeed("DB", title="DB of a checkout with a challenge", part=Part.RETURN)
LATE = CheckoutDeed("DB", title="DB by PAYPAL, approved after a card", part=Part.RETURN, method=Method.PROVIDER)
REMINDING = CheckoutDeed("DB", title="reminder of a checkout", part=Part.REMINDER)

SILENT, PENDING, GONE = "900.100.300", "000.200.000", "200.300.404"

UNTOUCHED = Ending("checkout open", f"`{PENDING}`, `{APPROVED}`")
PAID = Ending("DB approved `000.100.112`, executed once; checkout done", f"`{APPROVED}`")
NEVER_TAKEN = Ending(
    f"DB declined `{SILENT}`, never executed{REVERSED}; checkout open",
    f"`{SILENT}`, `{APPROVED}`",
)
GIVEN_BACK = Ending(
    f"DB declined `{SILENT}`, executed once and undone{REVERSED}; checkout open",
    f"`{SILENT}`, `{APPROVED}`",
)
KEPT = Ending("checkout done; registration active", f"`{APPROVED}`")
TOLD = Ending("DB approved `000.100.112`, executed once; checkout spent", f"`{GONE}`")
CALLED_ONCE = Ending("the shop was called once; reminder sent", "")
CALLED_TWICE = Ending("the shop was called twice; reminder sent", "")

BACK_AND_PAID = Ending(PAID.rows, f"sent to the shop, `{APPROVED}`")
BACK_AND_NEVER_TAKEN = Ending(NEVER_TAKEN.rows, f"sent to the shop, `{SILENT}`")
LATE_AND_GIVEN_BACK = Ending(
    f"DB declined `800.110.100`, executed once and undone; {PAID.rows.partition(';')[0]}{REVERSED}; checkout done",
    f"sent to the shop, `{APPROVED}`",
)

OPEN, LOCKED, DONE = "checkout open", "DB started, checkout claimed", "DB approved, checkout done"
AWAY = "DB waiting, checkout open, authentication answered, its end is set"
BACK = "DB started, checkout claimed, authentication closed, its end is set"
UNDECIDED = "DB waiting; DB approved, checkout done, an inquiry is owed"
REFUSED = "DB declined; DB approved, checkout done, a reversal is owed, an inquiry is owed"
OWED, SENT = "reminder owed", "reminder sent"

CHECKOUT_CRASHES = (
    CheckoutCrash(301, PAYING, Kill("before the first write of a checkout"), (UNTOUCHED,)),
    CheckoutCrash(302, PAYING, Kill("amid the first write of a checkout", (OPEN, LOCKED)), (UNTOUCHED, NEVER_TAKEN)),
    CheckoutCrash(303, PAYING, Kill("after the first write of a checkout"), (NEVER_TAKEN,)),
    CheckoutCrash(304, PAYING, Kill("after the acquirer's answer"), (GIVEN_BACK,)),
    CheckoutCrash(305, PAYING, Kill("amid the second write", (LOCKED, DONE)), (PAID, GIVEN_BACK)),
    CheckoutCrash(306, PAYING, Kill("after the second write"), (PAID,)),
    CheckoutCrash(
        307,
        STORING,
        Kill("amid the write of a checkout's registration", (OPEN, "checkout done, registration active")),
        (UNTOUCHED, KEPT),
    ),
    CheckoutCrash(308, ASKING, Kill("before the spending of a checkout"), (PAID,)),
    CheckoutCrash(309, ASKING, Kill("after the spending of a checkout"), (TOLD,)),
    CheckoutCrash(310, REMINDING, Kill("before the call to the shop"), (CALLED_ONCE,)),
    CheckoutCrash(311, REMINDING, Kill("amid the call to the shop", (OWED,)), (CALLED_ONCE, CALLED_TWICE)),
    CheckoutCrash(312, REMINDING, Kill("after the call to the shop"), (CALLED_TWICE,)),
    CheckoutCrash(313, REMINDING, Kill("amid the note of the call", (OWED, SENT)), (CALLED_ONCE, CALLED_TWICE)),
    CheckoutCrash(314, REMINDING, Kill("after the note of the call"), (CALLED_ONCE,)),
    CheckoutCrash(315, RETURNING, Kill("amid the reopening", (AWAY, BACK)), (BACK_AND_PAID, BACK_AND_NEVER_TAKEN)),
    CheckoutCrash(316, RETURNING, Kill("after the reopening"), (BACK_AND_NEVER_TAKEN,)),
    CheckoutCrash(
        317,
        LATE,
        Kill("amid the write of what the return learned", (UNDECIDED, REFUSED)),
        (LATE_AND_GIVEN_BACK,),
    ),
)
