"""The sandbox's wallet provider is made once, also beside a merchant of an earlier version, and outlives a rotation."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tollgate.catalog.wallets import Wallet
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.operations.accounts import open_wallet
from tollgate.operations.app import Call
from tollgate.payments.accounts import OpenedCard
from tollgate.sandbox.tenant import Tenant, ensure_tenant
from tollgate.sandbox.wallets.issuing import make_wallet_token
from tollgate.sandbox.wallets.provider import TokenRequest
from tollgate.store.merchants import list_wallet_keys
from tollgate.store.opening import get_setting, list_settings, put_setting
from tollgate.values import MINUTE, ChannelId, Secret
from unit.app_fixture import CHANNEL, NOW, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

REQUEST = TokenRequest(
    wallet=Wallet.A,
    made_at=NOW,
    number="4200000000000000",
    expiry_month="05",
    expiry_year="2034",
    amount_hundredths=9200,
    currency="EUR",
)
FAR = NOW + 60 * 365 * 24 * 60 * MINUTE


async def test_both_channels_have_keys_for_every_wallet_and_a_second_start_adds_none(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())

    tenant = await ensure_tenant(app.database, app.keyring, NOW)
    first = await list_wallet_keys(app.database)
    await ensure_tenant(app.database, app.keyring, NOW)

    expected = {(channel, wallet) for channel in (tenant.entity_id, tenant.lenient_entity_id) for wallet in Wallet}
    assert {(key.channel_id, key.wallet) for key in first} == expected
    assert await list_wallet_keys(app.database) == first
    await app.database.close()


async def test_a_merchant_of_an_earlier_version_is_given_keys(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    earlier = Tenant(entity_id=CHANNEL.id, lenient_entity_id="8a" + "3" * 30, credential_id="8a01")
    await put_setting(app.database, "sandbox_tenant", msgspec.json.encode(earlier).decode())

    completed = await ensure_tenant(app.database, app.keyring, NOW)
    assert (completed.entity_id, completed.lenient_entity_id) == (earlier.entity_id, earlier.lenient_entity_id)

    await app.merchants.refresh(app.database)
    assert all(app.merchants.get_wallet_keys(CHANNEL.id, wallet) for wallet in Wallet)
    await app.database.close()


@pytest.mark.parametrize("wallet", Wallet)
async def test_tokens_open_however_far_the_clock_was_moved(tmp_path: Path, wallet: Wallet) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    tenant = await ensure_tenant(app.database, app.keyring, NOW)
    await app.merchants.refresh(app.database)
    channel = msgspec.structs.replace(CHANNEL, id=ChannelId(tenant.lenient_entity_id))
    later = msgspec.structs.replace(REQUEST, wallet=wallet, made_at=FAR)
    token = await make_wallet_token(app.database, app.keyring, channel.id, later)
    app.clock.at = FAR + MINUTE  # type: ignore[attr-defined]

    assert isinstance(await open_wallet(app, Call(channel, "ndc"), wallet, Secret(token or "")), OpenedCard)
    await app.database.close()


async def test_after_a_rotation_tokens_are_made_and_opened_under_the_new_key_alone(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    tenant = await ensure_tenant(app.database, app.keyring, NOW)
    rotated = app.keyring.with_new_key()
    # The token, the wallet keys, the secrets of the simulated provider and the password of the back office.
    records = 1 + len(await list_wallet_keys(app.database)) + 2
    assert await count_retired(app.database, rotated) == records

    done = await rewrap_everything(app.database, rotated, lambda _count: None)

    assert done == records
    assert await count_retired(app.database, rotated) == 0
    alone = msgspec.structs.replace(app, keyring=rotated.without_retired_keys())
    await alone.merchants.refresh(alone.database)
    channel = msgspec.structs.replace(CHANNEL, id=ChannelId(tenant.entity_id))
    for wallet in Wallet:
        request = msgspec.structs.replace(REQUEST, wallet=wallet)
        token = await make_wallet_token(alone.database, alone.keyring, channel.id, request)
        assert isinstance(await open_wallet(alone, Call(channel, "ndc"), wallet, Secret(token or "")), OpenedCard)
    await app.database.close()


async def test_the_providers_secrets_are_sealed(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    await ensure_tenant(app.database, app.keyring, NOW)

    for name, value in await list_settings(app.database, "sealed/"):
        assert "leaf_key" not in value
        assert await get_setting(app.database, name) == value
    await app.database.close()
