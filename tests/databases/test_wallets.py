"""Wallet keys are in the merchant cache, and a token is used once among parallel requests."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from databases.samples import CHANNEL, MERCHANT
from tollgate.catalog.limits import LIMITS
from tollgate.payments.accounts import SigningKey, WalletKey, WalletPublic
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.store.opening import list_settings, open_database, put_setting, replace_setting
from tollgate.values import MerchantId

pytestmark = pytest.mark.anyio

PUBLIC = WalletPublic(
    key_hash=b"\x00\xff",
    recipient="gateway:tollgate",
    gateway_merchant="shop",
    roots=("first", "second"),
    signing_keys=(SigningKey(b"\x01\x02", 77), SigningKey(b"\x03")),
)
KEY = WalletKey(id="k1", channel_id=CHANNEL, wallet="walletB", created_at=5, public=PUBLIC, sealed_key=b"old\x00sealed")


async def test_keys_are_listed_as_they_were_inserted_and_every_change_moves_the_directory(db: Database) -> None:
    later = replace(KEY, id="k0", created_at=6, public=WalletPublic(key_hash=b"x"))
    await merchants.insert_wallet_key(db, KEY)
    await merchants.insert_wallet_key(db, later)

    assert await merchants.list_wallet_keys(db) == [KEY, later]
    assert await merchants.get_merchants_version(db) == 2


async def test_a_key_is_deleted_once(db: Database) -> None:
    await merchants.insert_wallet_key(db, KEY)

    assert await merchants.delete_wallet_key(db, "k1")
    assert not await merchants.delete_wallet_key(db, "k1")

    assert await merchants.list_wallet_keys(db) == []
    assert await merchants.get_merchants_version(db) == 2


async def test_a_key_is_rewrapped_only_from_what_was_read(db: Database) -> None:
    await merchants.insert_wallet_key(db, KEY)

    assert not await merchants.rewrap_wallet_key(db, "k1", b"something else", b"new")
    assert await merchants.rewrap_wallet_key(db, "k1", b"old\x00sealed", b"new")

    assert [key.sealed_key for key in await merchants.list_wallet_keys(db)] == [b"new"]


async def test_a_wallet_token_is_used_once_among_parallel_requests(url: str) -> None:
    databases = [await open_database(url) for _ in range(2)]

    idempotency_records = [
        merchants.record_wallet_use(databases[place % 2], MERCHANT, b"\x00token", 10) for place in range(20)
    ]
    won = await asyncio.gather(*idempotency_records)

    assert sum(won) == 1
    for database in databases:
        await database.close()


async def test_a_use_is_known_to_its_own_merchant_only(db: Database) -> None:
    assert await merchants.record_wallet_use(db, MERCHANT, b"token", 10)
    assert await merchants.record_wallet_use(db, MerchantId("8aff"), b"token", 10)
    assert await merchants.record_wallet_use(db, MERCHANT, b"another", 10)
    assert not await merchants.record_wallet_use(db, MERCHANT, b"token", 99)


async def test_a_request_that_may_come_again_is_one_use_of_its_token(db: Database) -> None:
    half = LIMITS.idempotency_lifetime // 2
    assert await merchants.record_wallet_use(db, MERCHANT, b"token", 10, b"request")

    assert await merchants.record_wallet_use(db, MERCHANT, b"token", 9 + half, b"request")
    assert not await merchants.record_wallet_use(db, MERCHANT, b"token", 10 + half, b"request")
    assert not await merchants.record_wallet_use(db, MERCHANT, b"token", 11, b"another request")
    assert not await merchants.record_wallet_use(db, MERCHANT, b"token", 11)


async def test_a_use_without_a_key_is_nobodys_to_repeat(db: Database) -> None:
    assert await merchants.record_wallet_use(db, MERCHANT, b"token", 10)

    assert not await merchants.record_wallet_use(db, MERCHANT, b"token", 11, b"request")


async def test_old_uses_go_in_batches_and_young_ones_stay(db: Database) -> None:
    for place in range(5):
        assert await merchants.record_wallet_use(db, MERCHANT, b"%d" % place, 10 * place)

    assert [await merchants.purge_wallet_uses(db, 30, 2) for _ in range(3)] == [2, 1, 0]

    assert not await merchants.record_wallet_use(db, MERCHANT, b"3", 99)
    assert await merchants.record_wallet_use(db, MERCHANT, b"2", 99)


async def test_settings_are_listed_by_the_beginning_of_their_names(db: Database) -> None:
    for name in ("sealed", "sealed/b", "sealed/a", "sealed0", "other"):
        await put_setting(db, name, f"value of {name}")

    assert await list_settings(db, "sealed/") == [("sealed/a", "value of sealed/a"), ("sealed/b", "value of sealed/b")]


async def test_a_setting_is_replaced_only_from_what_was_read(db: Database) -> None:
    await put_setting(db, "sealed/a", "one")

    assert not await replace_setting(db, "sealed/a", "two", "three")
    assert await replace_setting(db, "sealed/a", "one", "two")

    assert await list_settings(db, "sealed/") == [("sealed/a", "two")]
