"""The payment that a page is about, with its chain: found, checked for the user, and checked for tampering.

What may be done with it is decided by the pages.
"""

import msgspec

from tollgate.catalog import codes, limits, permissions, results
from tollgate.office.visits import Visit, make_not_found
from tollgate.operations import archives, signing
from tollgate.payments.archiving import is_being_archived
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.store import database, payments
from tollgate.store.archives import ChainRows
from tollgate.values import Conflict, is_id

TAMPERED = "A row of this chain is not what the gateway wrote. Nothing can be done with it: run `tollgate verify`."


class Found(msgspec.Struct, frozen=True, kw_only=True):
    payment: Payment
    chain: tuple[Payment, ...]
    channel: Channel
    tampered: frozenset[str]
    """The ids of the payments of the chain whose signatures are wrong."""
    archived: ChainRows | None = None
    """The rows of the chain as they were archived; None while it is in the database."""

    @property
    def is_over(self) -> bool:
        """Tells whether the chain was archived, or is being archived: nothing follows it any more."""
        return self.archived is not None or is_being_archived(self.chain[0])

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
    if payment is None and is_id(payment_id):
        return await _find_archived(visit, payment_id)
    channel = None if payment is None else app.merchants.find_channel(payment.channel_id)
    if payment is None or channel is None:
        return None
    chain = await payments.list_chain(app.database, merchant_id, payment.first_id, limits.LIMITS.chain_rows_max)
    tampered = frozenset(each.id for each in (payment, *chain) if not signing.has_signature(each, app.keyring))
    return Found(payment=payment, chain=tuple(chain), channel=channel, tampered=tampered)


async def _find_archived(visit: Visit, payment_id: str) -> Found | None:
    app = visit.app
    rows = await archives.find_rows(app, visit.get_merchant().id, payment_id)
    if rows is None:
        return None
    chain = rows.read_payments()
    payment = next(each for each in chain if each.id == payment_id)
    channel = app.merchants.find_channel(payment.channel_id)
    if channel is None:
        return None
    tampered = frozenset(each.id for each in chain if not signing.has_signature(each, app.keyring))
    return Found(payment=payment, chain=tuple(chain), channel=channel, tampered=tampered, archived=rows)


def refuse_tampered(found: Found) -> None:
    """Refuses to act on a chain of which a row was changed by somebody else."""
    for payment_id in sorted(found.tampered):
        signing.report_tampering("payment", payment_id)
        raise Conflict(results.get_result(codes.INTERNAL_ERROR), TAMPERED)
