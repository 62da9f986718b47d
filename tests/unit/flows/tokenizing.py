"""Helpers for tests of network tokens: a vault, and jobs that are run. No test here."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tollgate.connectors import tokens
from tollgate.connectors.exchange import WireReply, WireRequest, encode_message
from tollgate.operations.app import App
from tollgate.payments import registration
from tollgate.sandbox.token_vault import Event, SimulatedTokenVault, find_standing, let_happen
from tollgate.store.jobs import Job, lease_due
from tollgate.store.merchants import update_channel
from tollgate.store.registrations import change_registration_writes, find_sealed_registration
from tollgate.values import DAY, FixedClock
from tollgate.wire import Wire
from tollgate.workers.jobs import follow_tokens
from unit.app_fixture import CHANNEL, MERCHANT, ScriptedWire, open_app
from unit.flows.registration_samples import look_at, register_card

TOKENIZING = replace(CHANNEL, uses_network_tokens=True)
TOKEN_PATHS = frozenset({tokens.PROVISIONS, tokens.CRYPTOGRAMS, tokens.INQUIRIES, tokens.DELETIONS})


@dataclass
class TokenWorld:
    """The simulated vault behind a wire that can be cut; what is not for it goes to the acquirer."""

    acquirer: ScriptedWire = field(default_factory=ScriptedWire)
    vault: Wire | None = None
    faults: list[bytes | Exception] = field(default_factory=list)
    """These come from the front instead of the vault's answers; the vault receives the requests all the same."""
    asked: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """This runs once, after the vault has acted and before its answer arrives."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if request.path not in TOKEN_PATHS:
            return await self.acquirer.send(request, timeout_s)
        assert self.vault is not None
        self.asked.append(request.path)
        reply = await self.vault.send(request, timeout_s)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Exception):
            raise fault
        return reply if fault is None else WireReply(200, fault)

    @property
    def charged(self) -> dict[str, Any]:
        """Returns what the acquirer last received."""
        received: dict[str, Any] = json.loads(self.acquirer.sent[-1].body)
        return received


@asynccontextmanager
async def open_token_app(folder: Path, world: TokenWorld) -> AsyncIterator[App]:
    app = await open_app(folder, world.acquirer)
    await update_channel(app.database, TOKENIZING)
    await app.merchants.refresh(app.database)
    world.vault = SimulatedTokenVault(app.database, app.keyring, app.clock)
    yield replace(app, simulator=world, base_url="https://gate.example")
    await app.database.close()


async def run_tokens(app: App) -> int:
    """Rounds until nothing is due; how much was."""
    done = 0
    while count := await follow_tokens(app):
        done += count
    return done


async def keep_token(app: App, year: str = "2031") -> str:
    """Returns the id of a registered card whose token was requested."""
    registration_id = await register_card(app, {"card.expiryYear": year})
    await run_tokens(app)
    return registration_id


async def get_token(app: App, registration_id: str) -> registration.NetworkToken:
    token = (await look_at(app, registration_id)).network_token
    assert token is not None
    return token


async def get_stored_registration(
    app: App, registration_id: str
) -> tuple[registration.Registration, bytes | None, bytes | None]:
    found = await find_sealed_registration(app.database, MERCHANT.id, registration_id)
    assert found is not None
    return found


async def fire(app: App, registration_id: str, event: Event, event_id: str = "e-1") -> str:
    """Lets an event happen at the vault alone, and returns the token with which the gateway may be notified."""
    standing = await let_happen(app.database, registration_id, event, event_id, app.clock.now())
    assert standing is not None
    return standing.shopper_token


def make_knock(registration_id: str, event_id: str = "e-1") -> bytes:
    return encode_message(tokens.EventMessage(id=event_id, key=registration_id))


async def list_token_jobs(app: App) -> list[Job]:
    """Lists all jobs that are owed however late, without holding them for long."""
    assert isinstance(app.clock, FixedClock)
    return await lease_due(
        app.database,
        now=app.clock.now() + 10_000 * DAY,
        wall_now=app.clock.wall(),
        owner="looking",
        lease_s=0,
        limit=100,
        topic=registration.TOKEN_TOPIC,
    )


async def delete(
    app: App, registration_id: str, ended: registration.RegistrationState = registration.RegistrationState.DELETED
) -> None:
    ended_row = registration.wipe(await look_at(app, registration_id), ended)
    unit = change_registration_writes(
        ended_row, None, None, event=registration.RegistrationEvent.DELETED, at=app.clock.now()
    )
    assert await app.database.write(unit, label="test")


async def get_vault_status(app: App, registration_id: str) -> str | None:
    standing = await find_standing(app.database, registration_id, app.clock.now())
    return None if standing is None else standing.status
