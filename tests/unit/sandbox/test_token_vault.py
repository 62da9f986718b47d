"""The simulated token vault: one token a key, numbers that acquirers take, and events that happen once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from empty_store import open_empty_store
from tollgate.catalog.brands import passes_luhn
from tollgate.connectors import tokens
from tollgate.connectors.exchange import WireRequest
from tollgate.sandbox.token_vault import YEARS, Event, SimulatedTokenVault, Status, find_standing, let_happen
from tollgate.store.database import Database
from tollgate.store.simulated_sessions import purge_simulated_sessions
from tollgate.values import DAY, MINUTE, FixedClock
from tollgate.vault.keyring import Keyring, make_keyring
from unit.app_fixture import NOW

pytestmark = pytest.mark.anyio

KEY = "8a" + "7" * 30
PAN = "4200000000000000"


class Vault:
    def __init__(self, database: Database, keyring: Keyring) -> None:
        self.clock = FixedClock(NOW)
        self.database = database
        self.wire = SimulatedTokenVault(database, keyring, self.clock)

    async def ask(self, path: str, **message: Any) -> dict[str, Any]:
        body = json.dumps({"key": KEY, **message}).encode()
        reply = await self.wire.send(WireRequest(path=path, body=body, key="k"), 1.0)
        received: dict[str, Any] = json.loads(reply.body) if reply.body else {"status": reply.status}
        return received

    async def provision(self, expiry: str = "2031-05", key: str = KEY) -> dict[str, Any]:
        return await self.ask(tokens.PROVISIONS, key=key, network="visa", number=PAN, expiry=expiry)

    async def prove(self) -> dict[str, Any]:
        return await self.ask(tokens.CRYPTOGRAMS, payment="8a01", amount=100, currency="EUR")


@pytest.fixture
async def vault(tmp_path: Path) -> AsyncIterator[Vault]:
    database = await open_empty_store(tmp_path / "store.db")
    yield Vault(database, make_keyring())
    await database.close()


async def test_the_same_key_is_the_same_token_and_another_key_another(vault: Vault) -> None:
    first, again = await asyncio.gather(vault.provision(), vault.provision())
    other = await vault.provision(key="8a" + "8" * 30)

    assert first == again
    assert first["number"] != other["number"]
    assert len(first["number"]) == 16
    assert passes_luhn(first["number"])
    assert first["number"] != PAN


async def test_nothing_of_the_card_is_kept_but_its_last_digits(vault: Vault) -> None:
    token = await vault.provision()
    standing = await find_standing(vault.database, KEY, NOW)

    assert standing is not None
    assert PAN not in standing.row.body
    assert token["number"] not in standing.row.body


async def test_every_cryptogram_is_another(vault: Vault) -> None:
    await vault.provision()

    assert (await vault.prove())["cryptogram"] != (await vault.prove())["cryptogram"]


@pytest.mark.parametrize("year", sorted(YEARS))
async def test_every_year_of_the_table_does_what_it_says(vault: Vault, year: str) -> None:
    received, facts = await vault.provision(f"{year}-05"), YEARS[year]

    assert received.get("reason", "") == facts.refusal
    if facts.refusal:
        assert await find_standing(vault.database, KEY, NOW) is None
        return
    assert (await vault.prove()).get("reason", "") == facts.proof_refusal
    vault.clock.at += 3 * MINUTE
    standing = await find_standing(vault.database, KEY, vault.clock.now())
    assert standing is not None
    happened = [event for _, event in facts.planned]
    assert standing.status is (Status.DELETED if Event.DELETED in happened else Status.ACTIVE)
    assert standing.expiry == ("2039-05" if Event.CARD_UPDATED in happened else f"{year}-05")


async def test_every_reason_of_the_years_is_one_that_the_connector_knows() -> None:
    words = {word for year in YEARS.values() for word in (year.refusal, year.proof_refusal) if word}

    assert words <= set(tokens.REASONS)


async def test_one_event_happens_once_and_nothing_happens_after_the_end(vault: Vault) -> None:
    await vault.provision()

    async def fire(event: Event, event_id: str) -> tuple[str, str]:
        vault.clock.at += 1
        standing = await let_happen(vault.database, KEY, event, event_id, vault.clock.now())
        assert standing is not None
        return standing.status, standing.last_digits

    assert await fire(Event.CARD_UPDATED, "a") == ("active", "1111")
    assert await fire(Event.CARD_UPDATED, "a") == ("active", "1111")
    assert await fire(Event.SUSPENDED, "b") == ("suspended", "1111")
    assert (await vault.prove())["reason"] == "suspended"
    assert await fire(Event.DELETED, "c") == ("deleted", "1111")
    assert await fire(Event.RESUMED, "d") == ("deleted", "1111")
    assert (await vault.prove())["reason"] == "unknown_token"
    assert (await vault.provision())["status"] == "deleted"


async def test_events_at_the_same_moment_all_happen(vault: Vault) -> None:
    await vault.provision()

    await asyncio.gather(
        *[let_happen(vault.database, KEY, Event.CARD_UPDATED, f"e-{number}", NOW) for number in range(5)]
    )

    standing = await find_standing(vault.database, KEY, NOW)
    assert standing is not None
    assert len(standing.fired) == 5
    assert standing.last_digits == "5555"


async def test_what_was_never_issued_is_unknown_and_stays_so(vault: Vault) -> None:
    for path in (tokens.INQUIRIES, tokens.DELETIONS):
        assert (await vault.ask(path))["status"] == "unknown"
    assert (await vault.prove())["reason"] == "unknown_token"
    assert (await vault.ask("/v1/elsewhere"))["status"] == 404


async def test_a_token_outlives_other_sessions_and_is_forgotten_after_its_expiry(vault: Vault) -> None:
    await vault.provision()

    assert await purge_simulated_sessions(vault.database, NOW + 365 * DAY, 10) == 0
    assert await purge_simulated_sessions(vault.database, NOW + 6 * 366 * DAY, 10) == 1
