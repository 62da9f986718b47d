"""The page of one checkout. The id of a checkout is enough to pay it, so pages show it shortened and name it otherwise.

Lists are in `lists`.
"""

import re
from collections.abc import Mapping
from hashlib import sha256

from tollgate.catalog import limits, permissions
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit, make_not_found
from tollgate.operations import checkouts, signing
from tollgate.operations.app import App
from tollgate.payments.checkout import Checkout, CheckoutState
from tollgate.payments.payment import Payment
from tollgate.store import listings
from tollgate.values import Money, hide_checkout_ids
from tollgate.vault.sealing import EnvelopeError
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()

CHECKOUT_TONES: Mapping[CheckoutState, str] = {
    CheckoutState.OPEN: "open",
    CheckoutState.LOCKED: "open",
    CheckoutState.DONE: "good",
    CheckoutState.SPENT: "good",
    CheckoutState.CANCELLED: "bad",
}
_STATE_TEXTS: Mapping[CheckoutState, str] = {
    CheckoutState.OPEN: "Anybody with the id may pay it.",
    CheckoutState.LOCKED: "An attempt is under way, and no other may begin.",
    CheckoutState.DONE: "It is paid, or the account is registered; the merchant has not read the result yet.",
    CheckoutState.SPENT: "It is paid, or the account is registered, and the merchant has read the result.",
    CheckoutState.CANCELLED: "The merchant withdrew it; later approvals are reversed.",
}
_REFERENCE = re.compile("([0-9]{1,18})-([0-9a-f]{16})")


def get_reference(checkout: Checkout) -> str:
    """Returns the name of a checkout in addresses of the back office: its time, and a hash in place of its id."""
    return f"{checkout.created_at}-{sha256(checkout.id.encode()).hexdigest()[:16]}"


def find_money(app: App, checkout: Checkout) -> Money | None:
    """Returns the prepared amount, as long as it is known; a tampered row has none."""
    try:
        return None if checkout.sealed_fields is None else checkouts.find_prepared_money(app, checkout)
    except EnvelopeError:
        return None


def keep_visible(visit: Visit, payments: list[Payment]) -> list[Payment]:
    """Returns the payments of channels that the user may see, without tampered ones."""
    return [
        payment
        for payment in payments
        if visit.may(permissions.Permission.VIEW_PAYMENTS, payment.channel_id)
        and signing.is_trusted(visit.app, payment)
    ]


@ROUTES.add("GET", f"{OF_MERCHANT}/checkouts/{{reference}}", permissions.Permission.VIEW_PAYMENTS)
async def show_checkout(visit: Visit) -> Reply:
    """Shows a checkout and the payments that were made from it."""
    checkout = await _get_checkout(visit)
    visit.check(permissions.Permission.VIEW_PAYMENTS, checkout.channel_id)
    found = await listings.list_checkout_payments(visit.app.database, checkout, limits.LIMITS.payments_shown)
    is_over = checkout.state is CheckoutState.OPEN and checkout.is_over(visit.app.clock.now())
    return visit.render(
        "one_checkout.html",
        title=f"Checkout {hide_checkout_ids(checkout.id).partition('.')[0]}",
        checkout=checkout,
        state="expired" if is_over else checkout.state.name.lower(),
        tone="bad" if is_over else CHECKOUT_TONES[checkout.state],
        text="Nobody can pay it any more." if is_over else _STATE_TEXTS[checkout.state],
        channel=visit.app.merchants.find_channel(checkout.channel_id),
        money=find_money(visit.app, checkout),
        attempts_max=limits.LIMITS.checkout_attempts_max,
        payments=keep_visible(visit, found),
    )


async def _get_checkout(visit: Visit) -> Checkout:
    match = _REFERENCE.fullmatch(visit.names[0])
    if match is not None:
        at = int(match[1])
        for checkout in await listings.list_checkouts_at(visit.app.database, visit.get_merchant().id, at):
            if get_reference(checkout) == visit.names[0]:
                return checkout
    raise make_not_found("checkout")
