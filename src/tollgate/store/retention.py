"""Accounts of old payments that are wiped, and pages of rows that a retired key sealed.

How long data is kept is decided elsewhere.
"""

from typing import Any, Protocol

import msgspec
import sqlalchemy as sa

from tollgate.payments.merchants import Channel
from tollgate.payments.payment import OPEN_STATES, State
from tollgate.store.codec import LIMIT, ONE, bind
from tollgate.store.database import Database
from tollgate.store.payment_months import JoinedPayments, OnPostgres, are_payments, is_in_month_of, is_payment
from tollgate.store.schema import BYTES, OPEN_INSTRUCTION, TEXT, WHOLE, instructions, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId, PaymentId


class OutlivedAccount(msgspec.Struct, frozen=True):
    id: PaymentId
    created_at: Instant
    first_id: str
    """The first payment of the chain, which has the account."""
    has_account: bool


def _bind(name: str, type_: Any = TEXT) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=type_)


_first = payments.alias("first")
_with_first = JoinedPayments(
    payments, _first, payments.c.merchant_id, sa.func.coalesce(payments.c.chain_id, payments.c.id)
)
_aged = Statement(
    sa.select(payments.c.id, payments.c.created_at, _first.c.id, _first.c.sealed_account.is_not(None))
    .select_from(_with_first)
    .where(
        payments.c.channel_id == _bind("channel_id"),
        payments.c.merchant_id == _bind("merchant_id"),
        sa.tuple_(payments.c.created_at, payments.c.id) > sa.tuple_(_bind("after_at", WHOLE), _bind("after_id")),
        OnPostgres(payments.c.created_at >= _bind("after_at", WHOLE)),
        payments.c.created_at < _bind("before", WHOLE),
    )
    .order_by(payments.c.created_at, payments.c.id)
    .limit(LIMIT)
)


async def list_outlived_accounts(
    db: Database, channel: Channel, after_at: Instant, after_id: str, before: Instant, limit: int
) -> list[OutlivedAccount]:
    """Lists a page of a channel's payments that were made before then, oldest first."""
    params = {
        "channel_id": channel.id,
        "merchant_id": channel.merchant_id,
        "after_at": after_at,
        "after_id": after_id,
        "before": before,
        "limit": limit,
    }
    return [OutlivedAccount(row[0], row[1], row[2], bool(row[3])) for row in await db.fetch(_aged, params)]


# ---- wiping ----

_of = [is_payment(payments, _bind("of_merchant_id"), _bind("first_id"))]
_member = payments.alias("member")
# Two branches, because no planner finds one OR by two indexes as surely.
_members = [
    is_payment(_member, _bind("of_merchant_id"), _bind("first_id")),
    are_payments(_member, _bind("of_merchant_id"), "chain_id", lambda column: column == _bind("first_id")),
]
_is_open = _member.c.state.in_([sa.literal_column(str(int(state))) for state in sorted({State.STARTED, *OPEN_STATES})])
_is_instructed = sa.exists().where(
    instructions.c.merchant_id == _member.c.merchant_id,
    instructions.c.id == _member.c.id,
    sa.text(f"instructions.{OPEN_INSTRUCTION}"),
)
_is_young = _member.c.created_at >= _bind("before", WHOLE)


def _any_member(reason: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.or_(*[sa.exists().where(branch, reason) for branch in _members])


# Whoever follows a payment changes its row first, so from here on nobody does, and those before are seen by what comes.
_hold = Statement(sa.update(payments).where(*_of).values(sealed_account=payments.c.sealed_account))
_wipe = Statement(
    sa.update(payments)
    .where(
        *_of,
        payments.c.sealed_account.is_not(None),
        ~_any_member(sa.or_(_is_open, _is_instructed, _is_young)),
    )
    .values(sealed_account=sa.null())
)
_open_chain = Statement(
    sa.select(payments.c.id).where(
        *_of, payments.c.sealed_account.is_not(None), _any_member(sa.or_(_is_open, _is_instructed))
    )
)
_lacks = Statement(sa.select(payments.c.sealed_account.is_(None)).where(*_of), is_quick=True)


async def wipe_account(db: Database, merchant_id: MerchantId, first_id: str, before: Instant) -> bool:
    """Returns False if it is wiped already, or a payment of its chain is younger, open, or due at a bank."""
    of = {"of_merchant_id": merchant_id, "first_id": first_id}
    return await db.write(
        [Write(_hold, of, rows=1), Write(_wipe, {**of, "before": before}, rows=1)], label="account wiped"
    )


async def has_open_chain(db: Database, merchant_id: MerchantId, first_id: str) -> bool:
    """Tells whether a payment of the chain that has not come to its end needs the account, however old it is."""
    return await db.fetch_one(_open_chain, {"of_merchant_id": merchant_id, "first_id": first_id}) is not None


async def lacks_account(db: Database, merchant_id: MerchantId, first_id: str) -> bool:
    row = await db.fetch_one(_lacks, {"of_merchant_id": merchant_id, "first_id": first_id})
    return row is not None and bool(row[0])


# ---- rows that a retired key sealed ----


class Placed(Protocol):
    """A row that a page ended with."""

    @property
    def merchant_id(self) -> MerchantId: ...

    @property
    def id(self) -> str: ...


class SealedRow(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str
    sealed: bytes


def page_sealed(table: sa.Table, *columns: sa.Column[bytes]) -> Statement:
    """Selects a page of rows in which one of the columns is sealed by another key than the active one."""
    key = (table.c.merchant_id, table.c.id)
    prefix, length = _bind("prefix", BYTES), _bind("length", sa.Integer())
    # Where nothing is sealed, this is NULL.
    is_sealed_otherwise = [sa.func.substr(column, ONE, length) != prefix for column in columns]
    is_after = sa.tuple_(*key) > sa.tuple_(*[bind("after", column) for column in key])
    return Statement(
        sa.select(*key, *columns).where(sa.or_(*is_sealed_otherwise), is_after).order_by(*key).limit(LIMIT)
    )


def make_page_params(after: Placed | None, active_prefix: bytes, limit: int) -> dict[str, Any]:
    return {
        "after_merchant_id": after.merchant_id if after else "",
        "after_id": after.id if after else "",
        "prefix": active_prefix,
        "length": len(active_prefix),
        "limit": limit,
    }


class SealedColumn:
    """A column of sealed values, which are wrapped again when the active key changes."""

    def __init__(self, table: sa.Table, column: sa.Column[bytes], *where: sa.ColumnElement[bool]) -> None:
        """where: what else is true of the row with an id."""
        self.page = page_sealed(table, column)
        is_it = [*(each == bind("of", each) for each in (table.c.merchant_id, table.c.id)), *where]
        self._rewrap = Statement(
            sa.update(table).where(*is_it, column == _bind("old", BYTES)).values({column: _bind("new", BYTES)})
        )

    async def list_page(self, db: Database, after: Placed | None, active_prefix: bytes, limit: int) -> list[SealedRow]:
        """Lists rows whose first bytes are not those of the active key, in the order of the primary key."""
        return [SealedRow(*row) for row in await db.fetch(self.page, make_page_params(after, active_prefix, limit))]

    async def rewrap(self, db: Database, found: SealedRow, new: bytes) -> bool:
        """Writes the same under another key; returns False if it was changed meanwhile."""
        params = {"of_merchant_id": found.merchant_id, "of_id": found.id, "old": found.sealed, "new": new}
        return await db.write([Write(self._rewrap, params, rows=1)], label="key rotation")


SEALED_ACCOUNTS = SealedColumn(
    payments,
    payments.c.sealed_account,
    is_in_month_of(payments, bind("of", payments.c.merchant_id), bind("of", payments.c.id)),
)
