"""Events to be delivered are found among many rows that are over, by the indexes that hold nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import sqlalchemy as sa

from databases.auditing import run
from databases.delivery_samples import ENDPOINT, add_endpoint, announce, lease, make_event, queue
from databases.samples import CHANNEL, MERCHANT, NOON
from tollgate.store import deliveries, events
from tollgate.store.database import Database
from tollgate.store.statements import Dialect, Statement

pytestmark = pytest.mark.anyio

MANY = 20_000
_NUMBERS = f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY})"
_ANNOUNCED = f"""{_NUMBERS} INSERT INTO announcements
(merchant_id, id, subject_id, channel_id, payment_type, created_at, is_pending)
SELECT '{MERCHANT}', 'id-' || n, 'subject-' || n, '{CHANNEL}', 'DB', {NOON} + n, 0 FROM numbers"""
_DELIVERED = f"""{_NUMBERS} INSERT INTO deliveries
(merchant_id, webhook_id, subject_id, event_id, sequence, queued_at, due_at, state, tries, is_replay)
SELECT '{MERCHANT}', '{ENDPOINT.id}', 'subject-' || n, 'id-' || n, 1, {NOON} + n, {NOON} + n, 1, 1, 0 FROM numbers"""

STATEMENTS = {
    "pending announcements": events._pending,
    "busy endpoints": deliveries._busy,
    "notifications": deliveries._notifying,
    "lease": deliveries._lease,
    "lease in order": deliveries._lease_in_order,
    "oldest": deliveries._oldest_announcement,
}
PARAMS: dict[str, Any] = {
    "limit": 10,
    "now": NOON * 2,
    "wall_now": NOON,
    "webhook_id": ENDPOINT.id,
    "owner": "me",
}


@pytest.fixture
async def full(db: Database) -> Database:
    """A store in which nearly everything is over."""
    await add_endpoint(db)
    await run(db, _ANNOUNCED, _DELIVERED)
    ids = await announce(db, *[make_event() for _ in range(5)])
    await queue(db, ENDPOINT, ids[:4])
    if db.dialect is Dialect.POSTGRESQL:
        await run(db, "ANALYZE announcements", "ANALYZE deliveries", "ANALYZE webhooks")
    return db


async def count_read(db: Database, statement: Statement) -> int:
    """Runs a statement on PostgreSQL, and returns how many rows of both tables it looked at."""
    compiled = statement.compiled_for(Dialect.POSTGRESQL)
    text = compiled.text
    for place, name in enumerate(compiled.names, 1):
        text = re.sub(rf"\${place}(?!\d)", repr(PARAMS[name]), text)
    explained = Statement(sa.text(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}".replace(":", "\\:")), is_write=True)
    [[plan]] = await db.fetch(explained, {})
    return sum(_walk(json.loads(plan)[0]["Plan"]))


def _walk(node: dict[str, Any]) -> list[int]:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    looked = (node["Actual Rows"] + removed) * node["Actual Loops"] if "Relation Name" in node else 0
    return [int(looked), *[count for child in node.get("Plans", []) for count in _walk(child)]]


@pytest.mark.parametrize("name", STATEMENTS)
async def test_only_what_is_not_over_is_looked_at(full: Database, name: str) -> None:
    statement = STATEMENTS[name]
    if full.dialect is Dialect.POSTGRESQL:
        assert await count_read(full, statement) < 200
        return
    compiled = statement.compiled_for(Dialect.SQLITE)
    explained = Statement(sa.text(f"EXPLAIN QUERY PLAN {compiled.text}".replace("?", "NULL")))
    plan = [str(row[3]) for row in await full.fetch(explained, {})]
    scanned = [line for line in plan if re.match(r"(SCAN|SEARCH) (deliveries|announcements|earlier)\b", line)]
    own = ("deliveries_due", "deliveries_pending", "announcements_pending", "autoindex_deliveries_1")
    assert scanned
    assert [line for line in scanned if not any(index in line for index in own)] == []
    assert [line for line in scanned if line.startswith("SCAN") and "_pending" not in line] == []


async def test_what_is_to_be_delivered_is_found_among_it(full: Database) -> None:
    assert len(await events.list_pending(full, 10)) == 5
    assert len(await lease(full)) == 4
    assert await deliveries.find_oldest(full) is not None
