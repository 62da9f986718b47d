"""A developer at this machine is known by the address, by the name that was asked for, and by no sign of a proxy."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tollgate.sandbox.front.developers import is_local
from tollgate.web.request import Request
from unit.app_fixture import ScriptedWire, open_app

pytestmark = pytest.mark.anyio


def make_request(address: str = "127.0.0.1", **headers: str) -> Request:
    sent = {"host": "localhost", **headers}
    return Request(
        method="GET",
        path="/",
        names=(),
        headers={name.replace("_", "-").encode(): value.encode() for name, value in sent.items()},
        pairs=[],
        trace="0" * 32,
        address=address,
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1"])
async def test_a_loopback_peer_is_at_this_machine(tmp_path: Path, address: str) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    own = msgspec.structs.replace(app, base_url="http://127.0.0.1:8080")

    assert is_local(make_request(address), own)
    await app.database.close()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "192.168.0.7",
        "10.0.0.1",
        "172.17.0.1",
        "169.254.1.1",
        "0.0.0.0",
        "192.0.2.7",
        "::",
        "fe80::1",
        "2001:db8::1",
    ],
)
async def test_any_other_peer_is_not_whatever_name_it_asks_for(tmp_path: Path, address: str) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    own = msgspec.structs.replace(app, base_url="http://127.0.0.1:8080")

    assert not any(is_local(make_request(address, host=host), own) for host in ("localhost", "127.0.0.1", "[::1]"))
    await app.database.close()


@pytest.mark.parametrize(
    ("base_url", "is_own"),
    [
        ("http://127.0.0.1:8080", True),
        ("https://localhost:8443", True),
        ("http://[::1]:8080", True),
        ("https://pay.example.com", False),
        ("http://192.168.0.7:8080", False),
        ("https://localhost.example.com", False),
        ("", False),
    ],
)
async def test_a_host_with_a_public_address_has_nobody_at_its_machine(
    tmp_path: Path, base_url: str, is_own: bool
) -> None:
    app = await open_app(tmp_path, ScriptedWire())

    assert is_local(make_request(), msgspec.structs.replace(app, base_url=base_url)) is is_own
    await app.database.close()


@pytest.mark.parametrize("connection", ["close", "Close"])
async def test_a_connection_that_a_proxy_will_close_is_not_a_browsers(tmp_path: Path, connection: str) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    own = msgspec.structs.replace(app, base_url="http://127.0.0.1:8080")

    assert not is_local(make_request(connection=connection), own)
    assert is_local(make_request(connection="keep-alive"), own)
    await app.database.close()
