"""The directory: who may call, found by hash, refreshed when the store says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.operations.caches import MerchantCache
from tollgate.store.merchants import insert_credential, revoke_credential
from tollgate.values import Secret
from tollgate.vault.keyring import make_keyring
from tollgate.vault.tokens import make_credential
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire, open_app

MADE = make_credential(MERCHANT.id, make_keyring(), NOW)


def test_a_credential_is_found_by_its_token_and_by_nothing_else() -> None:
    merchants = MerchantCache()
    merchants.fill([CHANNEL], [MADE.credential])

    assert merchants.find_credential(MADE.token) == MADE.credential
    assert merchants.find_credential(Secret("guess")) is None
    assert merchants.find_channel(CHANNEL.id) == merchants.get_channel(CHANNEL.id) == CHANNEL
    assert merchants.find_channel("8a" + "9" * 30) is None


def test_a_revoked_credential_is_not_found() -> None:
    merchants = MerchantCache()
    merchants.fill([], [replace(MADE.credential, revoked_at=NOW)])

    assert merchants.find_credential(MADE.token) is None


@pytest.mark.anyio
async def test_a_refresh_takes_over_what_changed_in_the_store(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    try:
        assert not await app.merchants.refresh(app.database)

        await insert_credential(app.database, MADE.credential)
        assert app.merchants.find_credential(MADE.token) is None
        assert await app.merchants.refresh(app.database)
        assert app.merchants.find_credential(MADE.token) is not None

        await revoke_credential(app.database, MADE.credential.id, NOW)
        assert await app.merchants.refresh(app.database)
        assert app.merchants.find_credential(MADE.token) is None
    finally:
        await app.database.close()
