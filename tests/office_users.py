"""Users of the back office for tests, with one role each; they are written into the store beside the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import sqlalchemy as sa

from gateway import GatewayProcess
from office_client import OfficeClient, enter_office
from tollgate.catalog.permissions import Role
from tollgate.config import load_settings
from tollgate.payments.users import Grant, User
from tollgate.store import users
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.schema import user_sessions
from tollgate.store.statements import Statement, Write
from tollgate.values import Secret, SystemClock, make_id
from tollgate.vault import passwords

PASSWORD = "correct horse battery staple"


def get_database_url(gateway: GatewayProcess) -> str:
    given = {"data": str(gateway.data), "database": gateway.database or None}
    return load_settings({name: value for name, value in given.items() if value}).database_url


def _run(gateway: GatewayProcess, work: Callable[[Database], Awaitable[object]]) -> None:
    async def run() -> None:
        database = await open_database(get_database_url(gateway))
        try:
            await work(database)
        finally:
            await database.close()

    asyncio.run(run())


def enter_as(gateway: GatewayProcess, role: Role, channel_id: str = "") -> OfficeClient:
    """Adds a user with a role for the sandbox merchant, and signs it in."""
    office = enter_office(gateway)
    user_id = make_id()
    name = f"{role}-{user_id[:12]}"
    password_hash = passwords.hash_password(Secret(PASSWORD))
    user = User(id=user_id, name=name, created_at=SystemClock().wall(), password_hash=password_hash)
    merchant_id = "" if role is Role.PLATFORM else office.merchant_id
    grant = Grant(user_id=user_id, merchant_id=merchant_id, channel_id=channel_id, role=role)

    _run(gateway, lambda database: users.insert_user(database, user, [grant]))
    own = OfficeClient(gateway.base_url, office.merchant_id)
    own.sign_in(name, PASSWORD, follow=False)
    return own


def forget_confirmations(gateway: GatewayProcess) -> None:
    """Makes all sessions older than a fresh second factor may be."""
    statement = Statement(sa.update(user_sessions).values(confirmed_at=sa.literal_column("1")))

    async def forget(database: Database) -> None:
        await database.write([Write(statement, {})], label="test")

    _run(gateway, forget)
