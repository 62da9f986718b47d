"""A payment from a registration costs the store one read, and one more write a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.operations.app import App
from tollgate.store.database import Database
from tollgate.store.hot import HotWrite, Row
from tollgate.store.statements import Statement, Write
from tollgate.values import DAY
from unit.flows.registration_samples import ALONE, CARD, INITIAL, KEEP, PRESENT, Answered, look_at, register_card, send
from unit.flows.shopping import tick

pytestmark = pytest.mark.anyio


class CountingDatabase:
    """Counts what is asked of the real one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reads: list[Statement] = []
        self.units: list[Sequence[Write]] = []
        self.hot: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def fetch(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        self.reads.append(statement)
        return await self._database.fetch(statement, params)

    async def fetch_one(self, statement: Statement, params: Mapping[str, Any]) -> Row | None:
        self.reads.append(statement)
        return await self._database.fetch_one(statement, params)

    async def write(self, steps: Sequence[Write], *, label: str) -> bool:
        self.units.append(steps)
        return await self._database.write(steps, label=label)

    async def submit(self, hot: HotWrite[bool], row: Row, *, label: str) -> bool:
        self.hot.append(hot.name)
        return await self._database.submit(hot, row, label=label)


async def count(app: App, *parts: Mapping[str, str], stored: str | None = None) -> tuple[int, int, list[str]]:
    """Reads, units and hot writes of one payment."""
    counting: Any = CountingDatabase(app.database)
    received: Answered = await send(replace(app, database=counting), *parts, stored=stored)
    assert received.code == "000.100.110"
    return len(counting.reads), len(counting.units), counting.hot


async def test_a_plain_payment_is_two_hot_writes_and_nothing_else(app: App) -> None:
    assert await count(app, CARD) == (0, 0, ["start", "complete"])


@pytest.mark.parametrize("words", [{}, ALONE, PRESENT])
async def test_a_payment_from_what_is_stored_adds_one_read(app: App, words: dict[str, str]) -> None:
    registration_id = await register_card(app)

    assert await count(app, words, stored=registration_id) == (1, 0, ["start", "complete"])


async def test_its_use_is_noted_once_a_day(app: App) -> None:
    registration_id = await register_card(app)
    tick(app, DAY)

    assert [await count(app, stored=registration_id) for _ in range(3)] == [
        (1, 1, ["start", "complete"]),
        (1, 0, ["start", "complete"]),
        (1, 0, ["start", "complete"]),
    ]


async def test_keeping_an_account_takes_two_units(app: App) -> None:
    assert await count(app, CARD, KEEP) == (0, 2, [])


async def test_beginning_a_series_takes_one_unit_more_than_repeating(app: App) -> None:
    registration_id = await register_card(app)

    assert await count(app, INITIAL, stored=registration_id) == (1, 1, ["start"])


async def test_use_lengthens_what_is_kept_by_use_alone(app: App) -> None:
    registration_id = await register_card(app)
    kept_until = (await look_at(app, registration_id)).keep_until
    tick(app, 3 * DAY)

    await send(app, stored=registration_id)

    registration = await look_at(app, registration_id)
    assert registration.used_at == app.clock.now()
    assert registration.keep_until == kept_until
