"""Users of the back office, their roles, sessions and passkeys, and the count of failed sign-ins.

Whether a password is right is decided in `flows`.
"""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.payments.users import Approval, ApprovalState, Grant, Passkey, Session, User
from tollgate.store import database, statements
from tollgate.store.codec import LIMIT, ONE, ZERO, Codec, bind
from tollgate.store.schema import approvals, grants, passkeys, sign_in_failures, user_sessions, users
from tollgate.values import Instant, MerchantId


class FailureCount(msgspec.Struct, frozen=True):
    """The failed sign-ins under one name since the last that succeeded."""

    name_hash: str
    failures: int
    last_at: Instant


USERS = Codec(users, User, key=["id"])
GRANTS = Codec(grants, Grant, key=["user_id", "merchant_id", "channel_id", "role"])
SESSIONS = Codec(user_sessions, Session, key=["user_id", "id"])
PASSKEYS = Codec(passkeys, Passkey, key=["user_id", "id"])
FAILURES = Codec(sign_in_failures, FailureCount, key=["name_hash"])
APPROVALS = Codec(approvals, Approval)

# ---- users and their roles ----

find_user = USERS.find
list_users = USERS.make_list("name")
list_all_grants = GRANTS.make_list("user_id", "merchant_id", "channel_id", "role")
_insert_user = USERS.insert()
_insert_grant = GRANTS.insert()
_update_user = USERS.update(
    seen=["revision"],
    new=[name for name in USERS.names if name not in {"id", "name", "created_at", "revision", "totp_step"}],
    revision=users.c.revision + ONE,
)
_use_totp_step = USERS.update(users.c.totp_step < bind("new", users.c.totp_step), new=["totp_step"])
_keep_user = USERS.update(seen=["revision"], revision=users.c.revision)
_sealed_totp = statements.Statement(sa.select(users.c.id, users.c.sealed_totp).where(users.c.sealed_totp.is_not(None)))
_by_name = statements.Statement(USERS.select(users.c.name == sa.bindparam("name")), is_quick=True)
_grants_of = statements.Statement(GRANTS.select(grants.c.user_id == sa.bindparam("user_id")), is_quick=True)
_delete_grant = GRANTS.delete()
_rewrap_totp = USERS.update(seen=["revision"], new=["sealed_totp"], revision=users.c.revision + ONE)


async def find_user_by_name(db: database.Database, name: str) -> User | None:
    return await USERS.fetch_one(db, _by_name, {"name": name})


async def insert_user(db: database.Database, user: User, roles: Sequence[Grant], *more: statements.Write) -> bool:
    """Returns False if the name is taken, or another write of the unit does not apply any more."""
    if await find_user_by_name(db, user.name) is not None:
        return False
    writes = [*more, *_insert_user(user), *[write for grant in roles for write in _insert_grant(grant)]]
    return await db.write(writes, label="user added")


async def update_user(db: database.Database, changed: User, *more: statements.Write) -> bool:
    """Saves a user as changed; False where somebody else changed it since it was read."""
    return await db.write([*_update_user(changed, changed), *more], label="user changed")


async def use_totp_step(db: database.Database, user: User, step: int) -> bool:
    """Records the time step of a one-time code; False if a code of this step, or a later one, was taken before."""
    return await db.write(use_totp_step_writes(user, step), label="one-time code used")


def use_totp_step_writes(user: User, step: int, *, rows: int | None = 1) -> list[statements.Write]:
    return _use_totp_step.by_key(user.id, new_totp_step=step, rows=rows)


async def list_grants(db: database.Database, user_id: str) -> list[Grant]:
    return await GRANTS.fetch(db, _grants_of, {"user_id": user_id})


async def put_grant(db: database.Database, grant: Grant, *more: statements.Write) -> bool:
    """Gives a role; one that the user has already gets the new limit."""
    return await db.write([*more, *_delete_grant(grant, rows=None), *_insert_grant(grant)], label="role given")


async def delete_grant(db: database.Database, grant: Grant, *more: statements.Write) -> bool:
    return await db.write([*more, *_delete_grant(grant)], label="role taken")


async def list_sealed_totp(db: database.Database) -> list[tuple[str, bytes]]:
    """Lists the ids of users with one-time codes, and their sealed secrets."""
    return [(str(row[0]), bytes(row[1])) for row in await db.fetch(_sealed_totp, {})]


async def rewrap_totp(db: database.Database, seen: User, fresh: bytes) -> bool:
    return await db.write(_rewrap_totp(seen, new_sealed_totp=fresh), label="one-time codes rewrapped")


# ---- sessions ----

insert_session_writes = SESSIONS.insert()
_by_token = statements.Statement(
    SESSIONS.select(user_sessions.c.token_hash == sa.bindparam("token_hash")), is_quick=True
)
_of_user = statements.Statement(
    SESSIONS.select(user_sessions.c.user_id == sa.bindparam("user_id")).order_by(user_sessions.c.used_at.desc())
)
_touch = SESSIONS.update(new=["used_at"])
_confirm = SESSIONS.update(new=["confirmed_at"])
_set_challenge = SESSIONS.update(new=["challenge"])
_take_challenge = SESSIONS.update(seen=["challenge"], challenge=sa.null())
_delete_session = SESSIONS.delete()
_delete_sessions = statements.Statement(
    sa.delete(user_sessions).where(
        user_sessions.c.user_id == sa.bindparam("user_id"), user_sessions.c.id != sa.bindparam("but")
    )
)
purge_sessions = SESSIONS.purge(user_sessions.c.created_at)


async def insert_session(db: database.Database, user: User, session: Session, replaced: Session | None = None) -> bool:
    """Stores a session; the one that it replaces ends in the same commit, so that its token is worth nothing.

    Returns False if the replaced session was revoked, or the user was changed since it was judged: a reset or a new
    password ends sign-ins that have just begun too.
    """
    gone = [] if replaced is None else _delete_session(replaced)
    return await db.write([*_keep_user(user), *gone, *insert_session_writes(session)], label="session")


async def find_session(db: database.Database, token_hash: bytes) -> Session | None:
    return await SESSIONS.fetch_one(db, _by_token, {"token_hash": token_hash})


async def list_sessions(db: database.Database, user_id: str) -> list[Session]:
    return await SESSIONS.fetch(db, _of_user, {"user_id": user_id})


async def touch_session(db: database.Database, session: Session, at: Instant) -> bool:
    """Records the last use; False if the session was revoked meanwhile."""
    return await db.write(_touch(session, new_used_at=at), label="session used")


async def confirm_session(db: database.Database, session: Session, at: Instant) -> bool:
    return await db.write(_confirm(session, new_confirmed_at=at), label="session confirmed")


async def set_challenge(db: database.Database, session: Session, challenge: bytes) -> bool:
    return await db.write(_set_challenge(session, new_challenge=challenge), label="challenge made")


async def take_challenge(db: database.Database, seen: Session) -> bool:
    """Removes the challenge of a session; False if another request took or replaced it meanwhile."""
    return await db.write(_take_challenge(seen), label="challenge taken")


async def delete_session(db: database.Database, user_id: str, session_id: str) -> bool:
    """Returns False if there is no such session."""
    return await db.write(_delete_session.by_key(user_id, session_id), label="session revoked")


def delete_sessions_write(user_id: str, but: str = "") -> statements.Write:
    """Ends all sessions of a user but one."""
    return statements.Write(_delete_sessions, {"user_id": user_id, "but": but})


# ---- passkeys ----

insert_passkey_writes = PASSKEYS.insert()
list_all_passkeys = PASSKEYS.make_list("user_id", "created_at")
_delete_passkey = PASSKEYS.delete()
_use_passkey = PASSKEYS.update(seen=["sign_count"], new=["sign_count", "used_at"])
_passkeys_of = statements.Statement(
    PASSKEYS.select(passkeys.c.user_id == sa.bindparam("user_id")).order_by(passkeys.c.created_at), is_quick=True
)
_delete_passkeys = statements.Statement(sa.delete(passkeys).where(passkeys.c.user_id == sa.bindparam("user_id")))


async def list_passkeys(db: database.Database, user_id: str) -> list[Passkey]:
    return await PASSKEYS.fetch(db, _passkeys_of, {"user_id": user_id})


def delete_passkey_writes(passkey: Passkey) -> list[statements.Write]:
    return _delete_passkey(passkey)


async def use_passkey(db: database.Database, seen: Passkey, sign_count: int, at: Instant) -> bool:
    """Records a use; False if the passkey was used at the same moment elsewhere, or is gone."""
    return await db.write(_use_passkey(seen, new_sign_count=sign_count, new_used_at=at), label="passkey used")


def delete_passkeys_write(user_id: str) -> statements.Write:
    return statements.Write(_delete_passkeys, {"user_id": user_id})


# ---- failed sign-ins ----

_failed = insert(sign_in_failures).values(name_hash=sa.bindparam("name_hash"), failures=ONE, last_at=sa.bindparam("at"))
_is_old = sign_in_failures.c.last_at < sa.bindparam("since")
_count_failure = statements.Statement(
    _failed.on_conflict_do_update(
        index_elements=[sign_in_failures.c.name_hash],
        # A failure long after the last one begins a new count.
        set_={
            "failures": sa.case((_is_old, ONE), else_=sign_in_failures.c.failures + ONE),
            "last_at": _failed.excluded.last_at,
        },
    ).returning(sign_in_failures.c.failures)
)
_forget_failures = FAILURES.delete()
purge_failures = FAILURES.purge(sign_in_failures.c.last_at)
find_failures = FAILURES.find


async def count_failure(db: database.Database, name_hash: str, at: Instant, since: Instant) -> int:
    """Counts a failed sign-in and returns how many there were since the last success, or since the given time."""
    row = await db.fetch_one(_count_failure, {"name_hash": name_hash, "at": at, "since": since})
    return 1 if row is None else int(row[0])


async def forget_failures(db: database.Database, name_hash: str) -> None:
    await db.write(_forget_failures.by_key(name_hash, rows=None), label="sign-in failures forgotten")


# ---- what waits for a second person ----

find_approval = APPROVALS.find
# A form that is sent twice at once asks once.
_insert_approval = APPROVALS.insert(ignores_taken=True)
_has_no_outcome = approvals.c.outcome == ""
_decide_approval = APPROVALS.update(
    _has_no_outcome, seen=["state", "decided_at"], new=["state", "decided_by", "decided_at"]
)
_note_outcome = APPROVALS.update(_has_no_outcome, new=["outcome"])
_is_unfinished = sa.and_(approvals.c.state == int(ApprovalState.GRANTED), _has_no_outcome)
_list_approvals = statements.Statement(
    APPROVALS.select(approvals.c.merchant_id == sa.bindparam("merchant_id"))
    .order_by(
        sa.case((_is_unfinished, ZERO), else_=ONE), approvals.c.state, approvals.c.requested_at.desc(), approvals.c.id
    )
    .limit(LIMIT)
)


async def insert_approval(db: database.Database, approval: Approval) -> None:
    await db.write(_insert_approval(approval), label="approval requested")


async def decide_approval(db: database.Database, seen: Approval, decided: Approval) -> bool:
    """Saves a decision; False if somebody else decided since it was read, so that one of them runs the action."""
    return await db.write(_decide_approval(seen, decided), label="approval decided")


async def note_outcome(db: database.Database, approval: Approval, outcome: str) -> None:
    """Notes what came of the action; the first outcome stays."""
    await db.write(_note_outcome(approval, new_outcome=outcome), label="approval carried out")


async def list_approvals(db: database.Database, merchant_id: MerchantId, limit: int) -> list[Approval]:
    """Lists what was granted and has no outcome first, then what waits, then the newest."""
    return await APPROVALS.fetch(db, _list_approvals, {"merchant_id": merchant_id, "limit": limit})
