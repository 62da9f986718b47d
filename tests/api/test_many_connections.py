"""Clients that open many connections, never read or never speak: they are cut off, and others are served."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.merchants import wait_until
from api.scarce import FILES, ROOM, ScarceGateway
from api.sockets import read_all, render
from gateway import Client


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScarceGateway]:
    with ScarceGateway(tmp_path_factory.mktemp("scarce")) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def client(host: ScarceGateway) -> Client:
    return host.client()


@contextlib.contextmanager
def open_lines(host: ScarceGateway, count: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", host.port), timeout=120)) for _ in range(count)
        ]


def count_limit(client: Client, limit: str) -> int:
    series = f'tollgate_connection_limits_total{{limit="{limit}"}} '
    lines = client.send("GET", "/metrics").body.decode().splitlines()
    return next((int(float(line.removeprefix(series))) for line in lines if line.startswith(series)), 0)


def is_served(client: Client) -> bool:
    try:
        return client.pay().code == "000.100.110"
    except OSError:
        return False


def test_clients_that_never_read_are_cut_off_and_others_are_served(host: ScarceGateway, client: Client) -> None:
    many = 40
    before = count_limit(client, "unread")
    with open_lines(host, many) as lines:
        for line in lines:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.sendall(render("GET", "/v1/resultcodes", is_last=False) * 500)
        assert client.pay().code == "000.100.110"
        wait_until(lambda: count_limit(client, "unread") >= before + many)

        assert client.pay().code == "000.100.110"
    assert '"limit":"unread"' in host.log_path.read_text()


def test_more_connections_than_a_process_has_room_for_are_refused_and_the_rest_is_served(
    host: ScarceGateway, client: Client
) -> None:
    before = count_limit(client, "host")
    with open_lines(host, ROOM) as first:
        with open_lines(host, 20) as beyond:
            assert [read_all(line) for line in beyond] == [b""] * len(beyond)
        first[0].sendall(render("GET", "/healthz"))
        assert read_all(first[0]).startswith(b"HTTP/1.1 200")
    wait_until(lambda: is_served(client))
    assert count_limit(client, "host") >= before + 20
    assert host.log_path.read_text().count('"limit":"host"') == 1
    assert '"event":"unhandled error"' not in host.log_path.read_text()


def test_the_soft_limit_of_files_is_raised_to_the_hard_one(host: ScarceGateway) -> None:
    assert host.process is not None
    limits = Path(f"/proc/{host.process.pid}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max open files")]

    assert line.split()[3:5] == [str(FILES)] * 2
