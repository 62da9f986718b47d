"""The payment that a page is about, with its chain: found, checked for the user, and checked for tampering.

What may be done with it is decided by the pages.
"""

import msgspec

from tollgate.catalog import codes, limits, permissions, results
from tollgate.office.visits import Visit, make_not_found
from tollgate.operations import signing
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.store import database, payments
from tollgate.values import Conflict, is_id

TAMPERED = "A row of this chain is not what the gateway wrote. Nothing can be done with it: run `tollgate verify`."


class Found(msgspec.Struct, frozen=True, kw_only=True):
    payment: Payment
    chain: tuple[Payment, ...]
    channel: Channel
    tampered: frozenset[str]
    """The ids of the payments of the chain whose signatures are wrong."""

    @property
    def path(self) -> str:
        """Returns the path of the payment's page, below the merchant's pages."""
        return f"/payments/{self.payment.id}"


async def get_found(
    visit: Visit, payment_id: str, permission: permissions.Permission = permissions.Permission.VIEW_PAYMENTS
) -> Found:
    """Finds a payment for a user; one of a channel that the user may not see is unknown."""
    try:
        found = await _find(visit, payment_id)
    except database.Unreadable:
        raise Conflict(results.get_result(codes.INTERNAL_ERROR), TAMPERED) from None
    if found is None or not visit.may(permissions.Permission.VIEW_PAYMENTS, found.payment.channel_id):
        raise make_not_found("payment")
    visit.check(permission, found.payment.channel_id)
    return found


async def _find(visit: Visit, payment_id: str) -> Found | None:
    app, merchant_id = visit.app, visit.get_merchant().id
    payment = await payments.find_payment(app.database, merchant_id, payment_id) if is_id(payment_id) else None
    channel = None if payment is None else app.merchants.find_channel(payment.channel_id)
    if payment is None or channel is None:
        return None
    chain = await payments.list_chain(app.database, merchant_id, payment.first_id, limits.LIMITS.chain_rows_max)
    tampered = frozenset(each.id for each in (payment, *chain) if not signing.has_signature(each, app.keyring))
    return Found(payment=payment, chain=tuple(chain), channel=channel, tampered=tampered)


def refuse_tampered(found: Found) -> None:
    """Refuses to act on a chain of which a row was changed by somebody else."""
    for payment_id in sorted(found.tampered):
        signing.report_tampering("payment", payment_id)
        raise Conflict(results.get_result(codes.INTERNAL_ERROR), TAMPERED)
