"""The accidents that happen to the primary, as rows: what happens, and what mends it. What is measured is elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass

from tools.ha.hosts import DatabaseHost


@dataclass(frozen=True)
class Accident:
    name: str
    happen: Callable[[DatabaseHost], None]
    mend: Callable[[DatabaseHost], None]
    """It is done once payments run again; the host then joins the cluster by itself."""


def kill_postgres(host: DatabaseHost) -> None:
    host.signal(signal.SIGKILL, host.list_postgres())


def freeze_postgres(host: DatabaseHost) -> None:
    host.signal(signal.SIGSTOP, host.list_postgres())


def thaw(host: DatabaseHost) -> None:
    host.signal(signal.SIGCONT, list(host.list_processes()))


def kill_all(host: DatabaseHost) -> None:
    host.signal(signal.SIGKILL, list(host.list_processes()))


def freeze_all(host: DatabaseHost) -> None:
    host.signal(signal.SIGSTOP, list(host.list_processes()))


ACCIDENTS = (
    Accident("PostgreSQL is killed (`kill -9`)", kill_postgres, lambda _: None),
    Accident("the host dies (`kill -9` of everything)", kill_all, DatabaseHost.start),
    Accident("the host hangs (`SIGSTOP` of everything)", freeze_all, thaw),
    Accident(
        "the network is cut (`ip link set down`)",
        lambda host: host.set_cable("down"),
        lambda host: host.set_cable("up"),
    ),
    Accident("PostgreSQL hangs (`SIGSTOP` of PostgreSQL)", freeze_postgres, thaw),
)
