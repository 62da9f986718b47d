"""A host tells the service manager that started it how it is, by a real socket; a process that hangs is replaced."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import gateway as gateways
from api.merchants import wait_until
from api.test_processes import list_servers
from gateway import START_S, GatewayProcess
from postgres import PostgresCluster

WATCHDOG_S = 10
_PR_SET_MDWE = 65
HARDENED = f"""
import ctypes, os, sys
ctypes.CDLL(None).prctl({_PR_SET_MDWE}, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "tollgate", *sys.argv[1:]])
"""
"""Starts the program so that it gets no memory that is writable and executable, as MemoryDenyWriteExecute= does."""


@dataclass(frozen=True)
class Listening:
    """Receives what systemd would receive."""

    address: str
    receiving: socket.socket

    def variables(self, watchdog_s: int = 0) -> dict[str, str]:
        return {"NOTIFY_SOCKET": self.address, **({"WATCHDOG_USEC": f"{watchdog_s}000000"} if watchdog_s else {})}

    def wait_for(self, line: str) -> None:
        deadline = time.monotonic() + START_S
        while line not in self.receiving.recv(4096).decode().splitlines():
            assert time.monotonic() < deadline

    def drain(self) -> list[str]:
        """Returns what was received and not read yet."""
        found: list[str] = []
        while select.select([self.receiving], [], [], 0)[0]:
            found += self.receiving.recv(4096).decode().splitlines()
        return found


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listening]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@tollgate-{os.getpid()}-{tmp_path.name}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        receiving.bind(address.replace("@", "\0", 1))
        receiving.settimeout(START_S)
        yield Listening(address, receiving)


def test_one_process_says_that_it_serves_lives_and_stops(
    manager: Listening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways, "COLD", (sys.executable, "-c", HARDENED))
    host = GatewayProcess(tmp_path / "data", environment=manager.variables(WATCHDOG_S), is_cold=True)
    with host:
        manager.wait_for("READY=1")
        manager.wait_for("WATCHDOG=1")
        manager.wait_for("WATCHDOG=1")
        assert host.client().pay().status == 200
        manager.drain()

        assert host.stop() == 0
        assert "STOPPING=1" in manager.drain()


@pytest.mark.parametrize("manager", ["path"], indirect=True)
def test_a_host_without_watchdog_says_ready_once(manager: Listening, tmp_path: Path) -> None:
    with GatewayProcess(tmp_path / "data", environment=manager.variables()) as host:
        manager.wait_for("READY=1")
        host.stop()

    assert [line for line in manager.drain() if "=1" in line] == ["STOPPING=1"]


@pytest.mark.parametrize("manager", ["path"], indirect=True)
def test_of_several_processes_one_that_hangs_is_replaced(
    cluster: PostgresCluster, manager: Listening, tmp_path: Path
) -> None:
    host = GatewayProcess(
        tmp_path / "data",
        cluster.create_database(),
        arguments=["--workers", "2"],
        environment=manager.variables(WATCHDOG_S),
        is_cold=True,
    )
    with host:
        manager.wait_for("READY=1")
        hanging, other = list_servers(host)
        os.kill(hanging, signal.SIGSTOP)

        wait_until(lambda: len(list_servers(host)) == 2 and hanging not in list_servers(host))
        assert other in list_servers(host)
        assert "worker process hangs" in host.read_log()
        manager.drain()
        manager.wait_for("WATCHDOG=1")
        assert host.client().pay().status == 200

        assert host.stop() == 0
        assert "STOPPING=1" in manager.drain()


def test_a_manager_that_is_gone_disturbs_nothing(tmp_path: Path) -> None:
    variables = {"NOTIFY_SOCKET": str(tmp_path / "nothing"), "WATCHDOG_USEC": "3000000"}
    with GatewayProcess(tmp_path / "data", environment=variables) as host:
        assert host.client().pay().status == 200
        assert host.stop() == 0
