"""Runs the simulated host until a signal ends it: its files, its TLS, its signals. What it answers is in `host`."""

import asyncio
import os
import signal
import ssl
from collections.abc import Callable
from pathlib import Path

import msgspec

from tollgate.connectors.iso8583 import network
from tollgate.sandbox.iso8583_host.host import HostTerms, SimulatedHost
from tollgate.sandbox.iso8583_host.ledger import HostLedger
from tollgate.sandbox.iso8583_host.rules import DEFAULT_RULES, Rule, read_rules
from tollgate.values import system_random_bytes


class HostFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The names of the files that the command was given; empty where there are none."""

    rules: str = ""
    ledger: str = ""
    key: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    client_ca: str = ""


def run_host(address: str, port: int, files: HostFiles, show: Callable[[str], None]) -> None:
    """Serves until a signal; a ValueError says which file cannot be used."""
    terms = HostTerms(
        address=address,
        port=port,
        rules=_read_rules(files.rules),
        tls=_make_tls(files),
        wrapping_key=_read_key(files.key),
    )

    def keep(ledger: HostLedger) -> None:
        if files.ledger:
            # Replaced as a whole, so that a reader never sees half of it.
            part = Path(f"{files.ledger}.part")
            part.write_bytes(ledger.render())
            os.replace(part, files.ledger)

    host = SimulatedHost(terms, show=show, keep=keep, random_bytes=system_random_bytes)
    keep(host.ledger)
    asyncio.run(_serve(host))
    for line in host.list_sums():
        show(line)


async def _serve(host: SimulatedHost) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await host.serve(stopped)


def _read_rules(name: str) -> tuple[Rule, ...]:
    if not name:
        return DEFAULT_RULES
    text = _read(name)
    try:
        return read_rules(text)
    except ValueError as fault:
        raise ValueError(f"{name}: {fault}") from None


def _read_key(name: str) -> bytes | None:
    return network.read_key(_read(name)) if name else None


def _read(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except OSError as fault:
        raise ValueError(f"{name}: {fault.strerror}") from None


def _make_tls(files: HostFiles) -> ssl.SSLContext | None:
    if not files.tls_cert:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(files.tls_cert, files.tls_key or None, password="")
        if files.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(files.client_ca)
    except OSError:
        raise ValueError("--tls-cert, --tls-key and --client-ca are PEM files, the key without a password") from None
    return context
