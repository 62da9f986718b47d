"""The crash points of a checkout, as rows: a shopper's submission, the merchant's answer, the call to the shop."""

from __future__ import annotations

from crash.checkout_cases import APPROVED, CheckoutCrash, CheckoutRequest, Part
from crash.crashes import Ending, Kill
from crash.payment_crashes import REVERSED
from crash.scenarios import Method

PAYING = CheckoutRequest("DB", title="DB of a checkout")
STORING = CheckoutRequest("RG", title="registration of a checkout", kind_of_checkout="registration")
ASKING = CheckoutRequest("DB", title="status of a paid checkout", part=Part.STATUS)
RETURNING = CheckoutRequest("DB", title="DB of a checkout with a challenge", part=Part.RETURN)
LATE = CheckoutRequest("DB", title="DB by PAYPAL, approved after a card", part=Part.RETURN, method=Method.PROVIDER)
REMINDING = CheckoutRequest("DB", title="reminder of a checkout", part=Part.REMINDER)

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

OPEN, LOCKED, DONE = "checkout open", "DB started, checkout locked", "DB approved, checkout done"
AWAY = "DB waiting, checkout open, authentication answered, its end is set"
BACK = "DB started, checkout locked, authentication closed, its end is set"
UNDECIDED = "DB waiting; DB approved, checkout done, an inquiry is due"
REFUSED = "DB declined; DB approved, checkout done, a reversal is due, an inquiry is due"
OWED, SENT = "reminder due", "reminder sent"

CHECKOUT_CRASHES = (
    CheckoutCrash(301, PAYING, Kill("before payment started"), (UNTOUCHED,)),
    CheckoutCrash(302, PAYING, Kill("during payment started", (OPEN, LOCKED)), (UNTOUCHED, NEVER_TAKEN)),
    CheckoutCrash(303, PAYING, Kill("after payment started"), (NEVER_TAKEN,)),
    CheckoutCrash(304, PAYING, Kill("after charge request"), (GIVEN_BACK,)),
    CheckoutCrash(305, PAYING, Kill("during completion", (LOCKED, DONE)), (PAID, GIVEN_BACK)),
    CheckoutCrash(306, PAYING, Kill("after completion"), (PAID,)),
    CheckoutCrash(
        307,
        STORING,
        Kill("during registration stored", (OPEN, "checkout done, registration active")),
        (UNTOUCHED, KEPT),
    ),
    CheckoutCrash(318, STORING, Kill("before registration stored"), (UNTOUCHED,)),
    CheckoutCrash(319, STORING, Kill("after registration stored"), (KEPT,)),
    CheckoutCrash(308, ASKING, Kill("before checkout spent"), (PAID,)),
    CheckoutCrash(309, ASKING, Kill("after checkout spent"), (TOLD,)),
    CheckoutCrash(310, REMINDING, Kill("before reminder call"), (CALLED_ONCE,)),
    CheckoutCrash(311, REMINDING, Kill("during reminder call", (OWED,)), (CALLED_ONCE, CALLED_TWICE)),
    CheckoutCrash(312, REMINDING, Kill("after reminder call"), (CALLED_TWICE,)),
    CheckoutCrash(313, REMINDING, Kill("during reminder recorded", (OWED, SENT)), (CALLED_ONCE, CALLED_TWICE)),
    CheckoutCrash(314, REMINDING, Kill("after reminder recorded"), (CALLED_ONCE,)),
    CheckoutCrash(315, RETURNING, Kill("during payment resumed", (AWAY, BACK)), (BACK_AND_PAID, BACK_AND_NEVER_TAKEN)),
    CheckoutCrash(316, RETURNING, Kill("after payment resumed"), (BACK_AND_NEVER_TAKEN,)),
    CheckoutCrash(
        317,
        LATE,
        Kill("during completion on return", (UNDECIDED, REFUSED)),
        (LATE_AND_GIVEN_BACK,),
    ),
)
