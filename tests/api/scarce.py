"""A server that has few files and little patience, so that its limits are reached with few connections."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from gateway import GatewayProcess
from tollgate.catalog.limits import LIMITS
from warm import Prepare

FILES = 256
ROOM = FILES // 2
"""Connections that a process with so few files takes."""
_WRITE_TIMEOUT_S = 1.0
_READ_TIMEOUT_S = 120.0


def _make_scarce() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES // 2, FILES))
    object.__setattr__(LIMITS, "write_timeout_s", _WRITE_TIMEOUT_S)
    # A client that opens many connections says nothing on the first of them for long.
    object.__setattr__(LIMITS, "read_timeout_s", _READ_TIMEOUT_S)


@dataclass
class ScarceGateway(GatewayProcess):
    @property
    def prepare(self) -> Prepare | None:
        return _make_scarce
