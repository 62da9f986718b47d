"""The directory: who may call, found by hash, refreshed when the store says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.steps import Directory
from tollgate.store import insert_credential, revoke_credential
from tollgate.values import Secret
from tollgate.vault import make_credential, make_keyring
from unit.premises import CHANNEL, MERCHANT, NOW, ScriptedWire, open_house

MADE = make_credential(MERCHANT.id, make_keyring(), NOW)


def test_a_credential_is_found_by_its_token_and_by_nothing_else() -> None:
    directory = Directory()
    directory.fill([CHANNEL], [MADE.credential])

    assert directory.find_credential(MADE.token) == MADE.credential
    assert directory.find_credential(Secret("guess")) is None
    assert directory.find_channel(CHANNEL.id) == directory.get_channel(CHANNEL.id) == CHANNEL
    assert directory.find_channel("8a" + "9" * 30) is None


def test_a_revoked_credential_is_not_found() -> None:
    directory = Directory()
    directory.fill([], [replace(MADE.credential, revoked_at=NOW)])

    assert directory.find_credential(MADE.token) is None


@pytest.mark.anyio
async def test_a_refresh_takes_over_what_changed_in_the_store(tmp_path: Path) -> None:
    house = await open_house(tmp_path, ScriptedWire())
    try:
        assert not await house.directory.refresh(house.database)

        await insert_credential(house.database, MADE.credential)
        assert house.directory.find_credential(MADE.token) is None
        assert await house.directory.refresh(house.database)
        assert house.directory.find_credential(MADE.token) is not None

        await revoke_credential(house.database, MADE.credential.id, NOW)
        assert await house.directory.refresh(house.database)
        assert house.directory.find_credential(MADE.token) is None
    finally:
        await house.database.close()
