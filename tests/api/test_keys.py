"""Keys are rotated beside a server under load: nothing fails, everything still opens, and old keys can go."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from time import sleep

import pytest

from api.many_registrations import (
    fill,
    name_store,
    pay_with,
    read_keyring,
    read_registration_key_ids,
    rename,
    retire_keys,
    spread,
)
from api.merchants import run_command, wait_until
from gateway import Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.payments.accounts import CardAccount
from tollgate.store.opening import open_database
from tollgate.store.retention import SEALED_ACCOUNTS
from tollgate.vault.keyring import Keyring, save_keyring
from tollgate.vault.sealing import make_owner, open_account, sealed_prefix, sealing_key_id

pytestmark = pytest.mark.both_databases

NUMBERS = ("4200000000000000", "5454545454545454")
STORED = 300
MANY = 100_000
STRIDES = (7, 1009)
"""Each client pays with registered cards in an order of its own, by one of these strides."""

Work = Callable[[], int]


def test_a_rotation_under_load_fails_nobody_and_leaves_no_record_behind(
    gateway: GatewayProcess, client: Client
) -> None:
    before = read_keyring(gateway)
    ids = fill(gateway, client, STORED)
    statuses = pay_while(client, ids, lambda: run_command(gateway, "rotate-keys", "--wait", "3"))
    after = read_keyring(gateway)

    assert set(statuses) == {200}
    assert statuses[200] > 50
    assert read_registration_key_ids(gateway, after, ids) == {after.active_id}
    assert after.active_id not in before.key_ids
    assert set(before.key_ids) < set(after.key_ids)
    assert read_key_ids(gateway, after) == {after.active_id}
    assert client.pay().status == 200

    assert after.active_id.hex() in retire_keys(gateway)

    alone = read_keyring(gateway)
    assert alone.key_ids == (after.active_id,)
    assert client.pay().status == 200
    assert client.token in run_command(gateway, "credentials")
    assert read_key_ids(gateway, alone) == {after.active_id}
    assert {pay_with(client, each) for each in ids[:20]} == {200}


def test_old_keys_stay_as_long_as_something_is_sealed_under_them(gateway: GatewayProcess, client: Client) -> None:
    client.pay()
    draft = read_keyring(gateway).with_new_key()
    save_keyring(draft, gateway.data / "keys.json")

    with pytest.raises(RuntimeError, match="still sealed under an older key"):
        retire_keys(gateway)

    assert set(read_keyring(gateway).key_ids) == set(draft.key_ids)
    wait_until(lambda: client.pay().status == 200)


@pytest.mark.prove
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_hundred_thousand_cards_are_wrapped_again_and_no_read_fails(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database = ""
    if kind == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    with GatewayProcess(tmp_path, database) as gateway:
        client = gateway.client()
        ids = fill(gateway, client, MANY)

        statuses = pay_while(client, ids, lambda: run_command(gateway, "rotate-keys", "--wait", "3"))

        rotated = read_keyring(gateway)
        assert set(statuses) == {200}
        assert statuses[200] > 500
        assert read_registration_key_ids(gateway, rotated, ids) == {rotated.active_id}
        late = pay_while(client, ids, lambda: retire_keys(gateway))
        assert set(late) == {200}
        alone = read_keyring(gateway)
        assert alone.key_ids == (rotated.active_id,)
        wait_until(lambda: pay_with(client, ids[0]) == 200)
        assert set(pay_while(client, ids, lambda: sleep(5))) == {200}
        assert read_registration_key_ids(gateway, alone, ids) == {alone.active_id}


def pay_while(client: Client, ids: Sequence[str], work: Callable[[], object]) -> Counter[int]:
    """Returns the statuses of payments that are made, and of registrations that are changed, during the work."""
    done = threading.Event()
    shops: list[Work] = [*[pay_by_number(client, number) for number in NUMBERS], change_registrations(client, ids)]
    shops += [pay_with_registrations(client, ids, stride) for stride in STRIDES]

    def repeat(shop: Work) -> list[int]:
        statuses = []
        while not done.is_set():
            statuses.append(shop())
        return statuses

    with ThreadPoolExecutor(len(shops)) as pool:
        running = [pool.submit(repeat, shop) for shop in shops]
        try:
            work()
        finally:
            done.set()
    return Counter(status for future in running for status in future.result())


def pay_by_number(client: Client, number: str) -> Work:
    return lambda: client.pay(card__number=number, paymentBrand=None).status


def pay_with_registrations(client: Client, ids: Sequence[str], stride: int) -> Work:
    row = iter(spread(ids, stride))
    return lambda: pay_with(client, next(row))


def change_registrations(client: Client, ids: Sequence[str]) -> Work:
    row, names = iter(spread(ids, 13)), count()
    return lambda: rename(client, next(row), f"Jane Jones {next(names)}")


def read_key_ids(gateway: GatewayProcess, keyring: Keyring) -> set[bytes]:
    """Returns the ids of the keys that accounts are sealed under; every one of them is opened on the way."""

    async def read() -> set[bytes]:
        database = await open_database(name_store(gateway))
        try:
            accounts = await SEALED_ACCOUNTS.list_page(database, None, sealed_prefix(b"none"), 100_000)
        finally:
            await database.close()
        assert accounts
        for account in accounts:
            owner = make_owner("payment", account.merchant_id, account.id)
            opened = open_account(account.sealed, owner=owner, keyring=keyring)
            assert not isinstance(opened, CardAccount) or opened.number.reveal().isdigit()
        return {sealing_key_id(account.sealed) for account in accounts}

    return asyncio.run(read())
