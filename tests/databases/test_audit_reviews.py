"""The audit of reviews, on both databases: it passes what happened, and finds what a hand did to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa

from databases.auditing import Stock, audit, make_stock, put_back, tamper
from databases.lives import NEIGHBOUR
from databases.review_lives import live_through_reviews
from databases.review_tamperings import COLUMNS, REVIEW_TAMPERINGS
from databases.tamperings import OTHER, Tampering
from tollgate.payments.reviews import Review, ReviewState
from tollgate.store.database import Database
from tollgate.store.statements import Statement

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def stock(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(request, tmp_path_factory, live_through_reviews)


@pytest.fixture
async def store(stock: Stock) -> AsyncIterator[Database]:
    async with put_back(stock) as database:
        yield database


async def test_everything_that_happens_to_reviews_passes(store: Database, stock: Stock) -> None:
    report = await audit(store, stock.keyring)

    states = await store.fetch(Statement(sa.text("SELECT DISTINCT state FROM reviews")), {})
    assert [finding.render() for finding in report.findings] == []
    assert report.rows["reviews"] == 8
    assert {row[0] for row in states} == set(ReviewState)


@pytest.mark.parametrize("tampering", REVIEW_TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_what_a_hand_did_is_found_and_named(store: Database, stock: Stock, tampering: Tampering) -> None:
    ids = {"id": stock.ids[tampering.on], "other": OTHER, "neighbour": NEIGHBOUR.id}
    await tamper(store, tampering.sql, tampering.rows, **ids)

    report = await audit(store, stock.keyring)

    row_id = tampering.row_id or stock.ids[tampering.on]
    received = [finding for finding in report.findings if finding.proof is tampering.proof]
    shown = [f"{finding.proof}: {finding.render()}" for finding in report.findings]
    assert [f for f in received if f.table == tampering.table and row_id in f.row_id], shown
    # Rows that were not changed have no findings.
    assert report.findings_count <= 4, shown


def test_there_is_a_tampering_for_every_column_that_is_audited() -> None:
    assert set(COLUMNS) == set(Review.__struct_fields__) - {"note"}
