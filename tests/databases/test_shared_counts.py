"""Counts in a real Redis: windows, exactness, and what happens while it is gone, hangs, or is wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from redis_server import RedisServer
from tollgate.store import shared_counts
from tollgate.store.shared_counts import Count, SharedCounts, find_fault, open_shared_counts
from tollgate.values import DAY, SECOND, SystemClock

pytestmark = pytest.mark.anyio

DAY_MS = 86_400_000
WAIT_S = 120.0
WRONG = "wrong-password"


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()


@pytest.fixture
async def shared(server: RedisServer, clock: SystemClock) -> AsyncIterator[SharedCounts]:
    with server.connect() as client:
        client.flushall()
    shared = await open_shared_counts(server.url, clock)
    assert shared.is_reached
    yield shared
    await shared.close()


async def wait_until_reached(shared: SharedCounts) -> None:
    async with asyncio.timeout(WAIT_S):
        while not shared.is_reached:
            await asyncio.sleep(0.01)


async def test_a_window_has_room_for_its_count_and_closes_by_the_moved_clock(
    shared: SharedCounts, clock: SystemClock
) -> None:
    count = Count("pay:a", 2, DAY_MS)
    assert [await shared.count(count) for _ in range(2)] == [0, 0]
    wait_ms = await shared.count(count)
    assert wait_ms is not None
    assert DAY_MS - WAIT_S * 1000 < wait_ms <= DAY_MS

    clock.offset += DAY - SECOND
    still_ms = await shared.count(count)
    assert still_ms is not None
    assert 0 < still_ms <= 1000
    clock.offset += SECOND

    assert [await shared.count(count) for _ in range(2)] == [0, 0]
    assert await shared.count(count)


async def test_counts_of_one_moment_share_a_round_trip_and_none_is_lost(
    shared: SharedCounts, server: RedisServer
) -> None:
    with server.connect() as client:
        client.config_resetstat()
        answers = await asyncio.gather(*[shared.count(Count(f"pay:{number % 5}", 10, DAY_MS)) for number in range(200)])
        calls = {name: row["calls"] for name, row in client.info("commandstats").items() if "eval" in name}

    assert answers.count(0) == 5 * 10
    assert sum(calls.values()) == 1


async def test_two_clients_never_count_past_a_limit(
    shared: SharedCounts, server: RedisServer, clock: SystemClock
) -> None:
    other = await open_shared_counts(server.url, clock)

    async def count(counts: SharedCounts) -> int | None:
        return await counts.count(Count("pay:b", 37, DAY_MS))

    answers = [
        answer
        for _ in range(20)
        for answer in await asyncio.gather(*[count(each) for each in (shared, other, shared, other)])
    ]

    await other.close()
    assert answers.count(0) == 37
    assert None not in answers


async def test_counters_have_a_prefix_and_an_end(shared: SharedCounts, server: RedisServer) -> None:
    await shared.count(Count("pay:c", 2, DAY_MS))

    with server.connect() as client:
        assert client.keys("*") == ["tollgate:throttle:pay:c"]
        assert 0 < client.pttl("tollgate:throttle:pay:c") <= DAY_MS


async def test_a_script_that_redis_has_forgotten_is_sent_again(shared: SharedCounts, server: RedisServer) -> None:
    with server.connect() as client:
        client.script_flush()

    assert await shared.count(Count("pay:d", 2, DAY_MS)) == 0


async def test_a_redis_that_hangs_is_waited_for_once(
    shared: SharedCounts, server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shared_counts, "_STEP_S", 0.02)
    server.suspend()
    try:
        assert await asyncio.gather(*[shared.count(Count("pay:e", 2, DAY_MS)) for _ in range(50)]) == [None] * 50
        assert not shared.is_reached
        for _ in range(50):
            # It answers without giving the loop a turn.
            with pytest.raises(StopIteration) as answered:
                shared.count(Count("pay:e", 2, DAY_MS)).send(None)
            assert answered.value.value is None
    finally:
        server.resume()

    monkeypatch.undo()
    await wait_until_reached(shared)
    assert await shared.count(Count("pay:f", 2, DAY_MS)) == 0
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told == ["throttles are not shared, each process counts alone"]


async def test_a_redis_that_was_gone_is_found_again(shared: SharedCounts, server: RedisServer) -> None:
    server.kill()
    assert await shared.count(Count("pay:g", 2, DAY_MS)) is None
    assert not shared.is_reached
    server.start()

    await wait_until_reached(shared)

    assert await shared.count(Count("pay:g", 2, DAY_MS)) == 0


@pytest.fixture(params=[("maxmemory", "1", "0"), ("min-replicas-to-write", "1", "0")], ids=["full", "alone"])
def unwritable(request: pytest.FixtureRequest, server: RedisServer) -> Iterator[Callable[[bool], None]]:
    """Lets Redis answer everything and write nothing, or write again."""
    name, value, usual = request.param
    with server.connect() as client:
        yield lambda is_on: client.config_set(name, value if is_on else usual)
        client.config_set(name, usual)


async def test_a_redis_that_writes_nothing_is_not_used_until_it_does(
    shared: SharedCounts,
    server: RedisServer,
    unwritable: Callable[[bool], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(shared_counts, "AGAIN_S", 0.01)
    count = Count("pay:h", 2, DAY_MS)
    unwritable(True)
    with server.connect() as client:
        client.config_resetstat()
        assert await shared.count(count) is None
        async with asyncio.timeout(WAIT_S):
            while client.info("stats")["total_connections_received"] < 5:
                assert not shared.is_reached
                await asyncio.sleep(0.01)
    fault = await find_fault(server.url)
    assert fault is not None
    assert not fault.is_lasting
    assert "takes no counts now" in fault.text
    unwritable(False)

    await wait_until_reached(shared)

    assert await shared.count(count) == 0
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told == ["throttles are not shared, each process counts alone"]


async def test_a_user_needs_the_right_to_count_and_no_more(server: RedisServer) -> None:
    rights = ["+eval", "+evalsha", "+time", "+hmget", "+hset", "+pexpire"]
    with server.connect() as client:
        try:
            client.execute_command("ACL", "SETUSER", "tollgate", "on", ">pass", "~tollgate:throttle:*", *rights)
            url = f"redis://tollgate:pass@127.0.0.1:{server.port}"
            assert await find_fault(url) is None
            client.execute_command("ACL", "SETUSER", "tollgate", "-hset")
            fault = await find_fault(url)
        finally:
            client.execute_command("ACL", "DELUSER", "tollgate")
    assert fault is not None
    assert "takes no counts now" in fault.text


async def test_an_address_is_tried_before_it_is_used(server: RedisServer) -> None:
    with RedisServer(password="right-password") as closed:
        assert await find_fault(closed.url) is None
        assert await find_fault(f"unix://:right-password@{closed.socket}") is None
        for url in (
            f"redis://127.0.0.1:{closed.port}",
            f"redis://:{WRONG}@127.0.0.1:{closed.port}",
            f"redis://jane:{WRONG}@127.0.0.1:{closed.port}",
        ):
            fault = await find_fault(url)
            assert fault is not None
            assert fault.is_lasting
            assert fault.text == "Redis does not accept the user and password of the address"
    gone = await find_fault(closed.url)
    assert gone is not None
    assert not gone.is_lasting
    assert "cannot be reached" in gone.text
    refused = await find_fault(f"{server.url}99999")
    assert refused is not None
    assert refused.is_lasting


async def test_neither_log_nor_fault_has_the_password(caplog: pytest.LogCaptureFixture, clock: SystemClock) -> None:
    with RedisServer(password="right-password") as closed:
        url = f"redis://:{WRONG}@127.0.0.1:{closed.port}"
        with caplog.at_level(logging.DEBUG):
            shared = await open_shared_counts(url, clock)
            assert not shared.is_reached
            await shared.close()
        fault = await find_fault(url)

    assert WRONG not in f"{fault}" + "".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
