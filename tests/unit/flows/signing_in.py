"""Users of the back office for tests of flows, and the steps of a sign-in without pages."""

from __future__ import annotations

import pyotp
from msgspec.structs import replace

from tollgate.catalog.permissions import Role
from tollgate.flows import sign_in, users
from tollgate.flows.sign_in import NewSession, Origin, Visitor
from tollgate.flows.users import OPERATOR, Authority
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.users import Grant, User
from tollgate.store import audit_log
from tollgate.store import users as store
from tollgate.values import SECOND, FixedClock, Secret
from unit.app_fixture import MERCHANT

ORIGIN = Origin("192.0.2.1", "Browser")
PASSWORD = Secret("correct horse battery")
WRONG = Secret("a wrong password")


def get_clock(app: App) -> FixedClock:
    assert isinstance(app.clock, FixedClock)
    return app.clock


async def add(app: App, name: str, *roles: Grant, password: Secret = PASSWORD) -> User:
    """A user who has chosen a password; roles without a user id count for the new user."""
    first, *more = roles or (Grant(user_id="", merchant_id=MERCHANT.id, role=Role.VIEWER),)
    given = await users.add_user(app, OPERATOR, name, first)
    for grant in more:
        await users.give_role(app, OPERATOR, replace(grant, user_id=given.user.id))
    hashed = await sign_in.hash_password(password)
    ready = replace(given.user, password_hash=hashed, must_change_password=False)
    assert await store.update_user(app.database, ready)
    return await get_user(app, name)


async def get_user(app: App, name: str) -> User:
    found = await store.find_user_by_name(app.database, name)
    assert found is not None
    return found


async def enter(app: App, name: str, password: Secret = PASSWORD) -> NewSession:
    new = await sign_in.sign_in(app, name, password, ORIGIN)
    assert new is not None
    return new


async def get_visitor(app: App, new: NewSession) -> Visitor:
    visitor = await sign_in.find_visitor(app, new.token)
    assert visitor is not None
    return visitor


async def make_authority(app: App, user: User) -> Authority:
    return Authority(Actor(user.id, user.name, ""), tuple(await store.list_grants(app.database, user.id)))


def make_code(app: App, secret: Secret, steps: int = 0) -> Secret:
    text = secret.reveal()
    return Secret(pyotp.TOTP(text).at(app.clock.wall() // SECOND + 30 * steps))


async def list_actions(app: App) -> list[tuple[str, str]]:
    entries = await audit_log.list_entries(app.database, audit_log.EntryFilter(), None, 1000)
    return [(entry.action, entry.subject) for entry in reversed(entries)]
