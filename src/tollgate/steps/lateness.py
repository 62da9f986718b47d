"""Whether an approval comes too late, because what it pays for is paid already. What follows then, a table says."""

from __future__ import annotations

import msgspec

from tollgate.payments import LATE_DETAIL, NATURES, CheckoutState, Nature, Outcome, Payment, Verdict
from tollgate.steps.house import House
from tollgate.store import find_checkout
from tollgate.values import find_checkout_id


async def weigh_lateness(house: House, payment: Payment, verdict: Verdict) -> Verdict:
    """Asked before it is written down. Whoever is overtaken in between is refused by the store, and asks again."""
    checkout_id = find_checkout_id(payment.ndc)
    if checkout_id is None or verdict.outcome is not Outcome.APPROVED or payment.chain_id is not None:
        return verdict
    checkout = await find_checkout(house.database, payment.merchant_id, checkout_id)
    if checkout is None or checkout.state < CheckoutState.DONE or checkout.subject_id == payment.id:
        return verdict
    if NATURES[payment.kind] is not Nature.TAKES:
        return verdict
    details = {**verdict.details, LATE_DETAIL: verdict.code}
    return msgspec.structs.replace(verdict, outcome=Outcome.LATE, details=details)
