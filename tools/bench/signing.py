"""Signs payments that were filled in by the thousand, as the server would have. Measures nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import sqlalchemy as sa

from tollgate.operations.signing import make_signature
from tollgate.store.merchants import list_merchants
from tollgate.store.opening import open_database
from tollgate.store.payments import find_payment
from tollgate.store.schema import payments
from tollgate.store.statements import Statement, Write
from tollgate.vault.keyring import load_keyring

_seal = Statement(
    sa.update(payments)
    .where(payments.c.merchant_id == sa.bindparam("of_merchant_id"), payments.c.id == sa.bindparam("of_id"))
    .values(mac=sa.bindparam("new_mac"))
)


def sign_payments(address: str, key_path: Path, ids: Iterable[str]) -> None:
    """Signs the payments beside the running server, in one commit."""
    asyncio.run(_sign_all(address, key_path, ids))


async def _sign_all(address: str, key_path: Path, ids: Iterable[str]) -> None:
    keyring = load_keyring(key_path)
    database = await open_database(address)
    try:
        [merchant] = await list_merchants(database)
        steps = []
        for payment_id in ids:
            payment = await find_payment(database, merchant.id, payment_id)
            if payment is None:
                raise LookupError(f"payment {payment_id} was picked and is gone")
            params = {"of_merchant_id": merchant.id, "of_id": payment.id, "new_mac": make_signature(payment, keyring)}
            steps.append(Write(_seal, params, rows=1))
        await database.write(steps, label="bench")
    finally:
        await database.close()
