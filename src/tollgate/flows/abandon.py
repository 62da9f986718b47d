"""The shopper closes the bank's question or the provider's window: the attempt is given up, so that it takes no money.

A shopper who comes back instead is handled in `resume`; each of the two is refused where the other was first.
"""

from __future__ import annotations

from tollgate.catalog import get_result
from tollgate.contract import Answer, find_handover, make_session_refusal
from tollgate.flows.check_out import BUSY
from tollgate.flows.resume import ask_provider, close
from tollgate.flows.submit import show_form
from tollgate.operations import App, complete_signed, find_any_checkout, get_payment, trust
from tollgate.payments import (
    ABANDONED_CODE,
    ABANDONED_DETAIL,
    NATURES,
    OPEN_STATES,
    Checkout,
    Nature,
    Outcome,
    Payment,
    Stage,
    State,
    Verdict,
)
from tollgate.store import completion_writes, find_authentication, find_payment
from tollgate.values import Refusal, find_checkout_id, is_id

_UNPROVEN = Verdict(outcome=Outcome.DECLINED, code=ABANDONED_CODE)
_UNDECIDED = Verdict(outcome=Outcome.ABANDONED, code=ABANDONED_CODE, details={ABANDONED_DETAIL: "shopper"})


async def abandon_attempt(app: App, checkout_id: str, attempt_id: str) -> Answer:
    """Answers how the checkout stands afterwards: open, or paid where the attempt had succeeded already.

    An attempt that may still take money is refused as busy, so that nobody is told that nothing was charged.
    """
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None:
        raise make_session_refusal()
    payment = await _find_attempt(app, checkout, attempt_id)
    if payment is not None:
        await _give_up(app, payment)
        payment = await get_payment(app, payment, payment.id)
        if payment.state is State.STARTED or payment.state in OPEN_STATES:
            raise Refusal(get_result(BUSY), "the attempt is being completed")
    return await show_form(app, checkout_id, "")


async def _find_attempt(app: App, checkout: Checkout, attempt_id: str) -> Payment | None:
    """Finds an attempt that was made for this very checkout; None where there is none of that name."""
    payment = await find_payment(app.database, checkout.merchant_id, attempt_id) if is_id(attempt_id) else None
    if payment is None or find_checkout_id(trust(app, payment).ndc) != checkout.id:
        return None
    return payment


async def _give_up(app: App, payment: Payment) -> None:
    """Ends what waits for its shopper. Every write expects the payment to be waiting still."""
    if payment.state is not State.WAITING or NATURES[payment.payment_type] is not Nature.TAKES:
        return
    row = await find_authentication(app.database, payment.merchant_id, payment.id)
    if row is not None:
        if row.stage is not Stage.CLOSED:
            await close(app, payment, _UNPROVEN)
        return
    if find_handover(payment.details) is None:
        return
    # A shopper who approved and closed the window before coming back has paid, and wants what was ordered. Where the
    # provider does not answer, nobody knows that nothing was charged, and the attempt is left to the recovery worker.
    told = await ask_provider(app, payment)
    if told is not None and told.outcome is Outcome.WAITING:
        unit = completion_writes(complete_signed(app, payment, _UNDECIDED), expected=State.WAITING)
        await app.database.write(unit)
