"""The sandbox merchant is made once, and its greeting holds what a first payment needs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tollgate.operations.settings import find_sealed_setting, put_sealed_setting
from tollgate.payments.users import OFFICE_PASSWORD
from tollgate.sandbox.tenant import ensure_tenant, welcome
from tollgate.store.merchants import list_channels, list_credentials, list_merchants, update_channel
from tollgate.store.users import list_users
from tollgate.values import Secret
from tollgate.vault.passwords import is_password
from unit.app_fixture import NOW, ScriptedWire, open_app

pytestmark = pytest.mark.anyio


async def test_a_second_start_finds_what_the_first_one_made(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    merchants = len(await list_merchants(app.database))

    first = await ensure_tenant(app.database, app.keyring, NOW)
    second = await ensure_tenant(app.database, app.keyring, NOW)

    assert first == second
    assert len(await list_merchants(app.database)) == merchants + 1
    assert len(await list_credentials(app.database)) == 1
    made = {channel.id: channel for channel in await list_channels(app.database)}
    assert not made[first.entity_id].is_lenient  # type: ignore[index]
    assert made[first.lenient_entity_id].is_lenient  # type: ignore[index]
    await app.database.close()


async def test_a_merchant_of_an_earlier_version_is_given_a_creditor_and_others_are_left_alone(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    tenant = await ensure_tenant(app.database, app.keyring, NOW)
    for channel in await list_channels(app.database):
        await update_channel(app.database, msgspec.structs.replace(channel, creditor=None))

    await ensure_tenant(app.database, app.keyring, NOW)

    with_creditor = {channel.id for channel in await list_channels(app.database) if channel.creditor}
    assert with_creditor == {tenant.entity_id, tenant.lenient_entity_id}
    await app.database.close()


async def test_the_administrator_has_the_password_that_another_process_chose_first(tmp_path: Path) -> None:
    """A command may be run while the server starts for the first time."""
    app = await open_app(tmp_path, ScriptedWire())
    await put_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD, b"chosen by another process")

    await ensure_tenant(app.database, app.keyring, NOW)

    [user] = await list_users(app.database)
    assert is_password(Secret("chosen by another process"), user.password_hash)
    told = await find_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD)
    assert told == b"chosen by another process"
    await app.database.close()


async def test_the_greeting_has_the_names_that_scripts_read(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    tenant = await ensure_tenant(app.database, app.keyring, NOW)

    shown = await welcome(app.database, app.keyring, tenant, "http://127.0.0.1:8080")

    said = json.loads(msgspec.json.encode(shown))
    assert {"frontUrl", "baseUrl", "entityId", "lenientEntityId", "accessToken", "shopUrl", "office"} <= set(said)
    assert {"url", "user", "password"} == set(said["office"])
    office = said.pop("office")
    for text in (*said.values(), *office.values(), "curl "):
        assert text in shown.render()
    await app.database.close()
