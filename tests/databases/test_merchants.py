"""Merchants, channels, credentials and settings, and how other processes notice that they changed."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from databases.samples import CHANNEL, MERCHANT, make_payment
from tollgate.payments.merchants import Channel, Credential, Merchant
from tollgate.store.database import Database, Unavailable, Unwritable
from tollgate.store.merchants import (
    get_merchants_version,
    insert_channel,
    insert_credential,
    insert_merchant,
    list_credentials,
    load_merchants,
    revoke_credential,
    rewrap_token,
    update_channel,
)
from tollgate.store.opening import add_to_setting, get_setting, open_database, put_setting
from tollgate.store.payments import start_payment

pytestmark = pytest.mark.anyio

SHOP = Merchant(id=MERCHANT, name="Shop", created_at=1)
STRICT = Channel(id=CHANNEL, merchant_id=MERCHANT, name="strict", created_at=2)
TOKEN = Credential(
    id="c1", merchant_id=MERCHANT, user_id="u1", token_hash=b"hash", sealed_token=b"old\x00sealed", created_at=3
)


async def test_an_empty_directory_loads(db: Database) -> None:
    merchants = await load_merchants(db)

    assert (merchants.version, merchants.merchants, merchants.channels, merchants.credentials) == (0, (), (), ())


async def test_what_is_inserted_is_loaded_and_every_change_moves_the_version(db: Database) -> None:
    await insert_merchant(db, SHOP)
    await insert_channel(db, STRICT)
    await insert_credential(db, TOKEN)

    merchants = await load_merchants(db)

    assert (merchants.merchants, merchants.channels, merchants.credentials) == ((SHOP,), (STRICT,), (TOKEN,))
    assert merchants.version == 3


async def test_a_channel_is_updated_and_another_process_sees_it(url: str) -> None:
    here, there = await open_database(url), await open_database(url)
    await insert_channel(here, STRICT)
    seen = await get_merchants_version(there)
    changed = Channel(
        id=CHANNEL,
        merchant_id=MERCHANT,
        name="lenient",
        created_at=2,
        is_lenient=True,
        requires_cvv=True,
        is_closed=True,
        test_url="http://localhost:1",
        live_url="https://acquirer.example",
    )

    assert await update_channel(here, changed)

    assert await get_merchants_version(there) > seen
    assert (await load_merchants(there)).channels == (changed,)
    await here.close()
    await there.close()


async def test_updating_a_channel_that_does_not_exist_is_refused_and_moves_nothing(db: Database) -> None:
    assert not await update_channel(db, STRICT)
    assert await get_merchants_version(db) == 0


async def test_a_credential_is_revoked_once(db: Database) -> None:
    await insert_credential(db, TOKEN)

    assert await revoke_credential(db, "c1", 77)
    assert not await revoke_credential(db, "c1", 88)

    assert [credential.revoked_at for credential in (await load_merchants(db)).credentials] == [77]


async def test_a_token_is_rewrapped_only_from_what_was_read(db: Database) -> None:
    await insert_credential(db, TOKEN)

    assert not await rewrap_token(db, "c1", b"something else", b"new")
    assert await rewrap_token(db, "c1", b"old\x00sealed", b"new")

    assert [credential.sealed_token for credential in (await load_merchants(db)).credentials] == [b"new"]


async def test_two_credentials_never_share_a_token(db: Database) -> None:
    await insert_credential(db, TOKEN)

    with pytest.raises(Unwritable):
        await insert_credential(db, msgspec.structs.replace(TOKEN, id="c2"))


async def test_a_credential_that_is_made_twice_under_its_id_stays_the_first(db: Database) -> None:
    await insert_credential(db, TOKEN)
    await insert_credential(db, msgspec.structs.replace(TOKEN, token_hash=b"another", label="second"))

    [kept] = await list_credentials(db)
    assert kept == TOKEN


async def test_a_setting_is_put_replaced_and_read(db: Database) -> None:
    assert await get_setting(db, "name", "nothing") == "nothing"
    await put_setting(db, "name", "one")
    await put_setting(db, "name", "two")
    assert await get_setting(db, "name") == "two"


async def test_additions_to_a_setting_are_never_lost(db: Database) -> None:
    sums = await asyncio.gather(*[add_to_setting(db, "offset", 3) for _ in range(20)])

    assert sorted(sums) == list(range(3, 61, 3))
    assert await get_setting(db, "offset") == "60"


async def test_a_reader_reads_and_cannot_write(url: str) -> None:
    await (await open_database(url)).close()
    db = await open_database(url, read_only=True)

    with pytest.raises(Unavailable, match="reading only"):
        await put_setting(db, "a", "b")
    with pytest.raises(Unavailable, match="reading only"):
        await start_payment(db, make_payment(), None, None)
    assert await get_setting(db, "a", "absent") == "absent"
    await db.close()
