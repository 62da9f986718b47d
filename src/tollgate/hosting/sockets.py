"""The listening sockets of a host, bound before anything is served. Several processes may share them."""

from __future__ import annotations

import socket
import sys
from enum import StrEnum

from tollgate.config import Settings


class Port(StrEnum):
    """Names the purpose of a listening socket."""

    API = "api"
    REDIRECT = "redirect"
    METRICS = "metrics"


Sockets = list[tuple[Port, socket.socket]]


def bind_all(settings: Settings) -> Sockets:
    """Binds every port before anything is served; a port in use ends the process with a message."""
    wanted = [
        (Port.API, settings.host, settings.port),
        (Port.REDIRECT, settings.host, settings.http_port),
        (Port.METRICS, settings.metrics_host, settings.metrics_port),
    ]
    sockets: Sockets = []
    for port, host, number in wanted:
        try:
            if number:
                sockets.append((port, _bind(host, number)))
        except OSError as error:
            for _, taken in sockets:
                taken.close()
            sys.exit(f"tollgate: cannot listen on {host} port {number}: {error.strerror}")
    return sockets


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # Until one of them listens, several processes may bind the same port.
        listener.listen()
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener
