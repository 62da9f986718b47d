"""Rotation wraps every sealed record under the active key, whatever is being written meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.flows.pay import pay
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.operations.app import Call
from tollgate.payments.accounts import CardAccount
from tollgate.store.merchants import insert_credential, list_credentials
from tollgate.store.retention import SEALED_ACCOUNTS
from tollgate.vault.sealing import make_owner, open_account, sealed_prefix
from tollgate.vault.tokens import make_credential, open_token
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire, open_app

pytestmark = pytest.mark.anyio


async def test_everything_opens_under_the_new_key_alone(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    made = make_credential(MERCHANT.id, app.keyring, NOW)
    await insert_credential(app.database, made.credential)
    for _ in range(7):
        await pay(app, ORDER, Call(CHANNEL, "ndc"))
    rotated = app.keyring.with_new_key()
    assert await count_retired(app.database, rotated) > 0

    received: list[int] = []
    done = await rewrap_everything(app.database, rotated, received.append)

    alone = rotated.without_retired_keys()
    assert (done, received[-1]) == (8, 7)
    assert await count_retired(app.database, rotated) == 0
    for account in await SEALED_ACCOUNTS.list_page(app.database, None, sealed_prefix(b"none"), 100):
        owner = make_owner("payment", account.merchant_id, account.id)
        card = open_account(account.sealed, owner=owner, keyring=alone)
        assert isinstance(card, CardAccount)
        assert isinstance(ORDER.account, CardAccount)
        assert card.number.matches(ORDER.account.number)
    (stored,) = await list_credentials(app.database)
    assert open_token(stored, alone).matches(made.token)
    assert await rewrap_everything(app.database, rotated, received.append) == 0
    await app.database.close()


async def test_a_record_sealed_late_under_the_old_key_is_counted(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    rotated = app.keyring.with_new_key()
    await rewrap_everything(app.database, rotated, lambda _count: None)

    await pay(app, replace(ORDER, merchant_transaction_id=None), Call(CHANNEL, "ndc"))

    assert await count_retired(app.database, rotated) == 1
    await app.database.close()
