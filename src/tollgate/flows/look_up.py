"""Reading a payment or a registration again by its id. Lists are told in `report`.

Another merchant's is as unknown as none.
"""

from __future__ import annotations

from tollgate.catalog import get_result
from tollgate.operations import App, get_registration, trust
from tollgate.payments import UNUSABLE, WIPED, Payment, Registration
from tollgate.store import find_payment, find_registration
from tollgate.values import MerchantId, NotFound, PaymentId, Refusal, is_id


async def look_up(app: App, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    """Finds a payment; a row whose seal is broken raises, and nothing of it is answered."""
    payment = await find_payment(app.database, merchant_id, PaymentId(payment_id)) if is_id(payment_id) else None
    return None if payment is None else trust(app, payment)


async def look_up_registration(app: App, merchant_id: MerchantId, registration_id: str) -> Registration | None:
    return await find_registration(app.database, merchant_id, registration_id) if is_id(registration_id) else None


async def show_registration(app: App, merchant_id: MerchantId, registration_id: str) -> Registration:
    """As its merchant may read it, or the reason why there is nothing to read."""
    registration = await get_registration(app, merchant_id, registration_id, unknown=NotFound)
    if registration.state in WIPED:
        raise Refusal(get_result(UNUSABLE[registration.state]))
    return registration
