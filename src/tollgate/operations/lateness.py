"""Whether an approval comes too late: what it pays for is paid already, or costs something else by now.

What follows then, a table says.
"""

from __future__ import annotations

import msgspec

from tollgate.contract import read_prepared_money
from tollgate.operations.app import App
from tollgate.operations.checkouts import open_prepared
from tollgate.payments import LATE_DETAIL, NATURES, Checkout, CheckoutState, Nature, Outcome, Payment, Verdict
from tollgate.store import find_checkout
from tollgate.values import find_checkout_id


async def check_lateness(app: App, payment: Payment, verdict: Verdict) -> Verdict:
    """Asked before it is written down. Whoever is overtaken in between is refused by the store, and asks again."""
    checkout_id = find_checkout_id(payment.ndc)
    if checkout_id is None or verdict.outcome is not Outcome.APPROVED or payment.chain_id is not None:
        return verdict
    if NATURES[payment.payment_type] is not Nature.TAKES:
        return verdict
    checkout = await find_checkout(app.database, payment.merchant_id, checkout_id)
    if checkout is None:
        return verdict
    outcome = _weigh(app, payment, checkout)
    if outcome is Outcome.APPROVED:
        return msgspec.structs.replace(verdict, checkout_revision=checkout.revision)
    details = {**verdict.details, LATE_DETAIL: verdict.code}
    return msgspec.structs.replace(verdict, outcome=outcome, details=details)


def _weigh(app: App, payment: Payment, checkout: Checkout) -> Outcome:
    if checkout.state is CheckoutState.CANCELLED:
        return Outcome.STALE
    if checkout.subject_id == payment.id and checkout.state is not CheckoutState.OPEN:
        # It has held the checkout since it was begun, so nobody changed anything.
        return Outcome.APPROVED
    if checkout.state >= CheckoutState.DONE:
        return Outcome.LATE
    # Long after its end nobody knows any more what it cost, and nobody is told that it is paid.
    is_known = checkout.sealed_fields is not None
    is_stale = is_known and read_prepared_money(open_prepared(app, checkout)) != payment.money
    return Outcome.STALE if is_stale else Outcome.APPROVED
