"""Users of the back office for tests, and the audit log of what they did. Both are in the store of a running server."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import sqlalchemy as sa
from argon2 import PasswordHasher

from api.registration_requests import ask_store
from gateway import GatewayProcess
from office_client import OfficeClient
from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.permissions import Role
from tollgate.payments.users import AuditEntry, Grant, User
from tollgate.store import audit_log, merchants, users
from tollgate.store.database import Database
from tollgate.store.schema import user_sessions
from tollgate.store.statements import Statement, Write
from tollgate.values import SystemClock, make_id

PASSWORD = "correct horse battery staple"
_PASSWORD_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
"""A hash that is quick to verify, because verifying a real one is slow on purpose and most tests sign in."""
_ENTRIES_MAX = 10_000


@dataclass(frozen=True)
class OfficeUser:
    name: str
    role: Role
    merchant_id: str = ""
    channel_id: str = ""
    refund_limit: int | None = None
    must_change_password: bool = False
    id: str = field(default_factory=make_id)

    def enter(self, gateway: GatewayProcess, merchant_id: str = "") -> OfficeClient:
        """Signs in with a browser of its own, which looks at the pages of the user's merchant or of another."""
        return sign_in(gateway, self.name, PASSWORD, merchant_id or self.merchant_id)


def add_users(gateway: GatewayProcess, *added: OfficeUser) -> None:
    """Adds users who all have the same password."""
    now = SystemClock().wall()

    async def insert(database: Database) -> None:
        for each in added:
            user = User(
                id=each.id,
                name=each.name,
                created_at=now,
                password_hash=_PASSWORD_HASH,
                must_change_password=each.must_change_password,
            )
            grant = Grant(
                user_id=each.id,
                merchant_id=each.merchant_id,
                channel_id=each.channel_id,
                role=each.role,
                refund_limit=each.refund_limit,
            )
            assert await users.insert_user(database, user, [grant]), f"the name {each.name} is taken"

    ask_store(gateway, insert)


def add_user(
    gateway: GatewayProcess,
    role: Role = Role.PLATFORM,
    channel_id: str = "",
    *,
    merchant_id: str = "",
    refund_limit: int | None = None,
    must_change_password: bool = False,
) -> OfficeUser:
    """Adds a user with a name that nobody has.

    merchant_id: the first merchant of the host if it is not given; the platform role has none.
    """
    if role is not Role.PLATFORM:
        merchant_id = merchant_id or find_first_merchant(gateway)
    user = OfficeUser(f"{role}-{make_id()[-12:]}", role, merchant_id, channel_id, refund_limit, must_change_password)
    add_users(gateway, user)
    return user


def enter_as(
    gateway: GatewayProcess,
    role: Role = Role.PLATFORM,
    channel_id: str = "",
    *,
    merchant_id: str = "",
    refund_limit: int | None = None,
) -> OfficeClient:
    """Adds a user with one role and signs in; the browser looks at the pages of the first merchant or of another."""
    user = add_user(gateway, role, channel_id, merchant_id=merchant_id, refund_limit=refund_limit)
    return user.enter(gateway, merchant_id)


def sign_in(gateway: GatewayProcess, name: str, password: str = PASSWORD, merchant_id: str = "") -> OfficeClient:
    """Signs a user in with a new browser, which has a token for forms if the user is let in."""
    office = OfficeClient(gateway.base_url, merchant_id or find_first_merchant(gateway))
    answer = office.sign_in(name, password, follow=False)
    assert answer.status == 303, answer.body.decode()
    office.get("/office/confirm", follow=False)
    return office


def find_first_merchant(gateway: GatewayProcess) -> str:
    """Returns the id of the sandbox merchant, or of the first that was added to a live host."""
    return ask_store(gateway, merchants.list_merchants)[0].id


def list_audit(gateway: GatewayProcess, action: str | None = None, **wanted: str) -> list[AuditEntry]:
    """Lists the entries of the audit log, oldest first.

    wanted: fields of the filter, such as the name of the user.
    """
    entries = msgspec.convert({"action": action and AuditAction(action), **wanted}, audit_log.EntryFilter)
    return ask_store(gateway, lambda database: audit_log.list_entries(database, entries, None, _ENTRIES_MAX))[::-1]


def forget_confirmations(gateway: GatewayProcess) -> None:
    """Makes all sessions older than a fresh second factor may be."""
    forget = Write(Statement(sa.update(user_sessions).values(confirmed_at=sa.literal_column("1"))), {})
    ask_store(gateway, lambda database: database.write([forget], label="test"))
