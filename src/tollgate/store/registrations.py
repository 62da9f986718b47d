"""Registrations and the accounts sealed in them. Whether a change is allowed is decided before."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson
import sqlalchemy as sa

from tollgate.payments.accounts import CardSummary
from tollgate.payments.order import TestMode
from tollgate.payments.registration import (
    TOKEN_TOPIC,
    WIPED,
    InitialPayment,
    NetworkToken,
    NewRegistration,
    Registration,
    RegistrationChange,
    RegistrationEvent,
    RegistrationState,
    make_event_id,
    make_token_job_id,
)
from tollgate.store.database import Database
from tollgate.store.jobs import Event, Job, append_event_writes, ensure_job_writes
from tollgate.store.payment_rows import UNREADABLE, encode_map
from tollgate.store.retention import is_after, is_sealed_otherwise, make_page_params
from tollgate.store.schema import OPEN_REGISTRATION, outbox, registrations
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId, RegistrationId

_log = logging.getLogger("tollgate.store")

_EVENT_MEMBERS = Event.__struct_fields__
_SEALED = ("sealed_account", "sealed_token")
_MEMBERS = Registration.__struct_fields__
_STRUCTURES: dict[str, type[msgspec.Struct]] = {
    "card": CardSummary,
    "initial": InitialPayment,
    "network_token": NetworkToken,
}
SHOWN = tuple(registrations.c[name] for name in _MEMBERS)
"""The columns that make a `Registration`."""

_by_key = (registrations.c.merchant_id == sa.bindparam("merchant_id"), registrations.c.id == sa.bindparam("id"))
_of_key = (
    registrations.c.merchant_id == sa.bindparam("of_merchant_id"),
    registrations.c.id == sa.bindparam("registration_id"),
)
_FIXED = frozenset({"id", "merchant_id", "channel_id", "created_at", "made_by", "ndc"})
_CHANGEABLE = tuple(name for name in (*_MEMBERS, *_SEALED) if name not in _FIXED)

_insert = Statement(sa.insert(registrations).values({name: sa.bindparam(name) for name in (*_MEMBERS, *_SEALED)}))
_find = Statement(sa.select(*SHOWN).where(*_by_key), is_quick=True)
_find_sealed = Statement(
    sa.select(*SHOWN, registrations.c.sealed_account, registrations.c.sealed_token).where(*_by_key), is_quick=True
)
_same = Statement(
    sa.select(*SHOWN)
    .where(
        registrations.c.merchant_id == sa.bindparam("merchant_id"),
        registrations.c.fingerprint == sa.bindparam("fingerprint"),
        registrations.c.state == int(RegistrationState.ACTIVE),
    )
    .order_by(registrations.c.created_at.desc(), registrations.c.id)
    .limit(sa.bindparam("limit"))
)
_change = Statement(
    sa.update(registrations)
    .where(*_of_key, registrations.c.revision == sa.bindparam("seen_revision"))
    .values({name: sa.bindparam(f"new_{name}") for name in _CHANGEABLE})
)
_next_revision = registrations.c.revision + sa.literal_column("1")
_conclude = Statement(
    sa.update(registrations)
    .where(*_of_key, registrations.c.state == int(RegistrationState.PENDING))
    .values(
        state=sa.bindparam("new_state"),
        result_code=sa.bindparam("new_result_code"),
        initial=sa.bindparam("new_initial"),
        revision=_next_revision,
    )
)
_reject = Statement(
    sa.update(registrations)
    .where(*_of_key, registrations.c.state == int(RegistrationState.PENDING))
    .values(
        state=int(RegistrationState.REJECTED),
        result_code=sa.bindparam("new_result_code"),
        sealed_account=sa.null(),
        sealed_token=sa.null(),
        fingerprint=sa.null(),
        revision=_next_revision,
    )
)
_announce = Statement(
    sa.insert(outbox).from_select(
        _EVENT_MEMBERS,
        sa.select(
            *[sa.cast(sa.bindparam(f"event_{name}"), outbox.c[name].type).label(name) for name in _EVENT_MEMBERS]
        ).where(*_of_key, registrations.c.state == int(RegistrationState.ACTIVE)),
    )
)
_note_initial = Statement(
    sa.update(registrations)
    .where(*_of_key, registrations.c.state == int(RegistrationState.ACTIVE))
    .values(initial=sa.bindparam("new_initial"), revision=_next_revision)
)
_use = Statement(
    sa.update(registrations)
    .where(*_of_key, registrations.c.used_at < sa.bindparam("new_used_at"))
    .values(used_at=sa.bindparam("new_used_at"), keep_until=sa.bindparam("new_keep_until"), revision=_next_revision)
)
_outlived = Statement(
    sa.select(*SHOWN)
    .where(
        sa.text(f"registrations.{OPEN_REGISTRATION}"),
        registrations.c.keep_until < sa.bindparam("now"),
        # A payment that made it decides about it, however long that takes.
        sa.or_(registrations.c.state == int(RegistrationState.ACTIVE), registrations.c.made_by.is_(None)),
    )
    .order_by(registrations.c.keep_until)
    .limit(sa.bindparam("limit"))
)


# ---- writing ----


def insert_registration_writes(new: NewRegistration) -> list[Write]:
    """One that is usable at once is announced at once."""
    registration = new.registration
    row = _flatten(registration) | {"sealed_account": new.sealed_account, "sealed_token": None}
    writes = [Write(_insert, row, rows=1)]
    if registration.state is RegistrationState.ACTIVE:
        event = make_registration_event(registration, RegistrationEvent.CREATED, registration.created_at)
        writes += append_event_writes(event)
        if new.wants_token:
            writes += ensure_job_writes(make_token_job(registration.merchant_id, registration.id, event.created_at))
    return writes


def end_payment_writes(change: RegistrationChange) -> list[Write]:
    """What a payment's end does to the registration it names.

    Nothing here guards the unit: a result about money is written whatever became of the registration.
    """
    of = {"of_merchant_id": change.merchant_id, "registration_id": change.id}
    initial = None if change.initial is None else msgspec.json.encode(change.initial).decode()
    match change.state:
        case None:
            return [Write(_note_initial, {**of, "new_initial": initial})]
        case RegistrationState.ACTIVE:
            event = Event(
                id=make_event_id(change.at, change.id, 1),
                merchant_id=change.merchant_id,
                subject_id=change.id,
                topic=RegistrationEvent.CREATED,
                created_at=change.at,
                result_code=change.result_code,
            )
            moved = {"new_state": int(change.state), "new_result_code": change.result_code, "new_initial": initial}
            told = {f"event_{name}": getattr(event, name) for name in _EVENT_MEMBERS}
            # Nobody is told of one that is not there, whoever took it away.
            writes = [Write(_conclude, {**of, **moved}), Write(_announce, {**of, **told})]
            if not change.wants_token:
                return writes
            return [*writes, *ensure_job_writes(make_token_job(change.merchant_id, change.id, change.at))]
        case _:
            return [Write(_reject, {**of, "new_result_code": change.result_code})]


def change_registration_writes(
    changed: Registration,
    sealed_account: bytes | None,
    sealed_token: bytes | None,
    *,
    event: RegistrationEvent | None,
    at: Instant,
) -> list[Write]:
    """The whole row anew; the unit is undone where it was changed since it was read."""
    written = msgspec.structs.replace(changed, revision=changed.revision + 1)
    flat = _flatten(written) | {"sealed_account": sealed_account, "sealed_token": sealed_token}
    params = {f"new_{name}": flat[name] for name in _CHANGEABLE}
    of = {
        "of_merchant_id": changed.merchant_id,
        "registration_id": changed.id,
        "seen_revision": changed.revision,
    }
    writes = [Write(_change, params | of, rows=1)]
    if changed.state in WIPED and changed.network_token is not None and changed.network_token.reference:
        writes += ensure_job_writes(make_token_job(changed.merchant_id, changed.id, at, "wiped"))
    return writes if event is None else [*writes, *append_event_writes(make_registration_event(written, event, at))]


def make_token_job(
    merchant_id: MerchantId, registration_id: RegistrationId, due_at: Instant, occasion: str = ""
) -> Job:
    """To bring a registration and its network token in step, whatever that takes then."""
    return Job(
        id=make_token_job_id(registration_id, occasion),
        merchant_id=merchant_id,
        topic=TOKEN_TOPIC,
        subject_id=registration_id,
        due_at=due_at,
    )


def make_registration_event(registration: Registration, topic: RegistrationEvent, at: Instant) -> Event:
    return Event(
        id=make_event_id(at, registration.id, registration.revision),
        merchant_id=registration.merchant_id,
        subject_id=registration.id,
        topic=topic,
        created_at=at,
        result_code=registration.result_code,
    )


async def note_use(db: Database, registration: Registration, used_at: Instant, keep_until: Instant) -> None:
    """Another may have noted it before; then that is as good."""
    of = {"of_merchant_id": registration.merchant_id, "registration_id": registration.id}
    await db.write(
        [Write(_use, {**of, "new_used_at": used_at, "new_keep_until": keep_until})], label="registration used"
    )


# ---- reading ----


async def find_registration(db: Database, merchant_id: MerchantId, registration_id: str) -> Registration | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": registration_id})
    return None if row is None else read_registration(row)


async def find_sealed_registration(
    db: Database, merchant_id: MerchantId, registration_id: str
) -> tuple[Registration, bytes | None, bytes | None] | None:
    """With its sealed account and its sealed network token, for who pays with it: one read, so that they fit."""
    row = await db.fetch_one(_find_sealed, {"merchant_id": merchant_id, "id": registration_id})
    return None if row is None else (read_registration(row[:-2]), row[-2], row[-1])


async def list_same_accounts(
    db: Database, merchant_id: MerchantId, fingerprint: bytes, limit: int
) -> list[Registration]:
    """A merchant's active registrations of one account, newest first."""
    rows = await db.fetch(_same, {"merchant_id": merchant_id, "fingerprint": fingerprint, "limit": limit})
    return [read_registration(row) for row in rows]


async def list_outlived(db: Database, now: Instant, limit: int) -> list[Registration]:
    """Those that are still kept though their time is over, oldest first; none that its payment decides about.

    One that cannot be read is left to who audits the store, and keeps no other from being erased.
    """
    found = []
    for row in await db.fetch(_outlived, {"now": now, "limit": limit}):
        try:
            found.append(read_registration(row))
        except UNREADABLE:
            _log.exception("a registration cannot be read", extra={"registration": row[_MEMBERS.index("id")]})
    return found


def _flatten(registration: Registration) -> dict[str, Any]:
    flat = msgspec.structs.asdict(registration)
    written = {name: None if flat[name] is None else msgspec.json.encode(flat[name]).decode() for name in _STRUCTURES}
    return flat | written | {"state": int(registration.state), "echo": encode_map(registration.echo)}


def read_registration(row: tuple[Any, ...]) -> Registration:
    named = dict(zip(_MEMBERS, row, strict=True))
    read = {name: msgspec.json.decode(named[name], type=kind) for name, kind in _STRUCTURES.items() if named[name]}
    test_mode = named["test_mode"]
    return Registration(
        **named
        | read
        | {
            "state": RegistrationState(named["state"]),
            "test_mode": None if test_mode is None else TestMode(test_mode),
            "echo": orjson.loads(named["echo"]),
        }
    )


class SealedRegistration(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: RegistrationId
    account: bytes | None
    token: bytes | None
    """That of the card's network."""


class Rewrapping(msgspec.Struct, frozen=True):
    """What stands in a row, and the same under another key."""

    found: SealedRegistration
    account: bytes | None
    token: bytes | None


_SEALED_COLUMNS = (registrations.c.sealed_account, registrations.c.sealed_token)
_KEY = (registrations.c.merchant_id, registrations.c.id)


_sealed_otherwise = Statement(
    sa.select(*_KEY, *_SEALED_COLUMNS)
    .where(
        sa.or_(*[is_sealed_otherwise(column) for column in _SEALED_COLUMNS]),
        is_after(*_KEY),
    )
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
# Counted as a change, or else whoever read the row before would write back what is sealed under the old key.
_rewrap = Statement(
    sa.update(registrations)
    .where(
        registrations.c.merchant_id == sa.bindparam("of_merchant_id"),
        registrations.c.id == sa.bindparam("registration_id"),
        *[
            column.is_not_distinct_from(sa.bindparam(f"old_{column.name}", type_=column.type))
            for column in _SEALED_COLUMNS
        ],
    )
    .values(
        sealed_account=sa.bindparam("new_account"),
        sealed_token=sa.bindparam("new_token"),
        revision=registrations.c.revision + sa.literal_column("1"),
    )
)


async def list_sealed_registrations(
    db: Database, after: SealedRegistration | None, active_prefix: bytes, limit: int
) -> list[SealedRegistration]:
    """Those with something whose first bytes are not those of the active key, in the order of the primary key."""
    rows = await db.fetch(_sealed_otherwise, make_page_params(after, active_prefix, limit))
    return [SealedRegistration(*row) for row in rows]


async def rewrap_registrations(db: Database, batch: Sequence[Rewrapping]) -> int:
    """In one commit where none of them was changed meanwhile, otherwise one by one; how many were written."""
    if await db.write([_step(each) for each in batch], label="key rotation"):
        return len(batch)
    return sum([await db.write([_step(each)], label="key rotation") for each in batch])


def _step(each: Rewrapping) -> Write:
    params = {
        "of_merchant_id": each.found.merchant_id,
        "registration_id": each.found.id,
        "old_sealed_account": each.found.account,
        "old_sealed_token": each.found.token,
        "new_account": each.account,
        "new_token": each.token,
    }
    return Write(_rewrap, params, rows=1)
