"""Authentications that payments wait for: begun, moved on one stage at a time, closed with their secret wiped.

What a stage means is decided elsewhere; here only one of two who move it at once succeeds.
"""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from tollgate.payments.authentication import AuthenticationCase, AuthenticationRow, Stage
from tollgate.store.database import Database
from tollgate.store.schema import authentications
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId, PaymentId

_MEMBERS = AuthenticationRow.__struct_fields__
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(AuthenticationCase).decode

_of = (
    authentications.c.merchant_id == sa.bindparam("of_merchant_id"),
    authentications.c.id == sa.bindparam("of_id"),
)
_insert = Statement(sa.insert(authentications).values({name: sa.bindparam(name) for name in _MEMBERS}))
_find = Statement(sa.select(*[authentications.c[name] for name in _MEMBERS]).where(*_of), is_quick=True)
_move = Statement(
    sa.update(authentications)
    .where(*_of, authentications.c.stage == sa.bindparam("expected", type_=authentications.c.stage.type))
    .values(stage=sa.bindparam("new_stage"), body=sa.bindparam("new_body"), mac=sa.bindparam("new_mac"))
)
_wiped = {"stage": int(Stage.CLOSED), "sealed_secret": sa.null()}
_close = Statement(sa.update(authentications).where(*_of).values(_wiped))
_end = Statement(
    sa.update(authentications)
    .where(
        *_of, authentications.c.stage != sa.literal_column(str(int(Stage.CLOSED)), type_=authentications.c.stage.type)
    )
    .values(_wiped)
)


def insert_authentication_writes(row: AuthenticationRow) -> list[Write]:
    flat = msgspec.structs.asdict(row) | {"stage": int(row.stage), "body": _encode(row.body).decode()}
    return [Write(_insert, flat, rows=1)]


def move_authentication_writes(row: AuthenticationRow, expected: Stage) -> list[Write]:
    """The unit is undone where it has moved on meanwhile."""
    params = {"expected": int(expected), "new_stage": int(row.stage), "new_body": _encode(row.body).decode()}
    params["new_mac"] = row.mac
    return [Write(_move, _name(row.merchant_id, row.id) | params, rows=1)]


def close_authentication_writes(merchant_id: MerchantId, payment_id: PaymentId) -> list[Write]:
    """At any stage and as often as one likes: what it kept is wiped."""
    return [Write(_close, _name(merchant_id, payment_id))]


def end_authentication_writes(merchant_id: MerchantId, payment_id: PaymentId) -> list[Write]:
    """As closing, but once: the unit is undone where another ended it, whatever its payment waits for since then."""
    return [Write(_end, _name(merchant_id, payment_id), rows=1)]


async def find_authentication(db: Database, merchant_id: MerchantId, payment_id: PaymentId) -> AuthenticationRow | None:
    found = await db.fetch_one(_find, _name(merchant_id, payment_id))
    if found is None:
        return None
    named = dict(zip(_MEMBERS, found, strict=True))
    return AuthenticationRow(**named | {"stage": Stage(named["stage"]), "body": _decode(named["body"])})


async def move_authentication(db: Database, row: AuthenticationRow, expected: Stage, *, label: str) -> bool:
    return await db.write(move_authentication_writes(row, expected), label=label)


def _name(merchant_id: MerchantId, payment_id: PaymentId) -> dict[str, object]:
    return {"of_merchant_id": merchant_id, "of_id": payment_id}
