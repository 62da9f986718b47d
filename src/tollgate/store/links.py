"""Payment links: written, given a checkout, ended, wiped, forgotten. What may happen is decided before.

Every change names what it expects, so that of two who do the same one has no effect.
"""

import sqlalchemy as sa

from tollgate.payments.checkout import Checkout, CheckoutState, LinkState, PaymentLink
from tollgate.store.checkouts import insert_checkout_writes
from tollgate.store.codec import Codec
from tollgate.store.database import Database
from tollgate.store.retention import SealedColumn
from tollgate.store.schema import checkouts, payment_links
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant

LINKS = Codec(payment_links, PaymentLink)
SEALED = SealedColumn(payment_links, payment_links.c.sealed_fields)

_UNPAID = (CheckoutState.OPEN, CheckoutState.CANCELLED)
_is_open = payment_links.c.state == LinkState.OPEN

find_link = LINKS.find
insert_link_writes = LINKS.insert()
_give_checkout = LINKS.update(
    _is_open, payment_links.c.expires_at > sa.bindparam("now"), seen=["checkout_id"], new=["checkout_id", "mac"]
)
_end = LINKS.update(_is_open, seen=["checkout_id"], new=["mac"], state=LinkState.ENDED)
# However old the checkout is: what a provider approves for it from now on is given back.
_withdraw = Statement(
    sa.update(checkouts)
    .where(
        checkouts.c.merchant_id == sa.bindparam("of_merchant_id"),
        checkouts.c.id == sa.bindparam("seen_checkout_id"),
        checkouts.c.state.in_([sa.literal_column(str(int(state))) for state in _UNPAID]),
    )
    .values(state=CheckoutState.CANCELLED)
)

wipe_links = LINKS.purge(payment_links.c.expires_at, payment_links.c.sealed_fields.is_not(None), wiped="sealed_fields")
purge_links = LINKS.purge(payment_links.c.expires_at)


async def give_checkout(
    db: Database, seen: PaymentLink, changed: PaymentLink, checkout: Checkout, now: Instant
) -> bool:
    """Makes a checkout the link's only one and withdraws the one before it.

    Returns False if another process was faster, if somebody pays or has paid the one before, or if the link is over.
    """
    writes = [*_give_checkout(seen, changed, now=now), *_withdraw_writes(seen), *insert_checkout_writes(checkout)]
    return await db.write(writes, label="link checkout")


async def end_link(db: Database, seen: PaymentLink, ended: PaymentLink) -> bool:
    """Returns False if the link has another checkout by now, is ended already, is being paid or is paid."""
    return await db.write([*_end(seen, ended), *_withdraw_writes(seen)], label="payment link ended")


def _withdraw_writes(seen: PaymentLink) -> list[Write]:
    if seen.checkout_id is None:
        return []
    return [Write(_withdraw, {"of_merchant_id": seen.merchant_id, "seen_checkout_id": seen.checkout_id}, rows=1)]
