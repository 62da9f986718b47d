"""Pages of rows for people, newest first, and the payments of a checkout or a registration. Nothing is written.

A page begins after a place in the order, by index, so a late page costs what the first one costs.
"""

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa

from tollgate.payments.checkout import Checkout
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import BEYOND_ALL, Place
from tollgate.store import bank_files, database, registrations, schedules, statements
from tollgate.store.checkouts import CHECKOUTS
from tollgate.store.codec import LIMIT, UNREADABLE, Codec, bind
from tollgate.store.payments import PAYMENTS, read_if_sound
from tollgate.store.schema import TEXT, WHOLE, checkouts, payments
from tollgate.values import Instant, MerchantId

_log = logging.getLogger("tollgate.store")

T = TypeVar("T", bound=msgspec.Struct)

_SHAPES_KEPT = 64


class Listing(Generic[T]):
    """The rows of a table that belong to a merchant, by their time."""

    def __init__(self, codec: Codec[T]) -> None:
        self._codec = codec
        self.find = codec.find
        self._make = lru_cache(_SHAPES_KEPT)(self._compose)

    def _compose(self, channels: int, has_state: bool) -> statements.Statement:
        table = self._codec.table
        owner: sa.ColumnElement[str] = table.c.merchant_id
        if table is checkouts:
            # Checkouts have an index by time alone; spelled so that no planner sorts all of a merchant instead.
            owner = owner.concat(sa.literal_column("''"))
        where = [
            owner == sa.bindparam("merchant_id", type_=TEXT),
            table.c.channel_id.in_([sa.bindparam(f"channel_{place}", type_=TEXT) for place in range(channels)]),
            sa.tuple_(table.c.created_at, table.c.id)
            < sa.tuple_(sa.bindparam("before_at", type_=WHOLE), sa.bindparam("before_id", type_=TEXT)),
        ]
        if has_state:
            where.append(table.c.state == sa.bindparam("state", type_=WHOLE))
        return statements.Statement(
            self._codec.select(*where).order_by(table.c.created_at.desc(), table.c.id.desc()).limit(LIMIT)
        )

    async def list_page(
        self,
        db: database.Database,
        merchant_id: MerchantId,
        channel_ids: Sequence[str],
        *,
        before: Place | None,
        state: int | None,
        limit: int,
    ) -> tuple[list[T], Place | None]:
        """Returns a page, and the place after which the next one begins; None if there is no other."""
        if not channel_ids:
            return [], None
        place = before or BEYOND_ALL
        params = {
            "merchant_id": merchant_id,
            "before_at": place.at,
            "before_id": place.id,
            "state": state,
            "limit": limit + 1,
            **{f"channel_{number}": channel_id for number, channel_id in enumerate(channel_ids)},
        }
        rows = await db.fetch(self._make(len(channel_ids), state is not None), params)
        at = self._codec.at
        last = rows[limit - 1] if len(rows) > limit else None
        following = None if last is None else Place(last[at["created_at"]], last[at["id"]])
        return [each for row in rows[:limit] if (each := self._read(row)) is not None], following

    def _read(self, row: Any) -> T | None:
        try:
            return self._codec.decode(row)
        except UNREADABLE:
            _log.error("a row cannot be read: run `tollgate verify`", extra={"table": self._codec.table.name})
            return None


CHECKOUT_LISTING = Listing(CHECKOUTS)
REGISTRATION_LISTING = Listing(registrations.REGISTRATIONS)
SCHEDULE_LISTING = Listing(schedules.SCHEDULES)
BANK_FILE_LISTING: Listing[bank_files.BankFile] = Listing(bank_files.BANK_FILES)

_of_merchant = payments.c.merchant_id == bind("of", payments.c.merchant_id)
_newest = (payments.c.created_at.desc(), payments.c.id.desc())
_by_checkout = statements.Statement(
    # There is no index by checkout: its payments are made while it can be paid, so the time narrows them down.
    PAYMENTS.select(
        _of_merchant,
        payments.c.channel_id == bind("of", payments.c.channel_id),
        payments.c.created_at >= sa.bindparam("since", type_=WHOLE),
        payments.c.created_at <= sa.bindparam("until", type_=WHOLE),
        payments.c.checkout_id == bind("of", payments.c.checkout_id),
    )
    .order_by(*_newest)
    .limit(LIMIT)
)
_by_registration = statements.Statement(
    PAYMENTS.select(_of_merchant, payments.c.registration_id == bind("of", payments.c.registration_id))
    .order_by(*_newest)
    .limit(LIMIT)
)
_by_transaction = statements.Statement(
    PAYMENTS.select(
        _of_merchant,
        payments.c.channel_id == bind("of", payments.c.channel_id),
        payments.c.merchant_transaction_id == bind("of", payments.c.merchant_transaction_id),
    )
    .order_by(*_newest)
    .limit(LIMIT)
)
_checkouts_at = statements.Statement(
    CHECKOUTS.select(
        checkouts.c.created_at == sa.bindparam("at", type_=WHOLE),
        checkouts.c.merchant_id == bind("of", checkouts.c.merchant_id),
    )
)


async def _list_payments(
    db: database.Database, statement: statements.Statement, limit: int, **params: Any
) -> list[Payment]:
    rows = await db.fetch(statement, {**params, "limit": limit})
    return [payment for row in rows if (payment := read_if_sound(row)) is not None]


async def list_checkout_payments(db: database.Database, checkout: Checkout, limit: int) -> list[Payment]:
    return await _list_payments(
        db,
        _by_checkout,
        limit,
        of_merchant_id=checkout.merchant_id,
        of_channel_id=checkout.channel_id,
        of_checkout_id=checkout.id,
        since=checkout.created_at,
        until=checkout.expires_at,
    )


async def list_registration_payments(
    db: database.Database, merchant_id: MerchantId, registration_id: str, limit: int
) -> list[Payment]:
    return await _list_payments(
        db, _by_registration, limit, of_merchant_id=merchant_id, of_registration_id=registration_id
    )


async def list_transaction_payments(
    db: database.Database, merchant_id: MerchantId, channel_ids: Sequence[str], transaction_id: str, limit: int
) -> list[Payment]:
    """Lists the payments that the merchant gave this id."""
    named = {"of_merchant_id": merchant_id, "of_merchant_transaction_id": transaction_id}
    found = [await _list_payments(db, _by_transaction, limit, of_channel_id=each, **named) for each in channel_ids]
    return [payment for some in found for payment in some]


async def list_checkouts_at(db: database.Database, merchant_id: MerchantId, at: Instant) -> list[Checkout]:
    """Lists the checkouts that were made at this instant: hardly ever more than one."""
    return await CHECKOUTS.fetch(db, _checkouts_at, {"of_merchant_id": merchant_id, "at": at})
