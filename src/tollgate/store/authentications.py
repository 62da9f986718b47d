"""Authentications that payments wait for: begun, moved on one stage at a time, closed with their secret wiped.

What a stage means is decided elsewhere; here only one of two who move it at once succeeds.
"""

import sqlalchemy as sa

from tollgate.payments.authentication import AuthenticationRow, Stage
from tollgate.payments.payment import Payment
from tollgate.store.codec import Codec, bind
from tollgate.store.database import Database
from tollgate.store.schema import authentications
from tollgate.store.statements import Write

AUTHENTICATIONS = Codec(authentications, AuthenticationRow)

_is_closed = authentications.c.stage == sa.literal_column(str(int(Stage.CLOSED)), type_=authentications.c.stage.type)
find_authentication = AUTHENTICATIONS.find
insert_authentication_writes = AUTHENTICATIONS.insert()
_move = AUTHENTICATIONS.update(
    authentications.c.stage == bind("seen", authentications.c.stage), new=["stage", "body", "mac"]
)
_close = AUTHENTICATIONS.update(stage=Stage.CLOSED, sealed_secret=sa.null())
end_authentication_writes = AUTHENTICATIONS.update(~_is_closed, stage=Stage.CLOSED, sealed_secret=sa.null())
"""Closes the authentication of a payment once: the unit is undone where another ended it."""


def move_authentication_writes(row: AuthenticationRow, expected: Stage) -> list[Write]:
    """The unit is undone where the authentication has moved on meanwhile."""
    return _move(row, row, seen_stage=expected)


def close_authentication_writes(payment: Payment) -> list[Write]:
    """Wipes the secret at any stage, and any number of times."""
    return _close(payment, rows=None)


async def move_authentication(db: Database, row: AuthenticationRow, expected: Stage, *, label: str) -> bool:
    return await db.write(move_authentication_writes(row, expected), label=label)
