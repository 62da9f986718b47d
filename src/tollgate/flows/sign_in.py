"""Signing in to the back office: password, second factor, sessions, and the lock after too many failures.

Answers do not tell whether a user exists. What a user may do is decided by roles.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from enum import Enum

import msgspec

from tollgate.catalog import audit_actions, codes, limits, results
from tollgate.operations import audit_log
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.users import Grant, Session, Stage, User
from tollgate.store import users
from tollgate.values import MINUTE, Forbidden, Secret, make_id
from tollgate.vault import passwords

_HASHERS = ThreadPoolExecutor(2, thread_name_prefix="password")
"""A hash takes 64 MB and a processor for 100 ms, so few are made at once."""
_TOUCH_EVERY = MINUTE // 2


class Origin(msgspec.Struct, frozen=True):
    """An origin is where a sign-in comes from."""

    address: str
    browser: str


class NewSession(msgspec.Struct, frozen=True):
    session: Session
    token: Secret


class Visitor(msgspec.Struct, frozen=True):
    """A user with a session, and the roles that it has now."""

    user: User
    session: Session
    grants: tuple[Grant, ...]


class Factor(Enum):
    """A factor is the proof that a user gave."""

    TOTP = "one-time code"
    RECOVERY_CODE = "recovery code"
    PASSKEY = "passkey"
    PASSWORD = "password"


async def hash_password(password: Secret) -> str:
    return await asyncio.get_running_loop().run_in_executor(_HASHERS, passwords.hash_password, password)


async def is_password(password: Secret, password_hash: str | None) -> bool:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_HASHERS, passwords.is_password, password, password_hash)


async def sign_in(app: App, name: str, password: Secret, origin: Origin) -> NewSession | None:
    """Begins a session; None if the name or the password is wrong, or the name is locked."""
    name = name.strip().lower()[: limits.LIMITS.user_name_length_max]
    user = await users.find_user_by_name(app.database, name)
    tries = await count_try(app, name)
    # The password is verified in all cases, so that each takes the same time.
    is_right = await is_password(password, None if user is None or user.is_disabled else user.password_hash)
    if user is None or not is_right or not tries:
        await record_failure(app, user, origin, tries)
        return None
    stage = Stage.SECOND_FACTOR if await has_second_factor(app, user) else choose_stage(app, user, has_factor=False)
    if stage is not Stage.SECOND_FACTOR:
        await forget_failures(app, name)
        await record(app, audit_actions.AuditAction.SIGNED_IN, user, origin)
    return await start_session(app, user, stage, origin)


async def has_second_factor(app: App, user: User) -> bool:
    return user.sealed_totp is not None or bool(await users.list_passkeys(app.database, user.id))


def choose_stage(app: App, user: User, *, has_factor: bool) -> Stage:
    """A live host lets nobody in without a second factor."""
    is_bare = app.is_live and not has_factor
    return Stage.SETTING_UP if user.must_change_password or is_bare else Stage.SIGNED_IN


async def count_try(app: App, name: str) -> int:
    """Counts a try before it is judged, so that many at once cannot pass the limit; 0 while the name is locked."""
    now, name_hash = app.clock.wall(), _hash_name(app, name)
    since = now - limits.LIMITS.sign_in_lockout
    known = await users.find_failures(app.database, name_hash)
    if known is not None and known.failures >= limits.LIMITS.sign_in_failures_max and known.last_at >= since:
        # Tries are not counted meanwhile, or else a stranger could lock a user out for ever.
        return 0
    tries = await users.count_failure(app.database, name_hash, now, since)
    return tries if tries <= limits.LIMITS.sign_in_failures_max else 0


async def record_failure(app: App, user: User | None, origin: Origin, tries: int, **details: str) -> None:
    """Records a try that was wrong, and that the name is locked where it was the last one."""
    await record(app, audit_actions.AuditAction.SIGN_IN_FAILED, user, origin, **details)
    if tries == limits.LIMITS.sign_in_failures_max:
        await record(app, audit_actions.AuditAction.ACCOUNT_LOCKED, user, origin)


async def forget_failures(app: App, name: str) -> None:
    await users.forget_failures(app.database, _hash_name(app, name))


def make_session(app: App, user: User, stage: Stage, origin: Origin, replaced: Session | None = None) -> NewSession:
    """Makes a session under a new token; it lasts no longer than the one that it replaces."""
    now, token = app.clock.wall(), passwords.make_session_token(app.random_bytes)
    session = Session(
        user_id=user.id,
        id=make_id(app.random_bytes),
        token_hash=passwords.hash_session_token(token),
        stage=stage,
        created_at=replaced.created_at if replaced else now,
        used_at=now,
        confirmed_at=now,
        address=origin.address,
        browser=origin.browser[:200],
    )
    return NewSession(session, token)


async def start_session(
    app: App, user: User, stage: Stage, origin: Origin, replaced: Session | None = None
) -> NewSession:
    """Starts a session; one that it replaces ends, so that its token is worth nothing."""
    new = make_session(app, user, stage, origin, replaced)
    if not await users.insert_session(app.database, user, new.session, replaced):
        # The user was reset or disabled, or the session was revoked, while the password or the code was judged.
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "the session has ended: please sign in again")
    return new


async def pass_second_factor(app: App, visitor: Visitor, factor: Factor, origin: Origin) -> NewSession:
    """Completes a sign-in after the second factor was right; the token of the first step is worth nothing after it."""
    # A recovery code that was used has changed the user.
    user = await users.find_user(app.database, visitor.user.id) or visitor.user
    await forget_failures(app, user.name)
    await record(app, audit_actions.AuditAction.SIGNED_IN, user, origin, factor=factor.value)
    return await start_session(app, user, choose_stage(app, user, has_factor=True), origin, visitor.session)


async def pass_set_up(app: App, visitor: Visitor, origin: Origin) -> NewSession:
    """Replaces the session of a user who has set up a second factor."""
    stage = choose_stage(app, visitor.user, has_factor=await has_second_factor(app, visitor.user))
    return await start_session(app, visitor.user, stage, origin, visitor.session)


async def check_code(app: App, user: User, code: Secret, origin: Origin) -> Factor | None:
    """Judges a one-time code or a recovery code, each of which is taken once; None if it is wrong."""
    tries = await count_try(app, user.name)
    if not tries:
        return None
    if user.sealed_totp is not None:
        secret = passwords.open_totp(user.sealed_totp, user.id, app.keyring)
        step = passwords.find_totp_step(secret, code, app.clock.wall())
        if step is not None and await users.use_totp_step(app.database, user, step):
            return Factor.TOTP
    hashed = passwords.hash_recovery_code(code, user.id, app.keyring)
    if hashed in user.recovery_hashes:
        left = tuple(each for each in user.recovery_hashes if each != hashed)
        if await users.update_user(app.database, msgspec.structs.replace(user, recovery_hashes=left)):
            await record(app, audit_actions.AuditAction.RECOVERY_CODE_USED, user, origin, left=str(len(left)))
            return Factor.RECOVERY_CODE
    await record_failure(app, user, origin, tries, factor="code")
    return None


async def check_password(app: App, user: User, password: Secret, origin: Origin) -> Factor | None:
    """Judges the password of a user who is signed in; None if it is wrong. Wrong ones count like failed sign-ins."""
    tries = await count_try(app, user.name)
    if not tries:
        return None
    if await is_password(password, user.password_hash):
        await forget_failures(app, user.name)
        return Factor.PASSWORD
    await record_failure(app, user, origin, tries, factor="password")
    return None


async def confirm(app: App, visitor: Visitor, factor: Factor, origin: Origin) -> None:
    """Notes that the user just proved again who it is, which some pages ask for."""
    await forget_failures(app, visitor.user.name)
    await record(app, audit_actions.AuditAction.CONFIRMED, visitor.user, origin, factor=factor.value)
    await users.confirm_session(app.database, visitor.session, app.clock.wall())


async def find_visitor(app: App, token: Secret) -> Visitor | None:
    """Finds the session of a token; None if it was revoked, was idle for too long or has lasted too long."""
    session = await users.find_session(app.database, passwords.hash_session_token(token))
    now = app.clock.wall()
    if session is None or now - session.used_at > limits.LIMITS.session_idle:
        return None
    if now - session.created_at > limits.LIMITS.session_lifetime:
        return None
    user = await users.find_user(app.database, session.user_id)
    if user is None or user.is_disabled:
        return None
    if now - session.used_at > _TOUCH_EVERY and not await users.touch_session(app.database, session, now):
        return None
    return Visitor(user, session, tuple(await users.list_grants(app.database, user.id)))


def is_confirmed(app: App, session: Session) -> bool:
    return app.clock.wall() - session.confirmed_at <= limits.LIMITS.confirmation_lifetime


async def sign_out(app: App, visitor: Visitor, origin: Origin) -> None:
    await record(app, audit_actions.AuditAction.SIGNED_OUT, visitor.user, origin)
    await users.delete_session(app.database, visitor.user.id, visitor.session.id)


def _hash_name(app: App, name: str) -> str:
    return passwords.hash_user_name(name, app.keyring)


async def record(
    app: App, action: audit_actions.AuditAction, user: User | None, origin: Origin, /, **details: str
) -> None:
    """Records a step of a user. An unknown name is not written: it may be a password in the wrong field."""
    actor = Actor(address=origin.address) if user is None else Actor(user.id, user.name, origin.address)
    subject = "unknown name" if user is None else user.name
    await audit_log.record(app.database, app.keyring, app.clock, actor, action, subject=subject, details=details)
