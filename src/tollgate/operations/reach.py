"""Checks that what a request names by its id belongs to the channels that its access token reaches.

Only tokens for certain channels are checked: all others reach everything of their merchant.
"""

from collections.abc import Iterable

from tollgate.catalog import codes, results
from tollgate.operations.app import App
from tollgate.store import payments, registrations, schedules
from tollgate.values import ChannelId, MerchantId, NotFound, PaymentId, is_id


async def check_reach(
    app: App, merchant_id: MerchantId, channel_ids: Iterable[ChannelId], named_ids: Iterable[str]
) -> None:
    """Refuses an object of another channel as one that does not exist; an id that is unknown is left to the flow."""
    for each in filter(is_id, named_ids):
        found = (
            await payments.find_payment(app.database, merchant_id, PaymentId(each))
            or await registrations.find_registration(app.database, merchant_id, each)
            or await schedules.find_schedule(app.database, merchant_id, each)
        )
        if found is not None and found.channel_id not in channel_ids:
            raise NotFound(results.get_result(codes.PAYMENT_UNKNOWN))
