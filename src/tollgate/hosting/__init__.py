"""Runs a host: sockets, signals, TLS, logs, and what must be in place before. The last room below the command line."""

from tollgate.hosting.log import set_up_logs
from tollgate.hosting.readiness import (
    NEEDS,
    PLAIN_ADDRESS,
    find_missing,
    find_unready_channels,
    find_warnings,
    list_card_addresses,
)
from tollgate.hosting.server import run
from tollgate.hosting.sockets import bind_all

__all__ = [
    "NEEDS",
    "PLAIN_ADDRESS",
    "bind_all",
    "find_missing",
    "find_unready_channels",
    "find_warnings",
    "list_card_addresses",
    "run",
    "set_up_logs",
]
