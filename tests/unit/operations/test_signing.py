"""Signatures in use: nothing is built on a row that is not what was written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from tollgate.operations.app import App
from tollgate.operations.signing import TamperedRow, trust
from tollgate.payments.payment import Payment
from tollgate.store.statements import Statement
from tollgate.wire import Silent
from unit.app_fixture import ScriptedWire, open_app
from unit.flows.chains import DECLINED, begin, follow, happen, read, read_answered, run_only_job

pytestmark = pytest.mark.anyio


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[App]:
    app = await open_app(tmp_path, wire)
    yield app
    await app.database.close()


async def tamper(app: App, payment: Payment, change: str) -> Payment:
    text = f"UPDATE payments SET {change} WHERE id = '{payment.id}'"
    await app.database.fetch(Statement(sa.text(text), is_write=True), {})
    return await read(app, payment.id)


async def test_what_was_written_is_trusted(app: App) -> None:
    debit = await begin(app)

    assert trust(app, debit) is debit


@pytest.mark.parametrize("change", ["amount = 100000", "state = 1, result_code = '000.100.110'", "mac = NULL"])
async def test_a_row_that_somebody_changed_is_not_followed(app: App, wire: ScriptedWire, change: str) -> None:
    wire.script.append(DECLINED)
    changed = await tamper(app, await begin(app), change)
    sent = len(wire.sent)

    with pytest.raises(TamperedRow, match=changed.id):
        await follow(app, changed, "RF", 100)
    with pytest.raises(TamperedRow, match=changed.id):
        await happen(app, changed, "CB")

    assert len(wire.sent) == sent
    assert (await read(app, changed.id)).balance == changed.balance


async def test_the_first_payment_of_the_chain_is_looked_at_too(app: App) -> None:
    authorisation = await begin(app, "PA")
    capture = await read_answered(app, await follow(app, authorisation, "CP", 4_000))
    await tamper(app, authorisation, "amount = amount + 1")

    with pytest.raises(TamperedRow, match=authorisation.id):
        await follow(app, capture, "RF", 100)


async def test_a_recovery_task_leaves_a_changed_payment_alone(app: App, wire: ScriptedWire) -> None:
    wire.script.append(Silent())
    debit = await begin(app)
    await tamper(app, debit, "amount = 1")
    sent = len(wire.sent)

    with pytest.raises(TamperedRow):
        await run_only_job(app)

    assert len(wire.sent) == sent


async def test_a_signature_depends_on_the_keys_of_the_host(app: App) -> None:
    debit = await begin(app)
    assert debit.mac is not None

    with pytest.raises(TamperedRow):
        trust(app, replace(debit, mac=bytes(len(debit.mac))))
