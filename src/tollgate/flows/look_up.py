"""Reading a payment again by its id. Lists are told in `report`.

Another merchant's payment is as unknown as none.
"""

from __future__ import annotations

import re

from tollgate.payments import Payment
from tollgate.steps import House
from tollgate.store import find_payment
from tollgate.values import MerchantId, PaymentId

_ID = re.compile("[0-9a-f]{32}")


async def look_up(house: House, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    """What cannot be an id is not looked for: a path may hold text that no database takes, such as NUL."""
    if _ID.fullmatch(payment_id) is None:
        return None
    return await find_payment(house.database, merchant_id, PaymentId(payment_id))
