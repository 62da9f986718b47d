"""Registrations and the accounts sealed in them. Whether a change is allowed is decided before."""

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.registration import (
    TOKEN_TOPIC,
    WIPED,
    NewRegistration,
    Registration,
    RegistrationChange,
    RegistrationEvent,
    RegistrationState,
    make_event_id,
    make_token_job_id,
)
from tollgate.payments.reporting import FOREVER
from tollgate.store import hot, retention
from tollgate.store.codec import LIMIT, ONE, UNREADABLE, ZERO, Codec, bind, encode_json
from tollgate.store.database import Database
from tollgate.store.events import EVENTS, Event, append_event_writes
from tollgate.store.jobs import Job, ensure_job_writes
from tollgate.store.schema import OPEN_REGISTRATION, TEXT, WHOLE, announcements, outbox, registrations
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId, RegistrationId

_log = logging.getLogger("tollgate.store")


class SealedRegistration(msgspec.Struct, frozen=True):
    """The sealed values of a registration, without the rest of its row."""

    merchant_id: MerchantId
    id: RegistrationId
    sealed_account: bytes | None
    sealed_token: bytes | None
    """The token of the card's network."""


REGISTRATIONS = Codec(registrations, Registration)
SEALED = Codec(registrations, SealedRegistration)

_SEALED = (registrations.c.sealed_account, registrations.c.sealed_token)
_FIXED = frozenset({"id", "merchant_id", "channel_id", "created_at", "made_by", "ndc"})
_is_pending = registrations.c.state == RegistrationState.PENDING
_is_active = registrations.c.state == RegistrationState.ACTIVE
_next_revision = registrations.c.revision + ONE

find_registration = REGISTRATIONS.find
_insert = REGISTRATIONS.insert("sealed_account")
_find_sealed = Statement(sa.select(*REGISTRATIONS.columns, *_SEALED).where(*REGISTRATIONS.is_it), is_quick=True)
_same = Statement(
    REGISTRATIONS.select(
        registrations.c.merchant_id == bind("of", registrations.c.merchant_id),
        registrations.c.fingerprint == bind("of", registrations.c.fingerprint),
        _is_active,
    )
    # Spelled so that no planner walks the index by time instead: few accounts are alike.
    .order_by((registrations.c.created_at + ZERO).desc(), registrations.c.id)
    .limit(LIMIT)
)
_outlived = Statement(
    REGISTRATIONS.select(
        sa.text(f"registrations.{OPEN_REGISTRATION}"),
        registrations.c.keep_until < sa.bindparam("now"),
        # A payment that made it decides about it, however long that takes.
        sa.or_(_is_active, registrations.c.made_by.is_(None)),
    )
    .order_by(registrations.c.keep_until)
    .limit(LIMIT)
)
_is_of_owner = registrations.c.merchant_id == bind("of", registrations.c.merchant_id)
_newest = Statement(
    sa.select(sa.func.max(registrations.c.created_at)).where(
        _is_of_owner, registrations.c.created_at < sa.bindparam("before", type_=WHOLE)
    )
)
_alone = Statement(
    sa.select(*REGISTRATIONS.columns, registrations.c.sealed_account)
    .where(
        _is_of_owner,
        registrations.c.made_by.is_(None),
        sa.tuple_(registrations.c.created_at, registrations.c.id)
        > sa.tuple_(sa.bindparam("at", type_=WHOLE), sa.bindparam("after", type_=TEXT)),
        registrations.c.created_at < sa.bindparam("end", type_=WHOLE),
    )
    .order_by(registrations.c.created_at, registrations.c.id)
    .limit(LIMIT)
)
_change = REGISTRATIONS.update(
    seen=["revision"],
    new=[name for name in (*REGISTRATIONS.names, "sealed_account", "sealed_token") if name not in _FIXED],
)
_conclude = REGISTRATIONS.update(_is_pending, new=["state", "result_code", "initial"], revision=_next_revision)
_reject = REGISTRATIONS.update(
    _is_pending,
    new=["result_code"],
    state=RegistrationState.REJECTED,
    sealed_account=sa.null(),
    sealed_token=sa.null(),
    fingerprint=sa.null(),
    revision=_next_revision,
)
_append_event = Statement(
    sa.insert(outbox).from_select(
        EVENTS.names,
        sa.select(*[sa.cast(bind("event", column), column.type).label(column.name) for column in EVENTS.columns]).where(
            *REGISTRATIONS.is_it, _is_active
        ),
    )
)
_make_event_params = EVENTS.make_encoder(EVENTS.names, "event_")
_announcement: dict[str, sa.ColumnElement[Any]] = {
    "merchant_id": registrations.c.merchant_id,
    "id": sa.cast(bind("event", outbox.c.id), TEXT),
    "subject_id": registrations.c.id,
    "channel_id": registrations.c.channel_id,
    "payment_type": sa.literal_column("''"),
    "created_at": sa.cast(bind("event", outbox.c.created_at), WHOLE),
    "is_pending": ONE,
}
_announce = Statement(
    sa.insert(announcements).from_select(
        [*_announcement], sa.select(*_announcement.values()).where(*REGISTRATIONS.is_it, _is_active)
    )
)
_note_initial = REGISTRATIONS.update(_is_active, new=["initial"], revision=_next_revision)
_use = REGISTRATIONS.update(
    registrations.c.used_at < bind("new", registrations.c.used_at),
    new=["used_at", "keep_until"],
    revision=_next_revision,
)
_page_sealed = retention.page_sealed(registrations, *_SEALED)
# Counted as a change, or else whoever read the row before would write back what is sealed under the old key.
_rewrap = SEALED.update(
    seen=["sealed_account", "sealed_token"], new=["sealed_account", "sealed_token"], revision=_next_revision
)


# ---- writing ----


def insert_registration_writes(new: NewRegistration) -> list[Write]:
    """A registration that is usable at once is announced at once."""
    registration = new.registration
    writes = _insert(registration, sealed_account=new.sealed_account)
    if registration.state is RegistrationState.ACTIVE:
        event = _make_event(registration, registration.revision, RegistrationEvent.CREATED, registration.created_at)
        writes += append_event_writes(event, registration.channel_id)
        if new.wants_token:
            writes += ensure_job_writes(make_token_job(registration.merchant_id, registration.id, event.created_at))
    return writes


def end_payment_writes(change: RegistrationChange) -> list[Write]:
    """Writes what the end of a payment does to the registration that it names.

    Nothing here guards the unit: a result about money is written whatever became of the registration.
    """
    initial = None if change.initial is None else encode_json(change.initial)
    code = change.result_code
    match change.state:
        case None:
            return _note_initial(change, rows=None, new_initial=initial)
        case RegistrationState.ACTIVE:
            event = _make_event(change, 1, RegistrationEvent.CREATED, change.at)
            writes = [
                *_conclude(change, rows=None, new_state=change.state, new_result_code=code, new_initial=initial),
                # A registration that is not there is not announced, whoever took it away.
                *[
                    Write(each, REGISTRATIONS.of(change) | _make_event_params(event))
                    for each in (_append_event, _announce)
                ],
            ]
            if change.wants_token:
                writes += ensure_job_writes(make_token_job(change.merchant_id, change.id, change.at))
            return writes
        case _:
            return _reject(change, rows=None, new_result_code=code)


def change_registration_writes(
    changed: Registration,
    sealed_account: bytes | None,
    sealed_token: bytes | None,
    *,
    event: RegistrationEvent | None,
    at: Instant,
) -> list[Write]:
    """Writes the whole row anew; the unit is undone where it was changed since it was read."""
    written = msgspec.structs.replace(changed, revision=changed.revision + 1)
    writes = _change(changed, written, new_sealed_account=sealed_account, new_sealed_token=sealed_token)
    if changed.state in WIPED and changed.network_token is not None and changed.network_token.reference:
        writes += ensure_job_writes(make_token_job(changed.merchant_id, changed.id, at, "wiped"))
    if event is not None:
        writes += append_event_writes(_make_event(written, written.revision, event, at), written.channel_id)
    return writes


def make_token_job(
    merchant_id: MerchantId, registration_id: RegistrationId, due_at: Instant, occasion: str = ""
) -> Job:
    """Makes the job that brings a registration and its network token in step, whatever that takes then."""
    return Job(
        id=make_token_job_id(registration_id, occasion),
        merchant_id=merchant_id,
        topic=TOKEN_TOPIC,
        subject_id=registration_id,
        due_at=due_at,
    )


def _make_event(of: Registration | RegistrationChange, revision: int, topic: RegistrationEvent, at: Instant) -> Event:
    return Event(
        id=make_event_id(at, of.id, revision),
        merchant_id=of.merchant_id,
        subject_id=of.id,
        topic=topic,
        created_at=at,
        result_code=of.result_code,
        sequence=revision + 1,
    )


async def note_use(db: Database, registration: Registration, used_at: Instant, keep_until: Instant) -> None:
    """Another process may have noted it before; then that is as good."""
    noting = _use(registration, rows=None, new_used_at=used_at, new_keep_until=keep_until)
    await db.write(noting, label="registration used")


async def rewrap_registrations(db: Database, batch: Sequence[tuple[SealedRegistration, SealedRegistration]]) -> int:
    """Writes rows as they were found under another key, and returns how many were written.

    It takes one commit where none of them was changed meanwhile, otherwise one for each.
    """
    writes = [write for found, fresh in batch for write in _rewrap(found, fresh)]
    if await db.write(writes, label="key rotation"):
        return len(batch)
    return sum([await db.write([write], label="key rotation") for write in writes])


# ---- reading ----


async def find_sealed_registration(
    db: Database, merchant_id: MerchantId, registration_id: str
) -> tuple[Registration, bytes | None, bytes | None] | None:
    """Reads the registration, its sealed account and its sealed network token at once, so that they fit."""
    row = await db.fetch_one(_find_sealed, REGISTRATIONS.make_key(merchant_id, registration_id))
    return None if row is None else (REGISTRATIONS.decode(row), row[-2], row[-1])


async def list_same_accounts(
    db: Database, merchant_id: MerchantId, fingerprint: bytes, limit: int
) -> list[Registration]:
    """Lists a merchant's active registrations of one account, newest first."""
    params = {"of_merchant_id": merchant_id, "of_fingerprint": fingerprint, "limit": limit}
    return await REGISTRATIONS.fetch(db, _same, params)


async def list_outlived(db: Database, now: Instant, limit: int) -> list[Registration]:
    """Lists registrations that are still kept though their time is over, oldest first.

    Those that their payments decide about are left out. One that cannot be read is left to an audit, and keeps no
    other from being erased.
    """
    rows = await db.fetch(_outlived, {"now": now, "limit": limit})
    return [found for row in rows if (found := _read_if_sound(row)) is not None]


def _read_if_sound(row: hot.Row) -> Registration | None:
    try:
        return REGISTRATIONS.decode(row)
    except UNREADABLE:
        _log.exception("a registration cannot be read", extra={"registration": row[REGISTRATIONS.at["id"]]})
        return None


async def find_newest_time(db: Database, merchant_id: MerchantId, before: Instant = FOREVER) -> Instant | None:
    row = await db.fetch_one(_newest, {"of_merchant_id": merchant_id, "before": before})
    return None if row is None else row[0]


async def list_alone(
    db: Database, merchant_id: MerchantId, after: tuple[Instant, str], end: Instant, limit: int
) -> list[tuple[Registration, bytes | None]]:
    """Lists registrations that no payment made, in the order of their time, each with its sealed account.

    Unreadable ones are left out.
    """
    params = {"of_merchant_id": merchant_id, "at": after[0], "after": after[1], "end": end, "limit": limit}
    rows = await db.fetch(_alone, params)
    return [(found, row[-1]) for row in rows if (found := _read_if_sound(row)) is not None]


async def list_sealed_registrations(
    db: Database, after: retention.Placed | None, active_prefix: bytes, limit: int
) -> list[SealedRegistration]:
    """Lists rows with something whose first bytes are not those of the active key, in the order of the primary key."""
    return await SEALED.fetch(db, _page_sealed, retention.make_page_params(after, active_prefix, limit))
