"""Checks that what a request names by its id belongs to the channels that its access token reaches.

Only tokens for certain channels are checked: all others reach everything of their merchant.
"""

from collections.abc import Iterable, Sequence

from tollgate.catalog import codes, results
from tollgate.operations import archives
from tollgate.operations.app import App
from tollgate.payments.checkout import Checkout, PaymentLink
from tollgate.payments.payment import Payment
from tollgate.payments.registration import Registration
from tollgate.payments.schedule import Schedule
from tollgate.store import checkouts, links, payments, registrations, schedules
from tollgate.values import ChannelId, MerchantId, NotFound, PaymentId, find_link_node, find_node, is_id


async def check_reach(
    app: App, merchant_id: MerchantId, channel_ids: Sequence[ChannelId], named_ids: Iterable[str]
) -> None:
    """Refuses an object of another channel as one that does not exist; an id that is unknown is left to the flow."""
    for each in filter(is_id, named_ids):
        if (await find_own_channel_id(app, merchant_id, each) or channel_ids[0]) not in channel_ids:
            raise NotFound(results.get_result(codes.PAYMENT_UNKNOWN))


async def find_own_channel_id(app: App, merchant_id: MerchantId, named_id: str) -> ChannelId | None:
    """Finds the channel of the payment, registration, schedule, checkout or payment link with this id."""
    database = app.database
    found: Payment | Registration | Schedule | Checkout | PaymentLink | None = None
    if is_id(named_id):
        found = (
            await payments.find_payment(database, merchant_id, PaymentId(named_id))
            or await registrations.find_registration(database, merchant_id, named_id)
            or await schedules.find_schedule(database, merchant_id, named_id)
        )
    elif find_node(named_id) is not None:
        found = await checkouts.find_checkout(database, merchant_id, named_id)
    elif find_link_node(named_id) is not None:
        found = await links.find_link(database, merchant_id, named_id)
    if found is None and is_id(named_id):
        found = await archives.find_payment(app, merchant_id, named_id)
    return None if found is None else found.channel_id
