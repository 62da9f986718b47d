"""Writes the audit log: every entry is linked with the one before it by a keyed hash.

What is worth an entry is decided by whoever acts. An entry is written before the action that it records, so that there
is no action without one.
"""

from collections.abc import Iterable, Mapping
from hmac import compare_digest

import msgspec

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.card_numbers import hide_card_numbers
from tollgate.payments.users import AuditEntry
from tollgate.store import audit_log
from tollgate.store.database import Database, Unavailable
from tollgate.store.opening import add_setting, get_setting
from tollgate.values import Clock
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_TRIES = 50
_TEXT_LENGTH_MAX = 500
_FIRST_HEAD = "0:"


class Actor(msgspec.Struct, frozen=True):
    """An actor is a user of the back office, or the operator who runs a command."""

    user_id: str = ""
    name: str = ""
    address: str = ""


def make_hash(entry: AuditEntry, previous: bytes, keyring: Keyring) -> bytes:
    return make_mac("audit log", [previous.hex(), *entry.facts], keyring)


async def record(
    database: Database,
    keyring: Keyring,
    clock: Clock,
    actor: Actor,
    action: AuditAction,
    *,
    subject: str = "",
    merchant_id: str = "",
    details: Mapping[str, str] | None = None,
) -> None:
    """Appends an entry. It is tried again if another process appended one at the same moment."""
    await add_setting(database, audit_log.AUDIT_HEAD, _FIRST_HEAD)
    for _ in range(_TRIES):
        head = await get_setting(database, audit_log.AUDIT_HEAD)
        number, previous = read_head(head)
        entry = AuditEntry(
            number=number + 1,
            at=clock.wall(),
            merchant_id=merchant_id,
            user_id=actor.user_id,
            user_name=_clean(actor.name),
            action=action,
            subject=_clean(subject),
            details={name: _clean(value) for name, value in (details or {}).items()},
            address=actor.address,
        )
        entry = msgspec.structs.replace(entry, hash=make_hash(entry, previous, keyring))
        if await audit_log.append_entry(database, entry, head, f"{entry.number}:{entry.hash.hex()}"):
            return
    raise Unavailable("too many entries are appended to the audit log at once")


def _clean(text: str) -> str:
    return hide_card_numbers(text[:_TEXT_LENGTH_MAX])


def read_head(head: str) -> tuple[int, bytes]:
    """Returns the number and the hash of the last entry; a log without entries has the number 0."""
    number, _, hashed = (head or _FIRST_HEAD).partition(":")
    return int(number), bytes.fromhex(hashed)


def find_broken(
    entries: Iterable[AuditEntry], last_number: int, last_hash: bytes, keyring: Keyring
) -> tuple[int, str] | None:
    """Returns the number of the first entry that is not what was written, and why; None if all are."""
    for entry in entries:
        if entry.number != last_number + 1:
            return last_number + 1, "it is missing"
        if not compare_digest(make_hash(entry, last_hash, keyring), entry.hash):
            return entry.number, "it is not what was written"
        last_number, last_hash = entry.number, entry.hash
    return None
