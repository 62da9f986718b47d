"""Writes the audit log: every entry is linked with the one before it by a keyed hash.

What is worth an entry is decided by whoever acts. An entry is written before the action that it records, so that there
is no action without one.
"""

from collections.abc import Mapping
from hmac import compare_digest

import msgspec

from tollgate.catalog import audit_actions, card_numbers
from tollgate.payments.users import AuditEntry
from tollgate.store import audit_log, opening
from tollgate.store.database import Database, Unavailable
from tollgate.values import Clock
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_TRIES = 50
_TEXT_LENGTH_MAX = 500


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
    action: audit_actions.AuditAction,
    *,
    subject: str = "",
    merchant_id: str = "",
    details: Mapping[str, str] | None = None,
) -> None:
    """Appends an entry. It is tried again if another process appended one at the same moment."""
    for _ in range(_TRIES):
        head = await opening.get_setting(database, audit_log.AUDIT_HEAD)
        if not head:
            await opening.add_setting(database, audit_log.AUDIT_HEAD, _make_head(0, b"", keyring))
            continue
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
        if await audit_log.append_entry(database, entry, head, _make_head(entry.number, entry.hash, keyring)):
            return
    raise Unavailable("too many entries are appended to the audit log at once")


def _clean(text: str) -> str:
    return card_numbers.hide_card_numbers(text[:_TEXT_LENGTH_MAX])


def _make_head(number: int, last_hash: bytes, keyring: Keyring) -> str:
    """Makes the record of the end of the log; it has a hash of its own, or else an earlier entry could pose as it."""
    own_hash = make_mac("audit log end", [number, last_hash.hex()], keyring)
    return f"{number}:{last_hash.hex()}:{own_hash.hex()}"


def read_head(head: str) -> tuple[int, bytes]:
    """Returns the number and the hash of the last entry; a log without entries has the number 0."""
    number, last_hash, _ = head.split(":")
    return int(number), bytes.fromhex(last_hash)


def find_head(head: str, keyring: Keyring) -> tuple[int, bytes] | None:
    """Returns the number and the hash of the last entry; None if this is not what was written."""
    try:
        number, last_hash = read_head(head)
    except ValueError:
        return None
    return (number, last_hash) if compare_digest(_make_head(number, last_hash, keyring), head) else None


def is_genuine(entry: AuditEntry, previous: bytes, keyring: Keyring) -> bool:
    """Tells whether an entry is what was written after the one with the previous hash."""
    return compare_digest(make_hash(entry, previous, keyring), entry.hash)
