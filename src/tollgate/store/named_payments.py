"""The payment that a follow-up names, read together with the first one of its chain.

Whether it may be followed up is decided in `payments`.
"""

import sqlalchemy as sa

from tollgate.payments.payment import Payment
from tollgate.store.database import Database
from tollgate.store.payment_months import is_payment
from tollgate.store.payments import PAYMENTS, read_payment
from tollgate.store.schema import payments
from tollgate.store.statements import HotRead, Statement
from tollgate.values import MerchantId

_first_of_it = sa.select(payments.c.chain_id).where(*PAYMENTS.is_it).scalar_subquery()
_columns = ", ".join(f"payments.{name}" for name in PAYMENTS.names)
_WITH_FIRST = HotRead(
    name="with_first",
    one=Statement(
        sa.union_all(
            PAYMENTS.select(*PAYMENTS.is_it),
            PAYMENTS.select(is_payment(payments, sa.bindparam("of_merchant_id"), _first_of_it)),
        ),
        is_quick=True,
    ),
    many=f"""SELECT given.n, {_columns} FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given(merchant_id, id, n)
 JOIN payment_months AS named ON named.merchant_id = given.merchant_id AND named.id = given.id
 JOIN payment_months AS months ON months.merchant_id = given.merchant_id
 AND months.id = ANY (ARRAY[named.id, named.chain_id])
 JOIN payments ON payments.merchant_id = months.merchant_id AND payments.id = months.id
 AND payments.created_at = months.created_at""",
    key_at=(PAYMENTS.at["merchant_id"], PAYMENTS.at["id"], PAYMENTS.at["created_at"]),
)


async def find_with_first(db: Database, merchant_id: MerchantId, payment_id: str) -> tuple[Payment, Payment] | None:
    """Finds a payment and the first one of its chain, which may be the same, as both were at one moment."""
    rows = await db.read(_WITH_FIRST, PAYMENTS.make_key(merchant_id, payment_id))
    found: dict[str, Payment] = {each.id: each for each in map(read_payment, rows)}
    named = found.get(payment_id)
    return None if named is None else (named, found[named.first_id])
