"""Counts the open connections of a process, by peer and in all, and closes those whose deadline has passed.

What is said on a connection is not known here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from functools import partial
from typing import Protocol

from tollgate.catalog.limits import LIMITS
from tollgate.web.addresses import name_network, read_address
from tollgate.web.guard import guard_upkeep
from tollgate.web.metrics import count_limit
from tollgate.web.proxies import Proxies

_log = logging.getLogger("tollgate.connections")

_LOG_EVERY_S = 60.0
_LOOK_EVERY_S = 0.02


class Connection(Protocol):
    def check(self, now: float) -> None:
        """Closes the connection if a deadline has passed."""

    def stop(self) -> None:
        """Closes the connection after the answer in flight, or at once if there is none."""

    def abort(self) -> None: ...


class Connections:
    """Counts the connections of all ports that share these limits, and closes them."""

    def __init__(self, connections_max: int, proxies: Proxies) -> None:
        self.connections_max = min(connections_max, LIMITS.connections_max)
        self._proxies = proxies
        self._by_peer: Counter[str] = Counter()
        self._in_all = 0
        self._logged_at: dict[str, float] = {}
        self.open: set[Connection] = set()
        self.is_stopping = False

    def enter(self, address: str, now: float) -> str | None:
        """Counts a new connection and returns the name of its peer, or None when a limit is reached."""
        peer = name_network(read_address(address))
        if self._in_all >= self.connections_max:
            self.report_limit("host", now, peer)
            return None
        if self._by_peer[peer] >= LIMITS.connections_per_peer_max and not self._proxies.trusts(address):
            self.report_limit("peer", now, peer)
            return None
        self._in_all += 1
        self._by_peer[peer] += 1
        return peer

    def leave(self, peer: str) -> None:
        self._in_all -= 1
        self._by_peer[peer] -= 1
        if not self._by_peer[peer]:
            del self._by_peer[peer]

    def report_limit(self, limit: str, now: float, peer: str) -> None:
        """Counts each time, and logs at most once a minute for each limit, so that a flood does not fill the log."""
        count_limit(limit)
        if now >= self._logged_at.get(limit, -_LOG_EVERY_S) + _LOG_EVERY_S:
            self._logged_at[limit] = now
            _log.warning("connection limit reached", extra={"limit": limit, "peer": peer, "open": self._in_all})

    def check(self, now: float) -> None:
        for connection in tuple(self.open):
            # An error in one connection must not keep the others open for ever.
            if not guard_upkeep(partial(connection.check, now)):
                connection.abort()

    async def wait_until_empty(self) -> None:
        while self.open:
            await asyncio.sleep(_LOOK_EVERY_S)

    def abort(self) -> None:
        for connection in tuple(self.open):
            connection.abort()

    def stop(self) -> None:
        self.is_stopping = True
        for connection in tuple(self.open):
            connection.stop()
