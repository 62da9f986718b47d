"""The stage of every crash: one store, one acquirer, gateways that come and go. What must hold then is elsewhere."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from types import MappingProxyType

import msgspec

from acquirer import AcquirerProcess
from crash.server import Server
from crash.store_reader import StoreReader, open_store_reader
from directory_server import DirectoryServer, Manner
from gateway import Answer, Client, inherit_variables
from postgres import PostgresCluster
from tollgate.payments.merchants import ThreeDsTerms
from tollgate.sandbox.tenant import ensure_tenant, welcome
from tollgate.store.merchants import list_channels, update_channel
from tollgate.store.opening import open_database
from tollgate.values import SystemClock
from tollgate.vault.keyring import make_keyring, save_keyring
from warm import run_warm

PATIENCE_S = 300.0
VERIFY_S = 300.0

QUICK_SETTINGS = {
    "TOLLGATE_ACQUIRER_TIMEOUT_S": "5",
    "TOLLGATE_COMPLETION_MARGIN_S": "3",
    "TOLLGATE_SCHEDULE_RETRY_DAYS": "0.01",
    "TOLLGATE_LOG_LEVEL": "warning",
}
"""Waits of a minute take seconds with these settings, and waits of weeks take minutes.

The acquirer answers within milliseconds, and within seconds on a machine that has other work too.
"""

NO_ANSWER = (OSError, http.client.HTTPException)
"""A client of a server that dies sees one of these."""


@dataclass
class World:
    folder: Path
    database: str
    acquirer: AcquirerProcess
    merchants: DirectoryServer
    store: StoreReader
    token: str
    entity_id: str
    cluster: PostgresCluster | None
    gateways: list[Server] = field(default_factory=list)

    def make_gateway(self, point: str = "", name: str = "gateway") -> Server:
        environment = {**QUICK_SETTINGS, "TOLLGATE_KEY_FILE": str(self.folder / "keys.json")}
        gateway = Server(self.folder / name, self.database, environment=environment, point=point)
        self.gateways.append(gateway)
        return gateway

    def verify(self) -> str:
        """Returns what `tollgate verify` finds; empty where all is well."""
        command = ["verify", "--quiet", "--data", str(self.folder), "--database", self.database]
        variables = {**inherit_variables(), "TOLLGATE_KEY_FILE": str(self.folder / "keys.json")}
        done = run_warm(command, variables, VERIFY_S, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def make_client(self, gateway: Server, timeout_s: float = 120.0) -> Client:
        return Client(gateway.base_url, self.token, self.entity_id, timeout_s=timeout_s)


async def _set_up(database_url: str, key_path: Path, test_url: str, directory_url: str) -> tuple[str, str]:
    """(token, entity id) of a merchant whose test systems are the acquirer and the directory server."""
    keyring = make_keyring()
    save_keyring(keyring, key_path)
    database = await open_database(database_url)
    try:
        tenant = await ensure_tenant(database, keyring, SystemClock().now())
        channel = next(row for row in await list_channels(database) if row.id == tenant.entity_id)
        terms = ThreeDsTerms(test_url=directory_url)
        await update_channel(database, msgspec.structs.replace(channel, test_url=test_url, three_ds=terms))
        return (await welcome(database, keyring, tenant, "")).access_token, tenant.entity_id
    finally:
        await database.close()


@contextmanager
def open_world(folder: Path, cluster: PostgresCluster | None, database: str = "") -> Iterator[World]:
    """Opens a world on a database that exists, on PostgreSQL where there is a cluster, or on SQLite."""
    database = database or (cluster.create_database() if cluster else f"sqlite:///{folder}/store.db")
    with AcquirerProcess() as acquirer, DirectoryServer() as merchants:
        merchants.manner = Manner.CHALLENGE
        token, entity_id = asyncio.run(_set_up(database, folder / "keys.json", acquirer.url, merchants.url))
        store = open_store_reader(database)
        world = World(folder, database, acquirer, merchants, store, token, entity_id, cluster)
        try:
            yield world
        finally:
            for gateway in world.gateways:
                gateway.kill()


def pay(
    client: Client,
    amount: str,
    key: str | None = None,
    payment_type: str = "DB",
    extra: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    headers = {} if key is None else {"Idempotency-Key": key}
    named = {"amount": amount, "paymentType": payment_type, "testMode": "EXTERNAL", "merchantTransactionId": key}
    return client.pay(headers, **named, **extra)


def follow(client: Client, payment_id: str, fields: Mapping[str, str | None], key: str) -> Answer:
    named = {"merchantTransactionId": key, **fields}
    return client.post(f"/v1/payments/{payment_id}", named, {"Idempotency-Key": key})


def record_fact(client: Client, payment_id: str, fields: Mapping[str, str | None]) -> Answer:
    """Reports a fact as a bank does; banks know no idempotency key."""
    return client.post(f"/sandbox/payments/{payment_id}", fields)


def try_to(ask: Callable[[], Answer]) -> Answer | None:
    """Returns None where the server died before it could answer."""
    try:
        return ask()
    except NO_ANSWER:
        return None


def try_to_pay(client: Client, amount: str, key: str | None = None, payment_type: str = "DB") -> Answer | None:
    return try_to(lambda: pay(client, amount, key, payment_type))


def insist(client: Client, amount: str, key: str, payment_type: str = "DB", *, others: Iterable[Client] = ()) -> Answer:
    """Sends the same key again, as a careful shop does, at any server, until there is a definite answer."""
    servers = cycle([client, *others])
    return insist_on(lambda: pay(next(servers), amount, key, payment_type), key)


def insist_on(ask: Callable[[], Answer], what: str) -> Answer:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer = try_to(ask)
        if answer is not None and is_definite(answer):
            return answer
        time.sleep(0.1)
    raise AssertionError(f"no answer for {what} within {PATIENCE_S} s")


def is_definite(answer: Answer) -> bool:
    """Whether the answer is neither breakage nor `the first request is still running`."""
    return answer.status < 500 and answer.code != "800.600.100"
