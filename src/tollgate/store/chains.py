"""Chains of payments: follow-ups are started, balances are changed and ledger entries posted.

What may follow what is decided before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.ledger import Balance, BalanceChange, Entry, expand_closures
from tollgate.payments.payment import IdempotencyKey, Payment, State
from tollgate.store.database import Database
from tollgate.store.idempotency import idempotency_writes
from tollgate.store.payment_rows import SHOWN, flatten_payment, read_payment
from tollgate.store.schema import ledger, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId


def _bind(name: str) -> sa.BindParameter[int]:
    """Typed, because PostgreSQL cannot tell the type of a sum that it is given one part of."""
    return sa.bindparam(name, type_=payments.c.amount.type)


_SUMS = Balance.__struct_fields__
_left = (
    payments.c.amount
    + (payments.c.added + _bind("d_added"))
    - (payments.c.drawn + _bind("d_drawn"))
    - (payments.c.held + _bind("d_held"))
)
_balance_change = Statement(
    sa.update(payments)
    .where(
        payments.c.merchant_id == sa.bindparam("of_merchant_id"),
        payments.c.id == sa.bindparam("of_id"),
        _left >= _bind("left_min"),
        _left <= _bind("left_max"),
        payments.c.draws + _bind("d_draws") <= _bind("draws_max"),
        payments.c.disputed <= _bind("disputed_max"),
        payments.c.closed.op("&")(_bind("barred_by")) == sa.literal_column("0"),
        payments.c.chain_net + _bind("d_chain_net") >= _bind("net_min"),
    )
    .values({name: payments.c[name] + _bind(f"d_{name}") for name in _SUMS})
)
_GUARDS = ("left_min", "left_max", "draws_max", "disputed_max", "net_min")


def balance_change_writes(merchant_id: MerchantId, balance_change: BalanceChange) -> list[Write]:
    """Moves one balance; the unit is undone where a guard does not hold."""
    params: dict[str, Any] = {"of_merchant_id": merchant_id, "of_id": balance_change.payment_id}
    params |= {f"d_{name}": getattr(balance_change, name) for name in _SUMS}
    params |= {name: getattr(balance_change, name) for name in _GUARDS}
    return [Write(_balance_change, params | {"barred_by": expand_closures(balance_change.barred_by)}, rows=1)]


_first = payments.alias("first")
# Touching the first payment has numbered the transaction before it is inserted in the same unit.
_next_position = (
    sa.select(_first.c.chain_length)
    .where(_first.c.merchant_id == sa.bindparam("merchant_id"), _first.c.id == sa.bindparam("chain_id"))
    .scalar_subquery()
)
_columns = tuple(column.name for column in payments.columns if column.name not in {"position", "sealed_account"})
_insert = Statement(
    sa.insert(payments).values({name: sa.bindparam(name) for name in _columns} | {"position": _next_position})
)


def start_follow_up_writes(
    payment: Payment, balance_changes: Sequence[BalanceChange], idempotency_key: IdempotencyKey | None = None
) -> list[Write]:
    """Reservation, started attempt and idempotency claim, to be one commit."""
    if payment.state is not State.STARTED or payment.chain_id is None:
        raise ValueError("a later transaction is started, and within a chain")
    writes = [
        write
        for balance_change in balance_changes
        for write in balance_change_writes(payment.merchant_id, balance_change)
    ]
    if idempotency_key is not None:
        writes += idempotency_writes(idempotency_key, payment)
    row = flatten_payment(payment) | {"idempotency_key": None if idempotency_key is None else idempotency_key.key}
    del row["position"]
    return [*writes, Write(_insert, row, rows=1)]


_chain = Statement(
    sa.select(*SHOWN)
    .where(
        payments.c.merchant_id == sa.bindparam("merchant_id"),
        sa.or_(payments.c.id == sa.bindparam("first_id"), payments.c.chain_id == sa.bindparam("first_id")),
    )
    .order_by(payments.c.position)
    .limit(sa.bindparam("limit"))
)


async def list_chain(db: Database, merchant_id: MerchantId, first_id: str, limit: int) -> list[Payment]:
    """A first payment and all that followed it, in the order they came."""
    rows = await db.fetch(_chain, {"merchant_id": merchant_id, "first_id": first_id, "limit": limit})
    return [read_payment(row) for row in rows]


ENTRY = Entry.__struct_fields__
_post = Statement(sa.insert(ledger).values({name: sa.bindparam(name) for name in ENTRY}))


def post_entry_writes(entry: Entry) -> list[Write]:
    return [Write(_post, msgspec.structs.asdict(entry), rows=1)]
