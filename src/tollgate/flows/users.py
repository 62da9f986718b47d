"""Users of the back office as administrators, the platform and the operator's commands change them.

What users change about themselves is in `factors`.
"""

import re
from collections.abc import Sequence

import msgspec

from tollgate.catalog import audit_actions, codes, limits, results
from tollgate.catalog.permissions import ROLE_PERMISSIONS, Permission, Role
from tollgate.flows import factors, sign_in
from tollgate.operations import audit_log
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.users import Grant, User, find_refund_limit
from tollgate.store import opening, statements, users
from tollgate.values import ChannelId, Forbidden, MerchantId, NotFound, Secret, make_id, render_hundredths
from tollgate.vault import passwords

_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]*")
_REVISION = "users_revision"
"""The setting that every change of users and roles counts up, so that two changes at once are decided one by one."""
_PLATFORM = Grant(user_id="", role=Role.PLATFORM)


class Authority(msgspec.Struct, frozen=True):
    """An authority is somebody who changes users, with the roles by which it may."""

    actor: Actor
    grants: tuple[Grant, ...]

    @property
    def is_platform(self) -> bool:
        return any(grant.role is Role.PLATFORM for grant in self.grants)

    def covers(self, grant: Grant) -> bool:
        """Tells whether it may give and take a role: it has every permission of the role wherever the role counts."""
        own = [each for each in self.grants if each.reaches(grant.merchant_id, grant.channel_id)]
        permissions = frozenset().union(*(ROLE_PERMISSIONS[each.role] for each in own))
        return Permission.MANAGE_USERS in permissions and permissions >= ROLE_PERMISSIONS[grant.role]

    def find_exceeded_limit(self, grant: Grant) -> int | None:
        """Returns the limit of its own for refunds, if the role goes beyond it."""
        limit = find_refund_limit(self.grants, MerchantId(grant.merchant_id), ChannelId(grant.channel_id))
        is_beyond = limit is not None and (grant.refund_limit is None or grant.refund_limit > limit)
        return limit if is_beyond and grant.allows(Permission.REFUND) else None


OPERATOR = Authority(Actor(name="operator"), (_PLATFORM,))
"""The authority of everybody who runs commands on the host."""


class Listed(msgspec.Struct, frozen=True):
    """A user in a list, with the roles that the reader may see."""

    user: User
    grants: tuple[Grant, ...]
    has_factor: bool


class Given(msgspec.Struct, frozen=True):
    """A user with a password that is shown once."""

    user: User
    password: Secret


async def list_users(app: App, by: Authority, merchant_id: str | None = None) -> list[Listed]:
    """Lists the users with roles for a merchant that the authority covers, or all users of the host."""
    roles: dict[str, list[Grant]] = {}
    for grant in await users.list_all_grants(app.database):
        if merchant_id is None or (grant.merchant_id == merchant_id and by.covers(grant)):
            roles.setdefault(grant.user_id, []).append(grant)
    with_passkeys = {passkey.user_id for passkey in await users.list_all_passkeys(app.database)}
    return [
        Listed(user, tuple(roles.get(user.id, ())), user.sealed_totp is not None or user.id in with_passkeys)
        for user in await users.list_users(app.database)
        if merchant_id is None or user.id in roles
    ]


async def get_listed(app: App, by: Authority, user_id: str, merchant_id: str | None = None) -> Listed:
    """Returns a user of the list; one that the authority does not see is as unknown as one that does not exist."""
    found = next((each for each in await list_users(app, by, merchant_id) if each.user.id == user_id), None)
    if found is None:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "there is no such user")
    return found


# ---- adding users, and their roles ----


async def add_user(app: App, by: Authority, name: str, grant: Grant) -> Given:
    """Adds a user with a first role and a password for the first sign-in, which asks for another one."""
    name = name.strip().lower()
    if not _NAME.fullmatch(name) or len(name) > limits.LIMITS.user_name_length_max:
        text = f"must have up to {limits.LIMITS.user_name_length_max} letters, digits and . _ @ + -"
        raise factors.refuse("name", f"{text}, and begin with a letter or digit")
    lock = await _make_lock(app)
    known = await users.list_users(app.database)
    if len(known) >= limits.LIMITS.users_max:
        raise factors.refuse("name", f"{limits.LIMITS.users_max} users are the most that a host may have")
    if any(each.name == name for each in known):
        raise factors.refuse("name", "is taken by another user")
    user_id, password = make_id(app.random_bytes), passwords.make_password(app.random_bytes)
    role = msgspec.structs.replace(grant, user_id=user_id)
    _check_role(app, by, role)
    await _record(app, by, audit_actions.AuditAction.USER_ADDED, name, role.merchant_id, **_describe(role))
    user = User(
        id=user_id,
        name=name,
        created_at=app.clock.wall(),
        password_hash=await sign_in.hash_password(password),
        must_change_password=True,
    )
    _check_written(await users.insert_user(app.database, user, [role], *lock))
    return Given(user, password)


async def give_role(app: App, by: Authority, grant: Grant) -> None:
    """Gives a user one more role; one that it has already gets the new limit."""
    lock = await _make_lock(app)
    target = await _get_target(app, by, grant.user_id, grant.merchant_id)
    _check_role(app, by, grant)
    details = {"change": "role given", **_describe(grant)}
    await _record(app, by, audit_actions.AuditAction.USER_CHANGED, target.name, grant.merchant_id, **details)
    _check_written(await users.put_grant(app.database, grant, *lock))


async def take_role(app: App, by: Authority, grant: Grant) -> None:
    """Takes a role from a user."""
    lock = await _make_lock(app)
    target = await _get_target(app, by, grant.user_id, grant.merchant_id)
    if not by.covers(grant):
        raise _forbid("you cannot take a role that is beyond your own")
    if grant.role is Role.PLATFORM:
        await _check_platform_stays(app, target)
    details = {"change": "role taken", **_describe(grant)}
    await _record(app, by, audit_actions.AuditAction.USER_CHANGED, target.name, grant.merchant_id, **details)
    _check_written(await users.delete_grant(app.database, grant, *lock))


def _check_role(app: App, by: Authority, grant: Grant) -> None:
    if (grant.role is Role.PLATFORM) is bool(grant.merchant_id or grant.channel_id):
        raise factors.refuse("role", "the platform role counts for the whole host; every other one needs a merchant")
    if grant.merchant_id and app.merchants.find_merchant(grant.merchant_id) is None:
        raise factors.refuse("merchant", "there is no such merchant")
    channel = app.merchants.find_channel(grant.channel_id)
    if grant.channel_id and (channel is None or channel.merchant_id != grant.merchant_id):
        raise factors.refuse("channel", "the merchant has no such channel")
    if not by.covers(grant):
        raise _forbid("you cannot give a role that is beyond your own")
    if grant.refund_limit is not None and not grant.allows(Permission.REFUND):
        raise factors.refuse("refund-limit", "the role allows no refunds, so it has no limit")
    limit = by.find_exceeded_limit(grant)
    if limit is not None:
        raise factors.refuse("refund-limit", f"must not exceed your own, which is {render_hundredths(limit)}")


# ---- whole users ----


async def reset_user(app: App, by: Authority, user_id: str, merchant_id: str = "") -> Given:
    """Gives a user a new password for one sign-in; second factors, recovery codes and sessions are removed."""
    lock = await _make_lock(app)
    user = await _get_whole_target(app, by, user_id)
    if any(by.find_exceeded_limit(grant) is not None for grant in await users.list_grants(app.database, user_id)):
        # Whoever knows the new password could refund as this user.
        raise _forbid("the user may refund more than you")
    password = passwords.make_password(app.random_bytes)
    await _record(app, by, audit_actions.AuditAction.USER_RESET, user.name, merchant_id)
    await factors.forget_told_password(app, user)
    hashed = await sign_in.hash_password(password)
    changed = msgspec.structs.replace(
        user, password_hash=hashed, must_change_password=True, sealed_totp=None, recovery_hashes=()
    )
    ended = (users.delete_sessions_write(user.id), users.delete_passkeys_write(user.id))
    _check_written(await users.update_user(app.database, changed, *ended, *lock))
    await sign_in.forget_failures(app, user.name)
    return Given(changed, password)


async def disable_user(app: App, by: Authority, user_id: str, merchant_id: str = "") -> None:
    """Lets a user in no more, and ends its sessions."""
    lock = await _make_lock(app)
    user = await _get_whole_target(app, by, user_id)
    await _check_platform_stays(app, user)
    await _record(app, by, audit_actions.AuditAction.USER_DISABLED, user.name, merchant_id)
    changed = msgspec.structs.replace(user, is_disabled=True)
    ended = users.delete_sessions_write(user.id)
    _check_written(await users.update_user(app.database, changed, ended, *lock))


async def enable_user(app: App, by: Authority, user_id: str, merchant_id: str = "") -> None:
    """Lets a user that was disabled in again."""
    lock = await _make_lock(app)
    user = await _get_whole_target(app, by, user_id)
    await _record(app, by, audit_actions.AuditAction.USER_ENABLED, user.name, merchant_id)
    changed = msgspec.structs.replace(user, is_disabled=False)
    _check_written(await users.update_user(app.database, changed, *lock))


async def _get_target(app: App, by: Authority, user_id: str, merchant_id: str) -> User:
    """Returns a user whose roles for a merchant may be changed, which nobody does for itself."""
    found = await get_listed(app, by, user_id, None if by.is_platform else merchant_id)
    if found.user.id == by.actor.user_id:
        raise _forbid("another user has to change what you may do")
    return found.user


async def _get_whole_target(app: App, by: Authority, user_id: str) -> User:
    """Returns a user that may be changed as a whole: every role of it must be within the authority."""
    user = await users.find_user(app.database, user_id)
    roles = await users.list_grants(app.database, user_id)
    if user is None or not (by.is_platform or any(by.covers(grant) for grant in roles)):
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "there is no such user")
    if user.id == by.actor.user_id:
        raise _forbid("another user has to do this to you")
    if not by.is_platform and not all(by.covers(grant) for grant in roles):
        raise _forbid("the user has roles that are beyond yours")
    return user


async def _check_platform_stays(app: App, leaving: User) -> None:
    """Refuses to leave the host without an active user of the platform role."""
    platform = {grant.user_id for grant in await users.list_all_grants(app.database) if grant.role is Role.PLATFORM}
    active = {user.id for user in await users.list_users(app.database) if not user.is_disabled} & platform
    if active and active <= {leaving.id}:
        raise _forbid("this is the last active user with the platform role")


async def _make_lock(app: App) -> Sequence[statements.Write]:
    """Returns a write that fails if users or roles were changed since now; take it before reading what decides."""
    await opening.add_setting(app.database, _REVISION, "0")
    seen = await opening.get_setting(app.database, _REVISION)
    return opening.replace_setting_writes(_REVISION, seen, str(int(seen) + 1))


def _check_written(is_written: bool) -> None:
    if not is_written:
        raise factors.refuse("user", "users were changed at the same moment: please try again")


def _forbid(text: str) -> Forbidden:
    return Forbidden(results.get_result(codes.UNAUTHENTICATED), text)


def _describe(grant: Grant) -> dict[str, str]:
    limit = "none" if grant.refund_limit is None else render_hundredths(grant.refund_limit)
    return {"role": str(grant.role), "channel": grant.channel_id or "all", "refund_limit": limit}


async def _record(
    app: App, by: Authority, action: audit_actions.AuditAction, name: str, merchant_id: str, /, **details: str
) -> None:
    await audit_log.record(
        app.database,
        app.keyring,
        app.clock,
        by.actor,
        action,
        subject=name,
        merchant_id=merchant_id,
        details=details,
    )
