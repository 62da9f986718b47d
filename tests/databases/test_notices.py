"""Notices of PostgreSQL about changed merchants: they shorten the poll, which still finds what they miss."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from postgres import PostgresCluster
from tollgate import wiring
from tollgate.config import Settings
from tollgate.payments.merchants import Merchant
from tollgate.store import notices
from tollgate.store.database import Database
from tollgate.store.merchants import change_merchants, insert_merchant
from tollgate.store.opening import open_database
from tollgate.store.schema import merchants
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId
from tollgate.workers import WORKERS
from tollgate.workers.loop import Worker
from tollgate.workers.upkeep import follow_merchants

pytestmark = pytest.mark.anyio

OpenHost = Callable[[float], Awaitable[wiring.Host]]
NEVER_S = 86_400.0
WAIT_S = 120.0
NEW = Merchant(id=MerchantId("8a" + "7" * 30), name="New", created_at=Instant(1))


@dataclass
class Store:
    cluster: PostgresCluster
    url: str
    settings: Settings
    database: Database

    def list_listeners(self) -> list[str]:
        asked = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT pg_is_in_recovery()'"
        return self.cluster.run_sql(asked, self.url.rpartition("/")[2]).split()

    def end_listeners(self) -> None:
        for pid in self.list_listeners():
            self.cluster.run_sql(f"SELECT pg_terminate_backend({pid})")

    async def change_elsewhere(self, name: str) -> str:
        """Adds a merchant by a command, which is a process of its own; returns its id."""
        command = ["-m", "tollgate", "merchant", "add", name, "--data", self.settings.data, "--database", self.url]
        running = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
        printed, _ = await running.communicate()
        assert running.returncode == 0
        return printed.decode().strip()


@pytest.fixture
async def store(cluster: PostgresCluster, postgres_template: str, tmp_path: Path) -> AsyncIterator[Store]:
    url = cluster.create_database(postgres_template)
    database = await open_database(url)
    settings = Settings(data=str(tmp_path), database=url)
    await wiring.prepare_keyring(settings, database)
    yield Store(cluster, url, settings, database)
    await database.close()
    cluster.drop_database(url)


@pytest.fixture
async def open_host(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenHost]:
    """Each call starts a gateway whose only worker reads merchants, at this interval."""
    hosts: list[wiring.Host] = []

    async def start(every_s: float) -> wiring.Host:
        row = next(each for each in WORKERS if each.run is follow_merchants)
        worker = Worker(name=row.name, every_s=every_s, run=row.run, is_woken_by_changes=row.is_woken_by_changes)
        monkeypatch.setattr(wiring, "WORKERS", (worker,))
        hosts.append(await wiring.open_host(store.settings, exclusive=True))
        hosts[-1].loop.start()
        return hosts[-1]

    yield start
    for host in hosts:
        await host.close()


async def wait_until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not is_so():
            await asyncio.sleep(0.01)


async def test_a_change_by_another_process_is_known_without_waiting_for_the_poll(
    store: Store, open_host: OpenHost
) -> None:
    host = await open_host(NEVER_S)
    await wait_until(lambda: len(store.list_listeners()) == 1)

    merchant_id = await store.change_elsewhere("Corner Shop")

    await wait_until(lambda: host.app.merchants.find_merchant(merchant_id) is not None)


async def test_a_change_is_found_by_the_poll_while_the_connection_is_lost(
    store: Store, open_host: OpenHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "AGAIN_S", NEVER_S)
    host = await open_host(0.2)
    await wait_until(lambda: len(store.list_listeners()) == 1)
    store.end_listeners()
    await wait_until(lambda: not store.list_listeners())

    merchant_id = await store.change_elsewhere("Corner Shop")

    await wait_until(lambda: host.app.merchants.find_merchant(merchant_id) is not None)
    assert not store.list_listeners()


async def test_a_connection_that_was_lost_is_made_again_and_what_it_missed_is_read(
    store: Store, open_host: OpenHost, caplog: pytest.LogCaptureFixture
) -> None:
    host = await open_host(NEVER_S)
    await wait_until(lambda: len(store.list_listeners()) == 1)
    store.end_listeners()

    await insert_merchant(store.database, NEW)

    await wait_until(lambda: host.app.merchants.find_merchant(NEW.id) is not None)
    told = [record.getMessage() for record in caplog.records if record.name == "tollgate.notices"]
    assert told.count("not listening for changes, polling only") == 1


async def test_a_notice_belongs_to_the_commit_of_its_change(store: Store) -> None:
    heard: list[None] = []
    listening = asyncio.create_task(notices.listen(store.url, lambda: heard.append(None)))
    # The first call says that the connection was made.
    await wait_until(lambda: len(heard) == 1)

    nobody = Statement(merchants.update().where(merchants.c.id == "nobody").values(name="Nobody"))
    assert not await change_merchants(store.database, [Write(nobody, {}, rows=1)])
    await insert_merchant(store.database, NEW)

    # Notices come in the order of their commits, so one for the change that was undone would have come first.
    await wait_until(lambda: len(heard) >= 2)
    await insert_merchant(store.database, Merchant(id=MerchantId("8a" + "6" * 30), name="Next", created_at=Instant(1)))
    await wait_until(lambda: len(heard) >= 3)
    assert len(heard) == 3
    listening.cancel()


async def test_nothing_listens_to_a_file(tmp_path: Path) -> None:
    await notices.listen(f"sqlite:///{tmp_path}/store.db", lambda: pytest.fail("a file sends nothing"))
