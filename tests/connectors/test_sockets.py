"""Connectors and their wires against an acquirer on a real port that sends slowly, in part, too much or nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from connectors.cases import CASES, Position
from connectors.driving import Chain, PeerRow
from connectors.peers import PEERS
from connectors.serving import UNHEARD, Manner, PeerServer, RemotePeer
from ports import find_free_port
from tollgate.catalog.connectors import ACQUIRER_CONNECTORS, ConnectorName
from tollgate.config import Settings
from tollgate.payments.payment import Outcome, State
from tollgate.store.database import Database
from tollgate.wire import Wire, Wires

pytestmark = pytest.mark.anyio

REMOTE = [name for name in PEERS if name != ConnectorName.SEPA]
"""The SEPA queue is a part of the gateway, and no wire leads to it."""


def get_scheme(name: str) -> str:
    """Returns the plain scheme of a connector's addresses; providers of pages are reached over HTTP."""
    account = PEERS[name].account
    return "tcp" if account is not None and "tcp" in ACQUIRER_CONNECTORS[account.connector] else "http"


def choose_row(name: str) -> PeerRow:
    row = PEERS[name]
    if row.account is None or get_scheme(name) != "tcp":
        return row
    # Without a key no message has an authentication code; that is tested with the wire.
    return dataclasses.replace(row, account=replace(row.account, secrets={}))


@asynccontextmanager
async def connect(name: str, port: int) -> AsyncIterator[Wire]:
    wires = Wires(Settings())
    try:
        yield wires.find(f"{get_scheme(name)}://127.0.0.1:{port}", choose_row(name).account)
    finally:
        await wires.close()


@pytest.mark.parametrize("manner", Manner)
@pytest.mark.parametrize("case", ["DB", "DB-RF"])
@pytest.mark.parametrize("name", REMOTE)
async def test_a_payment_survives_the_manners_of_its_acquirer(
    store: Database, name: str, case: str, manner: Manner
) -> None:
    row = choose_row(name)
    at = await Chain(row, row.make(store)).count_messages(CASES[case]) - 1
    peer = row.make(store)
    server = PeerServer(peer, get_scheme(name))
    async with server.listen(), connect(name, server.port) as wire:
        remote = RemotePeer(peer, wire)
        chain = Chain(row, remote)
        attempt = await chain.prepare(CASES[case])
        before = await peer.read_position()
        server.spoil(manner, at)
        remote.begin(at if manner in UNHEARD else None)

        verdict = await chain.send(attempt)

        if manner is Manner.SLOW:
            assert verdict.outcome in (Outcome.APPROVED, Outcome.WAITING)
            return
        assert verdict.outcome is Outcome.SILENT
        task = chain.complete(attempt, verdict)
        assert task is not None
        server.spoil(None)
        await chain.recover(attempt, task)
        is_done = chain.members[attempt.id].state is State.APPROVED
        moved = row.expect(CASES[case].after) - row.expect(CASES[case].before) if is_done else Position()
        assert await peer.read_position() - before == moved


@pytest.mark.parametrize("name", REMOTE)
async def test_nothing_is_sent_where_nobody_listens(store: Database, name: str) -> None:
    row = choose_row(name)
    peer = row.make(store)
    async with connect(name, find_free_port()) as wire:
        chain = Chain(row, RemotePeer(peer, wire))

        verdict = await chain.send(chain.start(CASES["DB"].steps[0]))

    assert verdict.outcome is Outcome.UNSENT
    assert await peer.read_position() == Position()
