"""Keys are rotated beside a server under load: nothing fails, everything still opens, and old keys can go."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.merchants import run_command, wait_until
from gateway import Client, GatewayProcess
from tollgate.payments import CardAccount
from tollgate.store import list_sealed, open_database
from tollgate.vault import Keyring, load_keyring, name_owner, open_account, save_keyring, sealed_prefix, sealing_key_id

NUMBERS = ("4200000000000000", "5454545454545454", "4111111111111111")


def test_a_rotation_under_load_fails_nobody_and_leaves_no_record_behind(
    gateway: GatewayProcess, client: Client
) -> None:
    before = read_keyring(gateway)
    statuses = pay_while(client, lambda: run_command(gateway, "rotate-keys", "--wait", "3"))
    after = read_keyring(gateway)

    assert set(statuses) == {200}
    assert statuses[200] > 50
    assert after.active_id not in before.key_ids
    assert set(before.key_ids) < set(after.key_ids)
    assert read_key_ids(gateway, after) == {after.active_id}
    assert client.pay().status == 200

    assert after.active_id.hex() in run_command(gateway, "rotate-keys", "--retire")

    alone = read_keyring(gateway)
    assert alone.key_ids == (after.active_id,)
    assert client.pay().status == 200
    assert client.token in run_command(gateway, "credentials")
    assert read_key_ids(gateway, alone) == {after.active_id}


def test_old_keys_stay_as_long_as_something_is_sealed_under_them(gateway: GatewayProcess, client: Client) -> None:
    client.pay()
    draft = read_keyring(gateway).with_new_key()
    save_keyring(draft, gateway.data / "keys.json")

    with pytest.raises(RuntimeError, match="still sealed under an older key"):
        run_command(gateway, "rotate-keys", "--retire")

    assert set(read_keyring(gateway).key_ids) == set(draft.key_ids)
    wait_until(lambda: client.pay().status == 200)


def pay_while(client: Client, work: Callable[[], object]) -> Counter[int]:
    """Statuses of all payments made while the work is being done."""
    done = threading.Event()

    def pay_on(number: str) -> list[int]:
        statuses = []
        while not done.is_set():
            statuses.append(client.pay(card__number=number, paymentBrand=None).status)
        return statuses

    with ThreadPoolExecutor(len(NUMBERS)) as pool:
        running = [pool.submit(pay_on, number) for number in NUMBERS]
        try:
            work()
        finally:
            done.set()
    return Counter(status for future in running for status in future.result())


def read_keyring(gateway: GatewayProcess) -> Keyring:
    return load_keyring(gateway.data / "keys.json")


def read_key_ids(gateway: GatewayProcess, keyring: Keyring) -> set[bytes]:
    """The keys that accounts are sealed under; every one of them is opened on the way."""

    async def read() -> set[bytes]:
        database = await open_database(gateway.database or f"sqlite:///{gateway.data}/tollgate.db")
        try:
            accounts = await list_sealed(database, None, sealed_prefix(b"none"), 100_000)
        finally:
            await database.close()
        assert accounts
        for account in accounts:
            owner = name_owner("payment", account.merchant_id, account.payment_id)
            opened = open_account(account.sealed, owner=owner, keyring=keyring)
            assert not isinstance(opened, CardAccount) or opened.number.reveal().isdigit()
        return {sealing_key_id(account.sealed) for account in accounts}

    return asyncio.run(read())
