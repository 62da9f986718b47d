"""Looks up the names of receivers, and lets a name through only if every address it leads to is open.

The connection is made to the addresses that were checked, so that a second look-up cannot lead elsewhere.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from aiohttp.abc import AbstractResolver, ResolveResult

from tollgate.catalog.limits import LIMITS
from tollgate.wire.guard import ClosedAddress, Guard

LookUp = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the numeric addresses of a name, or raises OSError."""


class SystemNames:
    """Looks names up on threads of its own, so that a shop whose name server is dead delays no acquirer's."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(LIMITS.receiver_lookups_max, thread_name_prefix="names")
        self._pending: dict[str, asyncio.Future[list[str]]] = {}

    async def look_up(self, host: str) -> Sequence[str]:
        """Returns the addresses of a name. All who ask at the same time share a thread, so that one dead name takes
        one.
        """
        pending = self._pending.get(host)
        if pending is None:
            pending = asyncio.get_running_loop().run_in_executor(self._threads, _list_addresses, host)
            self._pending[host] = pending
            pending.add_done_callback(lambda done: self._forget(host, done))
        return await asyncio.shield(pending)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _forget(self, host: str, done: asyncio.Future[list[str]]) -> None:
        del self._pending[host]
        if not done.cancelled():
            # Whoever asked may have left, and a fault that nobody has read is logged by the loop.
            done.exception()


class CheckedNames(AbstractResolver):
    """Refuses a name if any of its addresses is closed: an honest shop has none, and the next attempt may take it."""

    def __init__(self, guard: Guard, look_up: LookUp) -> None:
        self._guard = guard
        self._look_up = look_up

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002, both families are wanted
    ) -> list[ResolveResult]:
        addresses = await self._look_up(host)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        for address in addresses:
            rule = self._guard.find_refusal(address, port)
            if rule is not None:
                raise ClosedAddress(rule)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Closes nothing, because the look-up belongs to the notifier."""


def _list_addresses(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [str(address[0]) for *_, address in found]
