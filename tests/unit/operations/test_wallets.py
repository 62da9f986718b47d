"""A wallet's token pays once on a channel that has its key, and every other end has its code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.catalog.wallets import Wallet
from tollgate.operations.accounts import open_wallet
from tollgate.operations.app import App, Call
from tollgate.operations.settings import find_sealed_setting, put_sealed_setting
from tollgate.payments.accounts import CardAccount, OpenedCard
from tollgate.payments.payment import IdempotencyKey
from tollgate.sandbox.wallets.issuing import ensure_wallets, make_wallet_token
from tollgate.sandbox.wallets.provider import TokenRequest
from tollgate.store.merchants import insert_channel
from tollgate.values import DAY, HOUR, ChannelId, FixedClock, Secret
from tollgate.vault.keyring import KeyringError, make_keyring
from tollgate.workers import WORKERS
from unit.app_fixture import CHANNEL, NOW, ScriptedWire, open_app

RUNS = {worker.name: worker.run for worker in WORKERS}


pytestmark = pytest.mark.anyio

NUMBER = "4200000000000000"
REQUEST = TokenRequest(
    wallet=Wallet.A,
    made_at=NOW,
    number=NUMBER,
    expiry_month="05",
    expiry_year="2034",
    amount_hundredths=9200,
    currency="EUR",
)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    await ensure_wallets(app.database, app.keyring, [CHANNEL.id], NOW)
    await app.merchants.refresh(app.database)
    yield app
    await app.database.close()


async def make_token(app: App, request: TokenRequest = REQUEST) -> Secret:
    token = await make_wallet_token(app.database, app.keyring, CHANNEL.id, request)
    assert token is not None
    return Secret(token)


@pytest.mark.parametrize("wallet", Wallet)
async def test_a_token_opens_once(app: App, wallet: Wallet) -> None:
    token = await make_token(app, replace(REQUEST, wallet=wallet))

    opened = await open_wallet(app, Call(CHANNEL, "ndc"), wallet, token)
    again = await open_wallet(app, Call(CHANNEL, "ndc"), wallet, token)

    assert isinstance(opened, OpenedCard)
    assert isinstance(opened.account, CardAccount)
    assert opened.account.number.matches(Secret(NUMBER))
    assert (opened.network, opened.account.wallet, opened.account.number_type) == ("VISA", wallet, "DPAN")
    assert again == "800.110.100"


async def test_of_many_at_once_one_wins(app: App) -> None:
    token = await make_token(app)

    ends = await asyncio.gather(*[open_wallet(app, Call(CHANNEL, "ndc"), Wallet.A, token) for _ in range(10)])

    assert sorted(end if isinstance(end, str) else "" for end in ends) == ["", *["800.110.100"] * 9]


async def test_one_request_sent_twice_at_once_is_left_to_its_key(app: App) -> None:
    token = await make_token(app)
    idempotency_key = IdempotencyKey(
        merchant_id=CHANNEL.merchant_id, channel_id=CHANNEL.id, key="k", fingerprint=b"f", created_at=1
    )

    ends = [await open_wallet(app, Call(CHANNEL, "ndc", idempotency_key), Wallet.A, token) for _ in range(2)]
    other = await open_wallet(app, Call(CHANNEL, "ndc", replace(idempotency_key, key="another")), Wallet.A, token)

    assert all(isinstance(end, OpenedCard) for end in ends)
    assert other == "800.110.100"


async def test_a_channel_without_keys_says_so(app: App) -> None:
    other = replace(CHANNEL, id=ChannelId("8a" + "3" * 30))
    await insert_channel(app.database, other)

    assert await open_wallet(app, Call(other, "ndc"), Wallet.A, await make_token(app)) == "600.200.201"
    assert await make_wallet_token(app.database, app.keyring, other.id, REQUEST) is None


@pytest.mark.parametrize("wallet", Wallet)
async def test_what_does_not_open_uses_nothing_up(app: App, wallet: Wallet) -> None:
    token = await make_token(app, replace(REQUEST, wallet=wallet))
    text = token.reveal()
    broken = Secret(text[:-3] + ("AAA" if not text.endswith("AAA") else "BBB"))

    assert await open_wallet(app, Call(CHANNEL, "ndc"), wallet, broken) == "200.100.603"
    assert isinstance(await open_wallet(app, Call(CHANNEL, "ndc"), wallet, token), OpenedCard)


@pytest.mark.parametrize("wallet", Wallet)
async def test_a_token_of_another_wallet_does_not_open(app: App, wallet: Wallet) -> None:
    token = await make_token(app, replace(REQUEST, wallet=wallet))

    for other in set(Wallet) - {wallet}:
        assert await open_wallet(app, Call(CHANNEL, "ndc"), other, token) == "200.100.603"


@pytest.mark.parametrize("wallet", Wallet)
async def test_an_old_token_is_expired_and_not_used_up(app: App, wallet: Wallet) -> None:
    token = await make_token(app, replace(REQUEST, wallet=wallet, made_at=NOW - HOUR))

    for _ in range(2):
        assert await open_wallet(app, Call(CHANNEL, "ndc"), wallet, token) == "800.100.330"


async def test_a_use_is_forgotten_when_no_token_could_live_any_more(app: App) -> None:
    token = await make_token(app)
    assert isinstance(await open_wallet(app, Call(CHANNEL, "ndc"), Wallet.A, token), OpenedCard)
    assert isinstance(app.clock, FixedClock)

    app.clock.at = NOW + LIMITS.wallet_use_lifetime
    assert await RUNS["wallet uses"](app) == 0
    app.clock.at += DAY

    assert await RUNS["wallet uses"](app) == 1
    assert await open_wallet(app, Call(CHANNEL, "ndc"), Wallet.A, token) == "800.100.330"


@pytest.mark.parametrize("code", ["200.100.603", "600.200.201", "800.100.330", "800.110.100"])
def test_every_end_has_a_row_of_results(code: str) -> None:
    assert get_result(code).code == code


async def test_a_sealed_setting_is_read_by_its_own_name_under_its_own_keys(app: App) -> None:
    await put_sealed_setting(app.database, app.keyring, "one", b"secret")

    assert await find_sealed_setting(app.database, app.keyring, "one") == b"secret"
    assert await find_sealed_setting(app.database, app.keyring, "two") is None
    with pytest.raises(KeyringError):
        await find_sealed_setting(app.database, make_keyring(), "one")
