"""Reading payments again: by id, or by the merchant's own reference.

Another merchant's payment is as unknown as none.
"""

from __future__ import annotations

import re

from tollgate.catalog import LIMITS
from tollgate.payments import Channel, Payment
from tollgate.steps import House
from tollgate.store import find_payment, list_payments
from tollgate.values import MerchantId, PaymentId

_ID = re.compile("[0-9a-f]{32}")


async def look_up(house: House, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    """What cannot be an id is not looked for: a path may hold text that no database takes, such as NUL."""
    if _ID.fullmatch(payment_id) is None:
        return None
    return await find_payment(house.database, merchant_id, PaymentId(payment_id))


async def look_up_reference(house: House, channel: Channel, merchant_transaction_id: str) -> list[Payment]:
    """Oldest first, because clients take the last one as the newest attempt."""
    return await list_payments(
        house.database, channel.merchant_id, channel.id, merchant_transaction_id, LIMITS.query_page_max
    )
