"""The audit of rows of payment methods, on both databases: it passes what happened, and finds tampering."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from databases.auditing import Stock, act_between_reads, audit, make_stock, put_back, read_plan, tamper
from databases.lives import NEIGHBOUR
from databases.method_lives import live_through_methods
from databases.method_tamperings import AUTHENTICATIONS, FILES, INSTRUCTIONS, METHOD_TAMPERINGS
from databases.tamperings import OTHER, Tampering
from tollgate.payments.authentication import AuthenticationRow, Stage
from tollgate.store import audit as walking
from tollgate.store.authentications import close_authentication_writes
from tollgate.store.bank_files import BankFile
from tollgate.store.database import Database
from tollgate.store.instructions import Instruction, InstructionState
from tollgate.store.payments import find_payment
from tollgate.store.statements import Statement
from tollgate.values import MerchantId, PaymentId

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def stock(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(request, tmp_path_factory, live_through_methods)


@pytest.fixture
async def store(stock: Stock) -> AsyncIterator[Database]:
    async with put_back(stock) as database:
        yield database


async def test_everything_that_methods_do_passes(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "PAGE", 2)

    report = await audit(store, stock.keyring)

    assert [finding.render() for finding in report.findings] == []
    walked = {table: report.rows[table] for table in ("authentications", "instructions", "bank_files")}
    assert walked == {"authentications": 3, "instructions": 10, "bank_files": 2}
    assert report.rows == {table: count for table, count in (await walking.count_rows(store)).items() if count}


async def test_the_store_of_these_tests_has_every_state_of_what_is_audited(store: Database) -> None:
    states = await store.fetch(Statement(sa.text("SELECT DISTINCT state FROM instructions")), {})
    stages = await store.fetch(Statement(sa.text("SELECT DISTINCT stage FROM authentications")), {})

    assert {row[0] for row in states} == set(InstructionState)
    assert {row[0] for row in stages} == {Stage.CHALLENGED, Stage.CLOSED}


@pytest.mark.parametrize("tampering", METHOD_TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_what_a_hand_did_is_found_and_named(store: Database, stock: Stock, tampering: Tampering) -> None:
    ids = {"id": stock.ids[tampering.on], "other": OTHER, "neighbour": NEIGHBOUR.id}
    await tamper(store, tampering.sql, tampering.rows, **ids)

    report = await audit(store, stock.keyring)

    row_id = stock.ids.get(tampering.row_id, tampering.row_id) or stock.ids[tampering.on]
    received = [finding for finding in report.findings if finding.proof is tampering.proof]
    shown = [f"{finding.proof}: {finding.render()}" for finding in report.findings]
    assert [f for f in received if f.table == tampering.table and row_id in f.row_id], shown
    # Rows that were not changed have no findings.
    assert report.findings_count <= 10, shown


async def test_there_is_a_tampering_for_every_column_that_is_audited() -> None:
    by_file = {"due_on", "sequence"}
    unproven = {"mandate_id", "signed_on", "purpose", "created_at", "exported_at"}
    assert set(INSTRUCTIONS) == set(Instruction.__struct_fields__) - by_file - unproven
    assert set(FILES) == set(BankFile.__struct_fields__) - unproven
    assert set(AUTHENTICATIONS) == set(AuthenticationRow.__struct_fields__)


async def test_a_secret_that_is_wiped_while_its_payment_is_read_is_no_finding(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is read with its secret, then the payment ends, then the payment is read."""

    async def end_meanwhile(merchant_id: MerchantId) -> None:
        waiting = PaymentId(stock.ids["challenged"])
        await tamper(store, "UPDATE payments SET state = 2 WHERE id = :id", id=waiting)
        payment = await find_payment(store, merchant_id, waiting)
        assert payment is not None
        assert await store.write(close_authentication_writes(payment), label="test")

    act_between_reads(monkeypatch, "authentications", end_meanwhile)

    report = await audit(store, stock.keyring)

    assert [finding.render() for finding in report.findings if finding.table == "authentications"] == []


WALKS = [
    (walking.AUTHENTICATIONS.page, "authentications USING INDEX sqlite_autoindex_authentications_1"),
    (walking.AUTHENTICATIONS.by_ids, "authentications USING INDEX sqlite_autoindex_authentications_1"),
    (walking.INSTRUCTIONS.page, "instructions USING INDEX sqlite_autoindex_instructions_1"),
    (walking.INSTRUCTIONS.by_ids, "instructions USING INDEX sqlite_autoindex_instructions_1"),
    (walking.FILES.page, "bank_files USING INDEX sqlite_autoindex_bank_files_1"),
    (walking.FILES.ids, "bank_files USING COVERING INDEX sqlite_autoindex_bank_files_1"),
    (walking._groups, "instructions USING INDEX instructions_by_file"),
]


@pytest.mark.parametrize(("statement", "way"), WALKS)
async def test_every_page_is_found_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    plan = await read_plan(tmp_path, statement)

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [line for line in plan if line.startswith("SCAN")]
