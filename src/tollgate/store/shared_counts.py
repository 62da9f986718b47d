"""Counts that all processes share, in Redis. What is counted, and what a full count means, is decided elsewhere.

Redis makes each decision by itself, in one script and by its own clock, so that no two processes count past a limit.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Sequence
from hashlib import sha1
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tollgate.store.database import Batcher
from tollgate.values import Clock

if TYPE_CHECKING:
    from redis.asyncio import Redis

_log = logging.getLogger("tollgate.shared")

PREFIX = "tollgate:throttle:"
_BATCH_MAX = 256
_STEPS = 5
_STEP_S = 0.2
"""An answer is waited for in steps, so that a loop that was busy for long still reads what has arrived meanwhile."""
AGAIN_S = 1.0
"""The pause between two tries to reach Redis, in the background."""

# The answer to each count is 0, or the milliseconds after which its window ends. The first argument is how far a test
# host has moved its clock. A counter expires by the clock that nobody moves, which is never too early.
_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local waits = {}
for place, key in ipairs(KEYS) do
  local limit, window = tonumber(ARGV[2 * place]), tonumber(ARGV[2 * place + 1])
  local known = redis.call('HMGET', key, 'ends', 'calls')
  local ends, calls = tonumber(known[1] or 0), tonumber(known[2] or 0)
  if ends <= now then
    ends, calls = now + window, 0
  end
  if calls >= limit then
    waits[place] = ends - now
  else
    redis.call('HSET', key, 'ends', string.format('%.0f', ends), 'calls', calls + 1)
    if calls == 0 then
      redis.call('PEXPIRE', key, window)
    end
    waits[place] = 0
  end
end
return waits
"""
_SCRIPT_HASH = sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()


class Count(NamedTuple):
    """A call to be counted: its counter, how many calls a window has room for, and how long the window is."""

    name: str
    limit: int
    window_ms: int


_TRIAL = Count("trial", 1_000_000, 1)
"""It is counted to learn whether Redis takes writes, and is forgotten at once."""

_Answer = TypeVar("_Answer")


class SharedCounts:
    """While Redis cannot be used, `count` answers None at once, and a task in the background tries again.

    A Redis that hangs is waited for once, by the requests of that moment, and not again before it has answered.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self._url, self._clock = url, clock
        self._client: Redis | None = None
        self._batcher: Batcher[Count, int | None] = Batcher(self._start, items_max=_BATCH_MAX)
        self._reaching: asyncio.Task[None] | None = None

    @property
    def is_reached(self) -> bool:
        return self._client is not None

    async def open(self) -> None:
        from redis import RedisError

        try:
            self._client = await _connect_and_try(self._url)
        except (RedisError, OSError) as fault:
            self._lose(fault)

    async def count(self, count: Count) -> int | None:
        """Returns 0, the milliseconds that the caller has to wait, or None where the caller counts for itself.

        Counts of one turn of the loop share a round trip, and so do those that come while one is under way.
        """
        return None if self._client is None else await self._batcher.submit(count)

    async def close(self) -> None:
        await self._batcher.close()
        if self._reaching is not None:
            self._reaching.cancel()
            await asyncio.gather(self._reaching, return_exceptions=True)
        if self._client is not None:
            await _close(self._client)
            self._client = None

    def _start(self, counts: Sequence[Count]) -> asyncio.Future[Sequence[int | None]]:
        return asyncio.ensure_future(self._ask(tuple(counts)))

    async def _ask(self, counts: Sequence[Count]) -> Sequence[int | None]:
        from redis import RedisError

        client = self._client
        if client is not None:
            try:
                return await _bound(_run(client, counts, self._clock.now() - self._clock.wall()))
            except (RedisError, OSError) as fault:
                self._client = None
                self._lose(fault, client)
        return [None] * len(counts)

    def _lose(self, fault: Exception, client: "Redis | None" = None) -> None:
        # Only its kind: the text may repeat the address, which has a password.
        _log.warning("throttles are not shared, each process counts alone", extra={"why": type(fault).__name__})
        self._reaching = asyncio.create_task(self._reach_again(client))

    async def _reach_again(self, lost: "Redis | None") -> None:
        from redis import RedisError

        if lost is not None:
            await _close(lost)
        while self._client is None:
            await asyncio.sleep(AGAIN_S)
            with contextlib.suppress(RedisError, OSError):
                self._client = await _connect_and_try(self._url)
        _log.info("throttles are shared again")


async def open_shared_counts(url: str, clock: Clock) -> SharedCounts:
    shared = SharedCounts(url, clock)
    await shared.open()
    return shared


class Fault(NamedTuple):
    text: str
    is_lasting: bool
    """Redis has answered, or the address is wrong. Otherwise Redis may be back soon."""


async def find_fault(url: str) -> Fault | None:
    """Tries the address once; None if counts can be kept there."""
    from redis import AuthenticationError, BusyLoadingError, ConnectionError, RedisError, ResponseError

    try:
        client = await _connect(url)
    except AuthenticationError:
        return Fault("Redis does not accept the user and password of the address", is_lasting=True)
    except (BusyLoadingError, ConnectionError, OSError) as fault:
        return Fault(f"Redis cannot be reached ({type(fault).__name__})", is_lasting=False)
    except ResponseError as fault:
        return Fault(f"Redis refuses to count ({type(fault).__name__})", is_lasting=True)
    except (RedisError, ValueError, TypeError) as fault:
        return Fault(f"the address cannot be used ({type(fault).__name__})", is_lasting=True)
    try:
        await _try(client)
    except (RedisError, OSError) as fault:
        # It is full, a replica, or cannot write to its disk: that may pass, as an outage does.
        return Fault(f"Redis takes no counts now ({type(fault).__name__})", is_lasting=False)
    finally:
        await _close(client)
    return None


async def _connect(url: str) -> "Redis":
    # Imported here, because most hosts have no Redis.
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    # Nothing is repeated by the driver: a repeated count would be counted twice.
    client = Redis.from_url(url, protocol=2, retry=Retry(NoBackoff(), 0), single_connection_client=True)
    try:
        await _bound(_run(client, (), 0))
    except BaseException:
        await _close(client)
        raise
    return client


async def _try(client: "Redis") -> None:
    await _bound(_run(client, (_TRIAL,), 0))


async def _connect_and_try(url: str) -> "Redis":
    """A Redis that refuses every count would be lost at each and found again a second later."""
    client = await _connect(url)
    try:
        await _try(client)
    except BaseException:
        await _close(client)
        raise
    return client


async def _run(client: "Redis", counts: Sequence[Count], offset_us: int) -> list[int]:
    from redis.exceptions import NoScriptError

    names = [PREFIX + count.name for count in counts]
    arguments: list[Any] = [offset_us // 1000]
    for count in counts:
        arguments += count.limit, count.window_ms
    waits: list[int]
    try:
        waits = await client.evalsha(_SCRIPT_HASH, len(names), *names, *arguments)
    except NoScriptError:
        # A Redis that was started again has forgotten it.
        waits = await client.eval(_SCRIPT, len(names), *names, *arguments)
    return waits


async def _bound(work: Awaitable[_Answer]) -> _Answer:
    """Waits for a bounded time, and raises a TimeoutError after it."""
    running = asyncio.ensure_future(work)
    try:
        for _ in range(_STEPS):
            if (await asyncio.wait([running], timeout=_STEP_S))[0]:
                return running.result()
        raise TimeoutError
    finally:
        running.cancel()


async def _close(client: "Redis") -> None:
    from redis import RedisError

    with contextlib.suppress(RedisError, OSError):
        await _bound(client.aclose())
