"""Seals in use: nothing is built on a row that is not what was written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from tollgate.payments import Payment
from tollgate.steps import BrokenSeal, House, trust
from tollgate.store.statements import Statement
from tollgate.wire import Silent
from unit.flows.telling import DECLINED, begin, follow, happen, read, read_answered, run_only_job
from unit.premises import ScriptedWire, open_house

pytestmark = pytest.mark.anyio


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def house(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[House]:
    house = await open_house(tmp_path, wire)
    yield house
    await house.database.close()


async def tamper(house: House, payment: Payment, change: str) -> Payment:
    text = f"UPDATE payments SET {change} WHERE id = '{payment.id}'"
    await house.database.fetch(Statement(sa.text(text), is_write=True), {})
    return await read(house, payment.id)


async def test_what_was_written_is_trusted(house: House) -> None:
    debit = await begin(house)

    assert trust(house, debit) is debit


@pytest.mark.parametrize("change", ["amount = 100000", "state = 1, result_code = '000.100.110'", "mac = NULL"])
async def test_a_row_that_somebody_changed_is_not_followed(house: House, wire: ScriptedWire, change: str) -> None:
    wire.script.append(DECLINED)
    changed = await tamper(house, await begin(house), change)
    sent = len(wire.sent)

    with pytest.raises(BrokenSeal, match=changed.id):
        await follow(house, changed, "RF", 100)
    with pytest.raises(BrokenSeal, match=changed.id):
        await happen(house, changed, "CB")

    assert len(wire.sent) == sent
    assert (await read(house, changed.id)).balance == changed.balance


async def test_the_first_payment_of_the_chain_is_looked_at_too(house: House) -> None:
    authorisation = await begin(house, "PA")
    capture = await read_answered(house, await follow(house, authorisation, "CP", 4_000))
    await tamper(house, authorisation, "amount = amount + 1")

    with pytest.raises(BrokenSeal, match=authorisation.id):
        await follow(house, capture, "RF", 100)


async def test_an_errand_leaves_a_changed_payment_alone(house: House, wire: ScriptedWire) -> None:
    wire.script.append(Silent())
    debit = await begin(house)
    await tamper(house, debit, "amount = 1")
    sent = len(wire.sent)

    with pytest.raises(BrokenSeal):
        await run_only_job(house)

    assert len(wire.sent) == sent


async def test_a_seal_depends_on_the_keys_of_the_house(house: House) -> None:
    debit = await begin(house)
    assert debit.mac is not None

    with pytest.raises(BrokenSeal):
        trust(house, replace(debit, mac=bytes(len(debit.mac))))
