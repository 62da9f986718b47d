"""Users change their own sign-in here: the password, second factors, recovery codes and sessions.

Signing in itself is in `sign_in`.
"""

import msgspec

from tollgate.catalog import audit_actions, codes, limits, results
from tollgate.flows import sign_in
from tollgate.flows.sign_in import Factor, NewSession, Origin, Visitor
from tollgate.operations.app import App
from tollgate.operations.settings import find_sealed_setting, forget_sealed_setting
from tollgate.payments.users import OFFICE_PASSWORD, Passkey, Session, User
from tollgate.store import statements, users
from tollgate.values import Fault, Forbidden, InvalidParameters, Secret
from tollgate.vault import passkeys, passwords
from tollgate.vault.passkeys import Party, PasskeyError

_NAME_LENGTH_MAX = 60


def refuse(name: str, message: str) -> InvalidParameters:
    """Makes the refusal of one field; raise it."""
    return results.make_invalid(Fault(name, message))


async def change_password(app: App, visitor: Visitor, password: Secret, origin: Origin) -> NewSession:
    """Sets a new password. All sessions end but this one, which goes on under a new token."""
    user = visitor.user
    fault = passwords.find_password_fault(password, user.name)
    if fault is None and await sign_in.is_password(password, user.password_hash):
        fault = "must differ from the one that you have"
    if fault is not None:
        raise refuse("new_password", fault)
    await sign_in.record(app, audit_actions.AuditAction.PASSWORD_CHANGED, user, origin)
    await forget_told_password(app, user)
    hashed = await sign_in.hash_password(password)
    changed = msgspec.structs.replace(user, password_hash=hashed, must_change_password=False)
    stage = sign_in.choose_stage(app, changed, has_factor=await sign_in.has_second_factor(app, user))
    new = sign_in.make_session(app, user, stage, origin, visitor.session)
    # A password is no second factor, so what needs a fresh one still asks for it.
    session = msgspec.structs.replace(new.session, confirmed_at=visitor.session.confirmed_at)
    ended = users.delete_sessions_write(user.id)
    await _save(app, changed, ended, *users.insert_session_writes(session))
    return NewSession(session, new.token)


async def forget_told_password(app: App, user: User) -> None:
    """Forgets the password that `tollgate credentials` tells, if it is the one that this user has now."""
    told = await find_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD)
    if told is not None and await sign_in.is_password(Secret(told.decode()), user.password_hash):
        await forget_sealed_setting(app.database, OFFICE_PASSWORD)


async def _save(app: App, changed: User, *more: statements.Write) -> None:
    if not await users.update_user(app.database, changed, *more):
        raise refuse("user", "was changed at the same moment: please try again")


# ---- one-time codes ----


def is_first_code(app: App, secret: Secret, code: Secret) -> bool:
    """Tells whether a code proves that the user's app has the secret."""
    return passwords.find_totp_step(secret, code, app.clock.wall()) is not None


async def add_totp(app: App, visitor: Visitor, secret: Secret, code: Secret, origin: Origin) -> list[Secret]:
    """Sets up one-time codes after a first code was right; returns recovery codes if the user had none."""
    user = visitor.user
    step = passwords.find_totp_step(secret, code, app.clock.wall())
    if step is None:
        raise refuse("code", "is wrong: please type the code that the app shows now")
    await sign_in.record(app, audit_actions.AuditAction.SECOND_FACTOR_ADDED, user, origin, factor=Factor.TOTP.value)
    changed, recovery = _fill_recovery(app, user)
    sealed = passwords.seal_totp(secret, user.id, app.keyring)
    # The code has been used by this; a user who gave another one in the same half minute has noted the step already.
    used = users.use_totp_step_writes(user, step, rows=None)
    await _save(app, msgspec.structs.replace(changed, sealed_totp=sealed), *used)
    return recovery


async def remove_totp(app: App, visitor: Visitor, origin: Origin) -> None:
    user = visitor.user
    if user.sealed_totp is None:
        raise refuse("factor", "you have no one-time codes")
    left = len(await users.list_passkeys(app.database, user.id))
    changed = _check_removal(app, user, left)
    await sign_in.record(app, audit_actions.AuditAction.SECOND_FACTOR_REMOVED, user, origin, factor=Factor.TOTP.value)
    await _save(app, msgspec.structs.replace(changed, sealed_totp=None))


def _check_removal(app: App, user: User, left: int) -> User:
    """Refuses to remove the last second factor on a live host; without any, recovery codes go too."""
    if left == 0 and app.is_live:
        raise refuse("factor", "is the last one, which a live host needs: please add another one first")
    return user if left else msgspec.structs.replace(user, recovery_hashes=())


# ---- recovery codes ----


def _fill_recovery(app: App, user: User) -> tuple[User, list[Secret]]:
    return (user, []) if user.recovery_hashes else _make_recovery(app, user)


def _make_recovery(app: App, user: User) -> tuple[User, list[Secret]]:
    made = passwords.make_recovery_codes(app.random_bytes)
    hashes = tuple(passwords.hash_recovery_code(code, user.id, app.keyring) for code in made)
    return msgspec.structs.replace(user, recovery_hashes=hashes), made


async def replace_recovery_codes(app: App, visitor: Visitor, origin: Origin) -> list[Secret]:
    """Makes new recovery codes, and the old ones are worth nothing."""
    if not await sign_in.has_second_factor(app, visitor.user):
        raise refuse("factor", "recovery codes replace a second factor, and you have none: please add one first")
    await sign_in.record(
        app, audit_actions.AuditAction.SECOND_FACTOR_ADDED, visitor.user, origin, factor=Factor.RECOVERY_CODE.value
    )
    changed, made = _make_recovery(app, visitor.user)
    await _save(app, changed)
    return made


# ---- passkeys ----


async def ask_new_passkey(app: App, visitor: Visitor, party: Party) -> str:
    """Returns what the browser needs to make a passkey."""
    known = await users.list_passkeys(app.database, visitor.user.id)
    return passkeys.render_new_options(party, visitor.user, known, await _make_challenge(app, visitor.session))


async def ask_passkey(app: App, visitor: Visitor, party: Party) -> str:
    """Returns what the browser needs to sign with one of the user's passkeys."""
    known = await users.list_passkeys(app.database, visitor.user.id)
    return passkeys.render_use_options(party, known, await _make_challenge(app, visitor.session))


async def _make_challenge(app: App, session: Session) -> bytes:
    challenge = passkeys.make_challenge(app.clock.wall(), app.random_bytes)
    if not await users.set_challenge(app.database, session, challenge):
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "the session has ended: please sign in again")
    return challenge


async def _take_challenge(app: App, session: Session) -> bytes:
    """Returns the challenge of the session; each is taken once, whatever the answer to it is worth."""
    challenge = session.challenge
    if challenge is None or not await users.take_challenge(app.database, session):
        raise PasskeyError("nothing was asked of a passkey in this session")
    if not passkeys.is_fresh(challenge, app.clock.wall()):
        raise PasskeyError("the passkey took too long")
    return challenge


async def add_passkey(app: App, visitor: Visitor, party: Party, answer: str, name: str, origin: Origin) -> list[Secret]:
    """Adds the passkey that the browser made; returns recovery codes if the user had none."""
    user = visitor.user
    try:
        challenge = await _take_challenge(app, visitor.session)
        known = await users.list_passkeys(app.database, user.id)
        title = name.strip()[:_NAME_LENGTH_MAX] or f"Passkey {len(known) + 1}"
        passkey = passkeys.read_new(answer, party, challenge, user.id, title, app.clock.wall())
    except PasskeyError as fault:
        raise refuse("passkey", f"was not added: {fault}") from None
    if len(known) >= limits.LIMITS.passkeys_max:
        raise refuse("passkey", f"was not added: {limits.LIMITS.passkeys_max} are the most that a user may have")
    if any(each.id == passkey.id for each in known):
        raise refuse("passkey", "is known already")
    details = {"factor": Factor.PASSKEY.value, "name": passkey.name}
    await sign_in.record(app, audit_actions.AuditAction.SECOND_FACTOR_ADDED, user, origin, **details)
    changed, recovery = _fill_recovery(app, user)
    await _save(app, changed, *users.insert_passkey_writes(passkey))
    return recovery


async def check_passkey(app: App, visitor: Visitor, party: Party | None, answer: str, origin: Origin) -> Factor | None:
    """Judges the signature of a passkey; None if it is wrong. Wrong ones count like failed sign-ins."""
    user = visitor.user
    tries = 0 if party is None else await sign_in.count_try(app, user.name)
    if party is None or not tries:
        return None
    try:
        challenge = await _take_challenge(app, visitor.session)
        known = await users.list_passkeys(app.database, user.id)
        passkey, count = passkeys.read_use(answer, party, challenge, known)
    except PasskeyError as fault:
        details = {"factor": Factor.PASSKEY.value, "why": str(fault)}
        await sign_in.record_failure(app, user, origin, tries, **details)
        return None
    is_used = await users.use_passkey(app.database, passkey, count, app.clock.wall())
    return Factor.PASSKEY if is_used else None


async def remove_passkey(app: App, visitor: Visitor, passkey_id: str, origin: Origin) -> None:
    user, known = visitor.user, await users.list_passkeys(app.database, visitor.user.id)
    passkey = _get_passkey(known, passkey_id)
    left = len(known) - 1 + (user.sealed_totp is not None)
    changed = _check_removal(app, user, left)
    details = {"factor": Factor.PASSKEY.value, "name": passkey.name}
    await sign_in.record(app, audit_actions.AuditAction.SECOND_FACTOR_REMOVED, user, origin, **details)
    await _save(app, changed, *users.delete_passkey_writes(passkey))


def _get_passkey(known: list[Passkey], passkey_id: str) -> Passkey:
    found = next((each for each in known if each.id == passkey_id), None)
    if found is None:
        raise refuse("passkey", "is not known any more")
    return found


# ---- sessions ----


async def revoke_session(app: App, visitor: Visitor, session_id: str, origin: Origin) -> None:
    """Ends one session of the user at once."""
    own = await users.list_sessions(app.database, visitor.user.id)
    if not any(each.id == session_id for each in own):
        raise refuse("session", "has ended already")
    await sign_in.record(app, audit_actions.AuditAction.SESSION_REVOKED, visitor.user, origin, session=session_id)
    await users.delete_session(app.database, visitor.user.id, session_id)


async def revoke_other_sessions(app: App, visitor: Visitor, origin: Origin) -> None:
    """Ends all sessions of the user but this one; sign-ins that have only begun end too."""
    await sign_in.record(app, audit_actions.AuditAction.SESSION_REVOKED, visitor.user, origin, session="all others")
    await _save(app, visitor.user, users.delete_sessions_write(visitor.user.id, but=visitor.session.id))
