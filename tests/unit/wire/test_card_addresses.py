"""Card data leaves a live host under TLS alone; the one exception is loopback, where the operator allows it."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from tollgate.config import Environment, Settings
from tollgate.connectors.exchange import WireRequest
from tollgate.wire import Forbidden, HttpWire, Wires, may_carry_cards

REQUEST = WireRequest(path="/payments", body=b"{}", key="k")
PLAIN_LOOPBACK = (
    "http://127.0.0.1:8080",
    "http://127.9.9.9/pay",
    "http://[::1]:8080",
    "HTTP://127.0.0.1",
    "tcp://127.0.0.1:8583",
)
PLAIN = (
    "http://acquirer.example",
    "http://10.0.0.5",
    "http://0.0.0.0",
    "http://[::]",
    "http://localhost:8080",
    "http://127.0.0.1.example.com",
    "http://127.0.0.1@acquirer.example",
    "http://2130706433",
    "http://127.1",
    "http://",
    "ws://127.0.0.1",
    "ftp://127.0.0.1",
    "127.0.0.1:8080",
    "//acquirer.example",
    "http://[::1",
    "tcp://acquirer.example:8583",
    "tcp://localhost:8583",
    "",
)


@pytest.mark.parametrize(
    "url",
    [
        "https://acquirer.example",
        "https://10.0.0.5:8443/pay",
        "HTTPS://acquirer.example",
        "tls://acquirer.example:8583",
    ],
)
@pytest.mark.parametrize("allows", [True, False])
def test_tls_is_taken_everywhere(url: str, *, allows: bool) -> None:
    assert may_carry_cards(url, is_live=True, allows_plain_loopback=allows)


@pytest.mark.parametrize("url", PLAIN)
@pytest.mark.parametrize("allows", [True, False])
def test_nothing_else_is_taken_by_a_live_host(url: str, *, allows: bool) -> None:
    assert not may_carry_cards(url, is_live=True, allows_plain_loopback=allows)


@pytest.mark.parametrize("url", PLAIN_LOOPBACK)
def test_plain_loopback_needs_the_operators_word(url: str) -> None:
    assert may_carry_cards(url, is_live=True, allows_plain_loopback=True)
    assert not may_carry_cards(url, is_live=True, allows_plain_loopback=False)


def test_a_test_host_has_no_card_data_to_protect() -> None:
    assert may_carry_cards("http://acquirer.example", is_live=False, allows_plain_loopback=False)


@pytest.mark.anyio
async def test_a_channel_that_was_changed_in_the_store_still_sends_nothing_in_clear(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wires = Wires(Settings(environment=Environment.LIVE))
    with pytest.raises(Forbidden):
        await wires.find("http://user:word@192.0.2.1").send(REQUEST, 5.0)
    await wires.close()

    (record,) = caplog.records
    assert (record.levelname, vars(record)["address"]) == ("ERROR", "192.0.2.1")


@pytest.mark.anyio
async def test_a_closed_wire_connects_to_nobody() -> None:
    connected: list[object] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:  # noqa: ARG001
        connected.append(writer)
        writer.close()

    async with await asyncio.start_server(note, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        wire = HttpWire(f"http://127.0.0.1:{port}", is_open=False, get_tls=ssl.create_default_context)
        with pytest.raises(Forbidden):
            await wire.send(REQUEST, 5.0)
        await wire.close()

    assert connected == []
