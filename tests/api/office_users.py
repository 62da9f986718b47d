"""Users of the back office with one role, made in the store of a running server."""

from __future__ import annotations

import asyncio

from gateway import GatewayProcess
from office_client import OfficeClient
from tollgate.catalog.permissions import Role
from tollgate.config import Settings
from tollgate.payments.users import Grant, User
from tollgate.store import audit_log, users
from tollgate.store.opening import open_database
from tollgate.values import Secret, SystemClock, make_id
from tollgate.vault.passwords import hash_password

_PASSWORD = "a password of good length"
_ENTRIES_MAX = 10_000


def enter_as(gateway: GatewayProcess, role: Role, merchant_id: str, channel_id: str = "") -> OfficeClient:
    """Makes a user with a role for a merchant, or for one of its channels, and signs in."""
    user = User(
        id=make_id(),
        name=f"{role}-{make_id()[:12]}",
        created_at=SystemClock().wall(),
        password_hash=hash_password(Secret(_PASSWORD)),
    )
    grant = Grant(user_id=user.id, merchant_id=merchant_id, channel_id=channel_id, role=role)

    async def insert() -> None:
        settings = Settings(data=str(gateway.data), database=gateway.database)
        database = await open_database(settings.database_url, must_exist=True)
        await users.insert_user(database, user, [grant])
        await database.close()

    asyncio.run(insert())
    office = OfficeClient(gateway.base_url, merchant_id)
    office.sign_in(user.name, _PASSWORD, follow=False)
    return office


def list_audit(gateway: GatewayProcess) -> list[tuple[str, str]]:
    """Returns action and subject of the audit log's entries, oldest first."""

    async def read() -> list[tuple[str, str]]:
        settings = Settings(data=str(gateway.data), database=gateway.database)
        database = await open_database(settings.database_url, read_only=True)
        entries = await audit_log.list_entries(database, audit_log.EntryFilter(), None, _ENTRIES_MAX)
        await database.close()
        return [(entry.action, entry.subject) for entry in reversed(entries)]

    return asyncio.run(read())
