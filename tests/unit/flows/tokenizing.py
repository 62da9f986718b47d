"""The words in which stories of network tokens are told: a vault, and jobs that are run. No test here."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tollgate.connectors import WireReply, WireRequest, tokens
from tollgate.payments import TOKEN_TOPIC, NetworkToken, Registration, RegistrationEvent, RegistrationState, wipe
from tollgate.sandbox.token_vault import SimulatedTokenVault, find_standing, let_happen
from tollgate.sandbox.token_years import Event
from tollgate.steps import House
from tollgate.store import Job, find_sealed_registration, lease_due, steps_change_registration, update_channel
from tollgate.values import DAY, FixedClock
from tollgate.wire import Wire
from tollgate.workers.reconcile import follow_tokens
from unit.flows.keeping import keep_card, look_at
from unit.premises import CHANNEL, MERCHANT, ScriptedWire, open_house

TOKENIZING = replace(CHANNEL, uses_network_tokens=True)
TOKEN_PATHS = frozenset({tokens.PROVISIONS, tokens.CRYPTOGRAMS, tokens.INQUIRIES, tokens.DELETIONS})


@dataclass
class TokenWorld:
    """The simulated vault behind a wire that can be cut; what is not for it goes to the acquirer."""

    acquirer: ScriptedWire = field(default_factory=ScriptedWire)
    vault: Wire | None = None
    faults: list[bytes | Exception] = field(default_factory=list)
    """From the front, instead of what the vault would say; the vault hears of it all the same."""
    asked: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """Happens once, after the vault has acted and before its answer arrives."""

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
        """What the acquirer was last told."""
        told: dict[str, Any] = json.loads(self.acquirer.sent[-1].body)
        return told


@asynccontextmanager
async def open_token_house(folder: Path, world: TokenWorld) -> AsyncIterator[House]:
    house = await open_house(folder, world.acquirer)
    await update_channel(house.database, TOKENIZING)
    await house.directory.refresh(house.database)
    world.vault = SimulatedTokenVault(house.database, house.keyring, house.clock)
    yield replace(house, simulator=world, base_url="https://gate.example")
    await house.database.close()


async def run_tokens(house: House) -> int:
    """Rounds until nothing is due; how much was."""
    done = 0
    while count := await follow_tokens(house):
        done += count
    return done


async def keep_token(house: House, year: str = "2031") -> str:
    """The id of a stored card for which its token was asked."""
    registration_id = await keep_card(house, {"card.expiryYear": year})
    await run_tokens(house)
    return registration_id


async def get_token(house: House, registration_id: str) -> NetworkToken:
    token = (await look_at(house, registration_id)).network_token
    assert token is not None
    return token


async def find_stored(house: House, registration_id: str) -> tuple[Registration, bytes | None, bytes | None]:
    found = await find_sealed_registration(house.database, MERCHANT.id, registration_id)
    assert found is not None
    return found


async def fire(house: House, registration_id: str, event: Event, event_id: str = "e-1") -> str:
    """At the vault alone; the ticket by which the gateway may be told."""
    standing = await let_happen(house.database, registration_id, event, event_id, house.clock.now())
    assert standing is not None
    return standing.ticket


def make_knock(registration_id: str, event_id: str = "e-1") -> bytes:
    return tokens.write_message(tokens.EventMessage(id=event_id, key=registration_id))


async def list_token_jobs(house: House) -> list[Job]:
    """All that are owed however late, without holding them for long."""
    assert isinstance(house.clock, FixedClock)
    return await lease_due(
        house.database,
        now=house.clock.now() + 10_000 * DAY,
        wall_now=house.clock.wall(),
        owner="looking",
        lease_s=0,
        limit=100,
        topic=TOKEN_TOPIC,
    )


async def delete(house: House, registration_id: str, ended: RegistrationState = RegistrationState.DELETED) -> None:
    ended_row = wipe(await look_at(house, registration_id), ended)
    unit = steps_change_registration(ended_row, None, None, event=RegistrationEvent.DELETED, at=house.clock.now())
    assert await house.database.write(unit)


async def get_vault_status(house: House, registration_id: str) -> str | None:
    standing = await find_standing(house.database, registration_id, house.clock.now())
    return None if standing is None else standing.status
