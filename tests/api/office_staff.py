"""Users of the back office with chosen roles, signed in. They are written to the store itself."""

from __future__ import annotations

import re
from uuid import uuid4

from api.registration_requests import ask_store
from gateway import GatewayProcess
from office_client import OfficeClient
from tollgate.catalog.permissions import Role
from tollgate.payments.users import Grant, User
from tollgate.store.users import insert_user
from tollgate.values import Secret, SystemClock, make_id
from tollgate.vault.passwords import hash_password

PASSWORD = "a long enough password"
_HASH = hash_password(Secret(PASSWORD))


def enter_as(
    gateway: GatewayProcess, role: Role, *, merchant_id: str, channel_id: str = "", refund_limit: int | None = None
) -> OfficeClient:
    """Adds a user with one role and signs the user in."""
    name, user_id = f"{role}-{uuid4().hex[:8]}", make_id()
    user = User(id=user_id, name=name, created_at=SystemClock().now(), password_hash=_HASH)
    grant = Grant(user_id=user_id, merchant_id=merchant_id, channel_id=channel_id, role=role, refund_limit=refund_limit)
    assert ask_store(gateway, lambda database: insert_user(database, user, [grant]))
    office = OfficeClient(gateway.base_url, merchant_id)
    assert office.sign_in(name, PASSWORD, follow=False).status == 303
    return office


def read_key(page: str, action: str) -> str:
    """Returns the key of a form on the page of a payment."""
    found = re.search(rf'action="[^"]*/{action}">.*?name="key" value="([0-9a-z]+)"', page, re.DOTALL)
    assert found is not None, f"the page has no form to {action}"
    return found[1]
