"""The audit of checkouts, on both databases: it passes what happened, and finds what a hand did."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from databases.auditing import Stock, act_between_reads, audit, make_stock, put_back, read_plan, tamper
from databases.checkout_lives import live_through_checkouts
from databases.checkout_tamperings import CHECKOUT_TAMPERINGS, COLUMNS, NOT_AUDITED
from databases.lives import NEIGHBOUR
from databases.tamperings import OTHER, Tampering
from tollgate.payments.checkout import CheckoutState
from tollgate.store import audit as walking
from tollgate.store.database import Database
from tollgate.store.schema import checkouts
from tollgate.store.statements import Statement
from tollgate.values import MerchantId

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def stock(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(request, tmp_path_factory, live_through_checkouts)


@pytest.fixture
async def store(stock: Stock) -> AsyncIterator[Database]:
    async with put_back(stock) as database:
        yield database


async def test_everything_that_happens_to_checkouts_passes(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "PAGE", 2)
    states = {row[0] for row in await store.fetch(Statement(sa.text("SELECT DISTINCT state FROM checkouts")), {})}

    report = await audit(store, stock.keyring)

    assert [finding.render() for finding in report.findings] == []
    assert states == set(CheckoutState)
    assert report.rows["checkouts"] == 12
    assert report.rows == {table: count for table, count in (await walking.count_rows(store)).items() if count}


@pytest.mark.parametrize("tampering", CHECKOUT_TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_what_a_hand_did_is_found_and_named(store: Database, stock: Stock, tampering: Tampering) -> None:
    ids = {"id": stock.ids[tampering.on], "other": OTHER, "neighbour": NEIGHBOUR.id}
    await tamper(store, tampering.sql, tampering.rows, **ids)

    report = await audit(store, stock.keyring)

    row_id = tampering.row_id or stock.ids[tampering.on]
    shown = [f"{finding.proof}: {finding.render()}" for finding in report.findings]
    received = [each for each in report.findings if (each.proof, each.table) == (tampering.proof, tampering.table)]
    assert [finding for finding in received if row_id in finding.row_id], shown
    assert report.findings_count <= 10, shown


async def test_every_column_is_tampered_with_or_known_to_be_unproven() -> None:
    assert set(COLUMNS) | NOT_AUDITED == {column.name for column in checkouts.columns}
    assert not set(COLUMNS) & NOT_AUDITED


async def test_a_checkout_that_is_forgotten_is_missed_by_nobody(store: Database, stock: Stock) -> None:
    await tamper(store, "DELETE FROM checkouts", rows=12)

    assert (await audit(store, stock.keyring)).findings_count == 0


async def test_one_whose_payment_ends_while_it_is_read_is_no_finding(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkout is read as held, then its payment ends, then the payment is read."""
    looks = 0

    async def end_meanwhile(_merchant_id: MerchantId) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            await tamper(store, "UPDATE payments SET state = 2 WHERE id = :id", id=stock.ids["payment of held"])
            await tamper(store, "UPDATE checkouts SET state = 0 WHERE id = :id", id=stock.ids["held"])

    act_between_reads(monkeypatch, "checkouts", end_meanwhile)

    report = await audit(store, stock.keyring)

    assert looks > 1
    assert [finding.render() for finding in report.findings if finding.table == "checkouts"] == []


@pytest.mark.parametrize("statement", [walking.CHECKOUTS.page, walking.CHECKOUTS.by_ids])
async def test_every_page_is_found_by_an_index(tmp_path: Path, statement: Statement) -> None:
    plan = await read_plan(tmp_path, statement)

    assert plan[0].startswith("SEARCH checkouts USING INDEX sqlite_autoindex_checkouts_1")
    assert not [line for line in plan if line.startswith("SCAN")]
