"""Users of the back office for tests, written into the store of a running server, and every page that they may try."""

from __future__ import annotations

import asyncio
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway import GatewayProcess
from office_client import OfficeClient
from tollgate.catalog.permissions import Role
from tollgate.payments.users import Grant, User
from tollgate.store.opening import open_database
from tollgate.store.users import insert_user
from tollgate.values import Secret, SystemClock, make_id
from tollgate.vault.passwords import hash_password

PASSWORD = "a long pass phrase of a test"
UNKNOWN_ID = "0" * 32
PAGE_ROWS: list[Any] = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "make_reference.py"))[
    "list_page_rows"
]()
"""The rows of all pages, also of those that only a test host has."""


@dataclass(frozen=True)
class OfficeUser:
    name: str
    role: Role
    merchant_id: str = ""
    channel_id: str = ""

    def enter(self, gateway: GatewayProcess, merchant_id: str) -> OfficeClient:
        """Signs in with a browser of its own, which then looks at the pages of a merchant."""
        office = OfficeClient(gateway.base_url, merchant_id)
        office.sign_in(self.name, PASSWORD, follow=False)
        office.get("/office/confirm", follow=False)
        return office


def add_users(gateway: GatewayProcess, *users: OfficeUser) -> None:
    """All users have the same password, whose hash is made once because making one is slow on purpose."""
    password_hash = hash_password(Secret(PASSWORD))
    now = SystemClock().wall()

    async def insert() -> None:
        database = await open_database(gateway.database or str(gateway.data / "tollgate.db"), must_exist=True)
        try:
            for each in users:
                user = User(id=make_id(), name=each.name, created_at=now, password_hash=password_hash)
                grant = Grant(user_id=user.id, merchant_id=each.merchant_id, channel_id=each.channel_id, role=each.role)
                assert await insert_user(database, user, [grant]), "the name is taken"
        finally:
            await database.close()

    asyncio.run(insert())
