"""A wallet's token pays once on a channel that has its key, and every other end has its code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog import LIMITS, Wallet, get_result
from tollgate.payments import CardAccount, Claim, OpenedCard
from tollgate.sandbox import TokenWish, make_wallet_token
from tollgate.sandbox.wallets import ensure_wallets
from tollgate.steps import House, find_sealed_setting, open_wallet, put_sealed_setting
from tollgate.store import insert_channel
from tollgate.values import DAY, HOUR, ChannelId, FixedClock, Secret
from tollgate.vault import KeyringError, make_keyring
from tollgate.workers.upkeep import purge_old_wallet_uses
from unit.premises import CHANNEL, NOW, ScriptedWire, open_house

pytestmark = pytest.mark.anyio

NUMBER = "4200000000000000"
WISH = TokenWish(
    wallet=Wallet.A,
    made_at=NOW,
    number=NUMBER,
    expiry_month="05",
    expiry_year="2034",
    amount_hundredths=9200,
    currency="EUR",
)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = await open_house(tmp_path, ScriptedWire())
    await ensure_wallets(house.database, house.keyring, [CHANNEL.id], NOW)
    await house.directory.refresh(house.database)
    yield house
    await house.database.close()


async def make_token(house: House, wish: TokenWish = WISH) -> Secret:
    token = await make_wallet_token(house.database, house.keyring, CHANNEL.id, wish)
    assert token is not None
    return Secret(token)


@pytest.mark.parametrize("wallet", Wallet)
async def test_a_token_opens_once(house: House, wallet: Wallet) -> None:
    token = await make_token(house, replace(WISH, wallet=wallet))

    opened = await open_wallet(house, CHANNEL, wallet, token)
    again = await open_wallet(house, CHANNEL, wallet, token)

    assert isinstance(opened, OpenedCard)
    assert isinstance(opened.account, CardAccount)
    assert opened.account.number.matches(Secret(NUMBER))
    assert (opened.network, opened.account.wallet, opened.account.number_type) == ("VISA", wallet, "DPAN")
    assert again == "800.110.100"


async def test_of_many_at_once_one_wins(house: House) -> None:
    token = await make_token(house)

    ends = await asyncio.gather(*[open_wallet(house, CHANNEL, Wallet.A, token) for _ in range(10)])

    assert sorted(end if isinstance(end, str) else "" for end in ends) == ["", *["800.110.100"] * 9]


async def test_one_request_sent_twice_at_once_is_left_to_its_key(house: House) -> None:
    token = await make_token(house)
    claim = Claim(channel_id=CHANNEL.id, key="k", fingerprint=b"f", created_at=1)

    ends = [await open_wallet(house, CHANNEL, Wallet.A, token, claim) for _ in range(2)]
    other = await open_wallet(house, CHANNEL, Wallet.A, token, replace(claim, key="another"))

    assert all(isinstance(end, OpenedCard) for end in ends)
    assert other == "800.110.100"


async def test_a_channel_without_keys_says_so(house: House) -> None:
    other = replace(CHANNEL, id=ChannelId("8a" + "3" * 30))
    await insert_channel(house.database, other)

    assert await open_wallet(house, other, Wallet.A, await make_token(house)) == "600.200.201"
    assert await make_wallet_token(house.database, house.keyring, other.id, WISH) is None


@pytest.mark.parametrize("wallet", Wallet)
async def test_what_does_not_open_uses_nothing_up(house: House, wallet: Wallet) -> None:
    token = await make_token(house, replace(WISH, wallet=wallet))
    text = token.reveal()
    broken = Secret(text[:-3] + ("AAA" if not text.endswith("AAA") else "BBB"))

    assert await open_wallet(house, CHANNEL, wallet, broken) == "200.100.603"
    assert isinstance(await open_wallet(house, CHANNEL, wallet, token), OpenedCard)


@pytest.mark.parametrize("wallet", Wallet)
async def test_a_token_of_another_wallet_does_not_open(house: House, wallet: Wallet) -> None:
    token = await make_token(house, replace(WISH, wallet=wallet))

    for other in set(Wallet) - {wallet}:
        assert await open_wallet(house, CHANNEL, other, token) == "200.100.603"


@pytest.mark.parametrize("wallet", Wallet)
async def test_an_old_token_is_expired_and_not_used_up(house: House, wallet: Wallet) -> None:
    token = await make_token(house, replace(WISH, wallet=wallet, made_at=NOW - HOUR))

    for _ in range(2):
        assert await open_wallet(house, CHANNEL, wallet, token) == "800.100.330"


async def test_a_use_is_forgotten_when_no_token_could_live_any_more(house: House) -> None:
    token = await make_token(house)
    assert isinstance(await open_wallet(house, CHANNEL, Wallet.A, token), OpenedCard)
    assert isinstance(house.clock, FixedClock)

    house.clock.at = NOW + LIMITS.wallet_use_lifetime
    assert await purge_old_wallet_uses(house) == 0
    house.clock.at += DAY

    assert await purge_old_wallet_uses(house) == 1
    assert await open_wallet(house, CHANNEL, Wallet.A, token) == "800.100.330"


@pytest.mark.parametrize("code", ["200.100.603", "600.200.201", "800.100.330", "800.110.100"])
def test_every_end_has_a_row_of_results(code: str) -> None:
    assert get_result(code).code == code


async def test_a_sealed_setting_is_read_by_its_own_name_under_its_own_keys(house: House) -> None:
    await put_sealed_setting(house.database, house.keyring, "one", b"secret")

    assert await find_sealed_setting(house.database, house.keyring, "one") == b"secret"
    assert await find_sealed_setting(house.database, house.keyring, "two") is None
    with pytest.raises(KeyringError):
        await find_sealed_setting(house.database, make_keyring(), "one")
