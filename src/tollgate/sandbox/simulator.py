"""Joins all simulated partners of a test host behind one wire, which chooses the partner by the path.

The partners answer in modules of their own.
"""

from collections.abc import Mapping

from tollgate.connectors import exchange, redirect, tokens
from tollgate.connectors.threeds import messages
from tollgate.sandbox import acquirer, directory_server, token_vault
from tollgate.sandbox.provider import SimulatedProvider
from tollgate.store.database import Database
from tollgate.values import Clock
from tollgate.vault.keyring import Keyring
from tollgate.wire import Wire


class Simulator:
    def __init__(self, by_path: Mapping[str, Wire], otherwise: Wire) -> None:
        self._by_path = by_path
        self._otherwise = otherwise

    async def send(self, request: exchange.WireRequest, timeout_s: float) -> exchange.WireReply:
        return await self._by_path.get(request.path, self._otherwise).send(request, timeout_s)


def make_simulator(database: Database, keyring: Keyring, base_url: str, clock: Clock) -> Simulator:
    provider = SimulatedProvider(database, base_url, clock)
    directory = directory_server.SimulatedDirectoryServer(database, keyring, base_url, clock)
    vault = token_vault.SimulatedTokenVault(database, keyring, clock)
    by_path: dict[str, Wire] = {
        redirect.SESSIONS: provider,
        redirect.SESSION_INQUIRIES: provider,
        redirect.SESSION_CANCELLATIONS: provider,
        messages.RANGES: directory,
        messages.AUTHENTICATIONS: directory,
        tokens.PROVISIONS: vault,
        tokens.CRYPTOGRAMS: vault,
        tokens.INQUIRIES: vault,
        tokens.DELETIONS: vault,
    }
    return Simulator(by_path, acquirer.SimulatedAcquirer())
