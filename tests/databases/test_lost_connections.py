"""PostgreSQL behind a cable that breaks at the worst moment: what was acknowledged is there, nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from databases.samples import MERCHANT, list_written, make_completion, make_idempotency_key, make_payment
from outbox import list_events
from postgres import PostgresCluster
from tollgate.store.database import Unavailable
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, find_payment, start_payment
from tollgate.store.statements import Statement, Write

pytestmark = pytest.mark.anyio

LONG = Statement(sa.text("SELECT pg_sleep(1000)"))
WAIT_S = 120.0


class Cable:
    """Forwards bytes to the server. `cut_reply_to` drops the answer to the next message that carries a word."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cut_reply_to: bytes | None = None
        self.cuts = 0

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
        is_cut = False

        async def send() -> None:
            nonlocal is_cut
            while chunk := await reader.read(65536):
                if self.cut_reply_to is not None and self.cut_reply_to in chunk:
                    self.cut_reply_to, is_cut = None, True
                    self.cuts += 1
                server_writer.write(chunk)
            server_writer.close()

        async def receive() -> None:
            while chunk := await server_reader.read(65536):
                if is_cut:
                    # The server has committed, and the answer is lost.
                    break
                writer.write(chunk)
            writer.close()
            server_writer.close()

        await asyncio.gather(send(), receive(), return_exceptions=True)


@asynccontextmanager
async def lay_cable(cluster: PostgresCluster, url: str) -> AsyncIterator[tuple[Cable, str]]:
    cable = Cable(cluster.port)
    server = await asyncio.start_server(cable.carry, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield cable, url.replace(f":{cluster.port}/", f":{port}/")
    server.close()


@pytest.fixture
def postgres_url(cluster: PostgresCluster, postgres_template: str) -> str:
    return cluster.create_database(postgres_template)


async def test_a_start_whose_answer_was_lost_is_found_again_and_acknowledged(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url):
        db = await open_database(url)
        payments = [make_payment() for _ in range(5)]
        idempotency_records = [
            make_idempotency_key("key-1"),
            None,
            make_idempotency_key("key-2"),
            make_idempotency_key("key-2"),
            None,
        ]
        cable.cut_reply_to = payments[0].id.encode()

        answers = await asyncio.gather(
            *[
                start_payment(db, payment, None, idempotency_key)
                for payment, idempotency_key in zip(payments, idempotency_records, strict=True)
            ]
        )

        assert cable.cuts == 1
        assert answers == [True, True, True, False, True]
        listed = await list_written(db)
        assert {payment.id for payment in listed} == {payments[n].id for n in (0, 1, 2, 4)}
        await db.close()


async def test_a_start_that_lost_the_race_and_its_connection_is_not_taken_for_another_processes_start(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    """A payment of a schedule has its name before it is made, so two processes may start the same one."""
    async with lay_cable(cluster, postgres_url) as (cable, url):
        db = await open_database(url)
        theirs = make_payment(ndc="their trace")
        ours = replace(theirs, ndc="our trace")
        assert await start_payment(db, theirs, None, None)
        cable.cut_reply_to = theirs.id.encode()

        assert not await start_payment(db, ours, None, None)

        assert cable.cuts == 1
        await db.close()


async def test_who_shares_a_batch_with_a_start_that_lost_the_race_is_written_although_the_connection_was_lost(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url):
        db = await open_database(url)
        theirs = make_payment(ndc="their trace")
        assert await start_payment(db, theirs, None, None)
        batch = [make_payment(), replace(theirs, ndc="our trace"), make_payment()]
        idempotency_records = [None, None, make_idempotency_key("key")]
        cable.cut_reply_to = theirs.id.encode()

        answers = await asyncio.gather(
            *[
                start_payment(db, payment, None, idempotency_key)
                for payment, idempotency_key in zip(batch, idempotency_records, strict=True)
            ]
        )
        written = await list_written(db)
        await db.close()

    assert cable.cuts == 1
    assert answers == [True, False, True]
    assert sorted(payment.id for payment in written) == sorted(payment.id for payment in batch)
    assert "our trace" not in {payment.ndc for payment in written}


async def test_a_completion_whose_answer_was_lost_is_found_again_and_happens_once(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url):
        db = await open_database(url)
        payments = [make_payment() for _ in range(3)]
        await asyncio.gather(*[start_payment(db, payment, None, None) for payment in payments])
        cable.cut_reply_to = payments[0].id.encode()

        answers = await asyncio.gather(*[complete_payment(db, make_completion(payment), None) for payment in payments])

        assert cable.cuts == 1
        assert answers == [True] * 3
        assert len(await list_events(db, MERCHANT)) == 3
        await db.close()


async def test_a_completion_that_lost_the_race_and_its_connection_is_still_refused(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url):
        db = await open_database(url)
        payment = make_payment()
        await start_payment(db, payment, None, None)
        await complete_payment(db, make_completion(payment), None)
        cable.cut_reply_to = payment.id.encode()

        late = make_completion(payment, completed_at=payment.created_at + 77)
        assert not await complete_payment(db, late, None)

        assert cable.cuts == 1
        await db.close()


async def test_a_read_survives_a_lost_connection(cluster: PostgresCluster, postgres_url: str) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url):
        db = await open_database(url)
        payment = make_payment()
        await start_payment(db, payment, None, None)
        cable.cut_reply_to = payment.id.encode()

        assert await find_payment(db, MERCHANT, payment.id) == payment
        assert cable.cuts == 1
        await db.close()


async def test_payments_go_on_when_the_server_ends_every_connection(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    db = await open_database(postgres_url)
    name = postgres_url.rpartition("/")[2]
    kill = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'"

    async def pay() -> list[str]:
        done: list[str] = []
        for _ in range(40):
            payment = make_payment()
            if await start_payment(db, payment, None, None) and await complete_payment(
                db, make_completion(payment), None
            ):
                done.append(payment.id)
        return done

    paying = [asyncio.ensure_future(pay()) for _ in range(8)]
    for _ in range(3):
        await asyncio.sleep(0.02)
        await asyncio.to_thread(cluster.run_sql, kill)
    acknowledged = [payment_id for share in await asyncio.gather(*paying) for payment_id in share]

    assert len(acknowledged) == 320
    assert {event.subject_id for event in await list_events(db, MERCHANT)} == set(acknowledged)
    await db.close()


async def test_a_database_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollgate.store.postgres_faults.FIRST_PAUSE_S", 0.001)

    with pytest.raises(Unavailable):
        await open_database("postgresql://postgres@127.0.0.1:1/nothing")


async def test_a_server_that_does_not_let_us_in_is_not_asked_twice(cluster: PostgresCluster) -> None:
    with pytest.raises(Unavailable, match="InvalidCatalogName"):
        await open_database(cluster.dsn("no_such_database"))


async def test_a_lost_database_is_not_ready(cluster: PostgresCluster, postgres_url: str) -> None:
    db = await open_database(postgres_url)
    assert await db.find_trouble() is None

    name = postgres_url.rpartition("/")[2]
    cluster.run_sql(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
    cluster.run_sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

    assert "reached" in (await db.find_trouble() or "")
    await db.close()


@pytest.mark.parametrize("is_unit", [False, True])
async def test_a_task_that_is_cancelled_while_the_server_works_ends(
    cluster: PostgresCluster, postgres_url: str, is_unit: bool
) -> None:
    """A worker would go on for ever otherwise, and the process that waits for it too."""
    db = await open_database(postgres_url)
    name = postgres_url.rpartition("/")[2]
    asked = f"SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND datname = '{name}'"
    working = db.write([Write(LONG, {})], label="") if is_unit else db.fetch(LONG, {})
    task: asyncio.Task[object] = asyncio.create_task(working)
    async with asyncio.timeout(WAIT_S):
        while cluster.run_sql(asked, name) != "1":
            await asyncio.sleep(0.01)

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        await db.close()
    # The server goes on sleeping.
    cluster.drop_database(postgres_url)
