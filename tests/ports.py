"""Ports of loopback for servers that tests start. Nothing of Tollgate is known here."""

from __future__ import annotations

import socket
from collections import deque

_held: deque[socket.socket] = deque(maxlen=256)


def find_free_port() -> int:
    """Returns a port that the system gives to nobody else while this process holds it, also while no server uses it.

    A bound socket holds it and listens to nothing; a server takes it all the same, because both may reuse the address.
    """
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    # Only now, or the system might choose a port that another holder has.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if len(_held) == _held.maxlen:
        _held.popleft().close()
    _held.append(holder)
    port: int = holder.getsockname()[1]
    return port
