"""The audit of registrations and schedules, on both databases: it passes what happened, and finds tampering."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from databases.auditing import Stock, act_between_reads, audit, make_stock, put_back, read_plan, tamper
from databases.lives import NEIGHBOUR
from databases.registration_lives import live_through_registrations
from databases.registration_tamperings import COLUMNS, NOT_AUDITED, REGISTRATION_TAMPERINGS
from databases.schedule_tamperings import NOT_AUDITED as NOT_AUDITED_OF_SCHEDULES
from databases.schedule_tamperings import RUNS, SCHEDULE_TAMPERINGS, SCHEDULES
from databases.tamperings import OTHER, Tampering
from tollgate.payments.registration import RegistrationState
from tollgate.payments.schedule import RunState
from tollgate.store import audit as walking
from tollgate.store.database import Database
from tollgate.store.schema import registrations, schedule_runs, schedules
from tollgate.store.statements import Statement
from tollgate.values import MerchantId

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def stock(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(request, tmp_path_factory, live_through_registrations)


@pytest.fixture
async def store(stock: Stock) -> AsyncIterator[Database]:
    async with put_back(stock) as database:
        yield database


async def test_everything_that_happens_to_registrations_passes(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "PAGE", 2)

    report = await audit(store, stock.keyring)

    assert [finding.render() for finding in report.findings] == []
    walked = {table: report.rows[table] for table in ("registrations", "schedules", "schedule_runs")}
    assert walked == {"registrations": 9, "schedules": 2, "schedule_runs": 7}
    assert report.rows == {table: count for table, count in (await walking.count_rows(store)).items() if count}


async def test_the_store_of_these_tests_has_every_state(store: Database) -> None:
    states = await store.fetch(Statement(sa.text("SELECT DISTINCT state FROM registrations")), {})

    runs = await store.fetch(Statement(sa.text("SELECT DISTINCT state FROM schedule_runs")), {})

    assert {row[0] for row in states} == set(RegistrationState)
    assert {row[0] for row in runs} == {RunState.MADE, RunState.MISSED, RunState.FAILED}


@pytest.mark.parametrize(
    "tampering", [*REGISTRATION_TAMPERINGS, *SCHEDULE_TAMPERINGS], ids=lambda tampering: tampering.name
)
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


async def test_every_column_is_tampered_with_or_known_to_be_unproven() -> None:
    assert set(COLUMNS) | NOT_AUDITED == {column.name for column in registrations.columns}
    assert not set(COLUMNS) & NOT_AUDITED
    for tamperings, table in ((SCHEDULES, schedules), (RUNS, schedule_runs)):
        assert set(tamperings) == {column.name for column in table.columns} - NOT_AUDITED_OF_SCHEDULES


async def test_one_that_is_decided_while_its_payment_is_read_is_no_finding(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is read as waiting, then its payment ends, then the payment is read."""
    waiting_id = stock.ids["waiting"]
    maker = "(SELECT made_by FROM registrations WHERE id = :id)"
    looks = 0

    async def end_meanwhile(_merchant_id: MerchantId) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            await tamper(store, f"UPDATE payments SET state = 2 WHERE id = {maker}", id=waiting_id)
            ended = "state = 2, sealed_account = NULL, fingerprint = NULL"
            await tamper(store, f"UPDATE registrations SET {ended} WHERE id = :id", id=waiting_id)

    act_between_reads(monkeypatch, "registrations", end_meanwhile)

    report = await audit(store, stock.keyring)

    assert looks > 1
    assert [finding.render() for finding in report.findings if finding.table == "registrations"] == []


WALKS = [
    (walking.REGISTRATIONS.page, "registrations USING INDEX sqlite_autoindex_registrations_1"),
    (walking.REGISTRATIONS.by_ids, "registrations USING INDEX sqlite_autoindex_registrations_1"),
    (walking.REGISTRATIONS.ids, "registrations USING COVERING INDEX sqlite_autoindex_registrations_1"),
    (walking.SCHEDULES.page, "schedules USING INDEX sqlite_autoindex_schedules_1"),
    (walking.SCHEDULES.by_ids, "schedules USING INDEX sqlite_autoindex_schedules_1"),
    (walking.SCHEDULES.ids, "schedules USING COVERING INDEX sqlite_autoindex_schedules_1"),
    (walking.RUNS.page, "schedule_runs USING INDEX sqlite_autoindex_schedule_runs_1"),
    (walking._announced, "outbox USING PRIMARY KEY (merchant_id=? AND id>?)"),
]


@pytest.mark.parametrize(("statement", "way"), WALKS)
async def test_every_page_is_found_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    plan = await read_plan(tmp_path, statement)

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [line for line in plan if line.startswith("SCAN")]
