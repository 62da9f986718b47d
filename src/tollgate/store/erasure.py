"""The rows of one merchant in the order of their keys, to look for a person in, and the statements that erase one.

Which rows belong to the person, and whether they may be erased yet, is decided in `flows`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments import checkout, payment, registration
from tollgate.payments.schedule import Schedule
from tollgate.store import (
    checkouts,
    database,
    hot,
    links,
    payments,
    registrations,
    schedules,
    schema,
    sightings,
    statements,
)
from tollgate.store.codec import LIMIT, UNREADABLE, Codec, T, bind, encode_json, is_among_ids, spread_ids
from tollgate.store.reviews import wipe_note_writes
from tollgate.values import MerchantId


class _Walk:
    """Pages of one merchant's rows of a table; a row that cannot be read is left to `tollgate verify`."""

    def __init__(self, codec: Codec[T], *where: sa.ColumnElement[bool]) -> None:
        of_merchant, row_id = codec.table.c.merchant_id, codec.table.c.id
        is_its = of_merchant == bind("of", of_merchant)
        self._codec: Codec[Any] = codec
        self.page = statements.Statement(
            codec.select(is_its, row_id > bind("after", row_id), *where).order_by(row_id).limit(LIMIT)
        )
        self._count = statements.Statement(sa.select(sa.func.count()).select_from(codec.table).where(is_its, *where))

    async def count(self, db: database.Database, merchant_id: MerchantId) -> int:
        row = await db.fetch_one(self._count, {"of_merchant_id": merchant_id})
        return int(row[0]) if row else 0

    async def list_page(
        self, db: database.Database, merchant_id: MerchantId, after: str, limit: int
    ) -> tuple[list[Any], str | None]:
        """Returns the rows of a page, and the id to go on after; None at the end of the table."""
        rows = await db.fetch(self.page, {"of_merchant_id": merchant_id, "after_id": after, "limit": limit})
        last = str(rows[-1][self._codec.at["id"]]) if len(rows) == limit else None
        return [each for each in map(self._read, rows) if each is not None], last

    def _read(self, row: hot.Row) -> Any:
        try:
            return self._codec.decode(row)
        except UNREADABLE:
            return None


WALKS: dict[type[msgspec.Struct], _Walk] = {
    payment.Payment: _Walk(payments.PAYMENTS),
    registration.Registration: _Walk(registrations.REGISTRATIONS),
    Schedule: _Walk(schedules.SCHEDULES),
    checkout.PaymentLink: _Walk(links.LINKS, schema.payment_links.c.sealed_fields.is_not(None)),
    checkout.Checkout: _Walk(checkouts.CHECKOUTS, schema.checkouts.c.sealed_fields.is_not(None)),
}
"""The tables in which parameters of requests are stored, in the order in which they are searched."""

# ---- single rows ----

# A follow-up that begins meanwhile counts up the length of its chain, so the unit is undone, and tried again later.
_erase_payment = payments.PAYMENTS.update(
    seen=["mac", "chain_length"], new=["card", "echo", "details", "return_url", "mac"], sealed_account=sa.null()
)
_erase_checkout = checkouts.CHECKOUTS.update(sealed_fields=sa.null(), return_url=sa.null())
_erase_link = links.LINKS.update(sealed_fields=sa.null())
_erase_schedule = schedules.SCHEDULES.update(schema.schedules.c.mac.is_(None), new=["echo"])


def erase_payment_writes(seen: payment.Payment, erased: payment.Payment) -> list[statements.Write]:
    """The unit is undone where the payment or its chain was changed since it was read."""
    return [*_erase_payment(seen, erased), *wipe_note_writes(seen, rows=None)]


async def erase_checkout(db: database.Database, merchant_id: MerchantId, checkout_id: str) -> None:
    await db.write(_erase_checkout.by_key(merchant_id, checkout_id, rows=None), label="person erased")


async def erase_link(db: database.Database, merchant_id: MerchantId, link_id: str) -> None:
    await db.write(_erase_link.by_key(merchant_id, link_id, rows=None), label="person erased")


def erase_schedule_writes(schedule: Schedule, echo: dict[str, str]) -> list[statements.Write]:
    """Writes what may stay with a schedule that is over; one that goes on, whose signature covers it, is left alone."""
    return _erase_schedule(schedule, rows=None, new_echo=encode_json(echo))


# ---- the traces that payments left in other tables ----


def _of(table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c.merchant_id == bind("of", table.c.merchant_id)


_is_theirs = sa.select(schema.announcements.c.id).where(
    _of(schema.announcements), is_among_ids(schema.announcements.c.subject_id)
)
_TRACES = (
    statements.Statement(
        sa.update(schema.delivery_attempts)
        .where(_of(schema.delivery_attempts), schema.delivery_attempts.c.event_id.in_(_is_theirs))
        .values(answer=b"")
    ),
    statements.Statement(
        sa.update(schema.announcements)
        .where(_of(schema.announcements), is_among_ids(schema.announcements.c.subject_id))
        .values(payload=sa.null())
    ),
    *[
        statements.Statement(sa.delete(table).where(_of(table), is_among_ids(table.c.payment_id)))
        for table in (schema.journal, schema.evidence, schema.risk_sightings)
    ],
)
_delete_lines = statements.Statement(
    sa.delete(schema.journal).where(_of(schema.journal), is_among_ids(schema.journal.c.ndc))
)
_delete_messages = statements.Statement(sa.delete(schema.inbox_messages))


def erase_traces_writes(
    merchant_id: MerchantId, subject_ids: Sequence[str], ndcs: Sequence[str]
) -> list[statements.Write]:
    """Empties what events, deliveries, the journal, disputes and sightings kept of payments or registrations.

    ndcs: the trace ids of their requests, which are all that log lines in the journal name.
    """
    written = [(statement, ids) for _, ids in spread_ids(subject_ids) for statement in _TRACES]
    written += [(_delete_lines, ids) for _, ids in spread_ids(ndcs)]
    writes = [statements.Write(statement, {"of_merchant_id": merchant_id, **ids}) for statement, ids in written]
    return [*writes, *(sightings.count_past_change_writes() if writes else ())]


async def erase_messages(db: database.Database) -> None:
    """Deletes all messages in the inboxes of a test host.

    They may be encrypted for their receiver, so the gateway cannot tell which of them name the person.
    """
    await db.write([statements.Write(_delete_messages, {})], label="person erased")
