"""The audit of what is still to be delivered: each announcement and delivery has its event."""

from __future__ import annotations

import pytest

from databases.auditing import audit, tamper
from databases.delivery_samples import ENDPOINT, announce, end, lease, make_event, queue
from databases.samples import MERCHANT
from tollgate.payments.webhooks import DeliveryState
from tollgate.store import events
from tollgate.store.audit import count_rows
from tollgate.store.database import Database
from tollgate.vault.keyring import make_keyring

pytestmark = pytest.mark.anyio

SCHEDULE = "schedule.created"
"""An event that the audit does not compare with its subject."""


async def test_what_is_to_be_delivered_passes_and_is_counted(db: Database) -> None:
    ids = await announce(db, *[make_event(topic=SCHEDULE) for _ in range(3)])
    await queue(db, ENDPOINT, ids)
    await db.write(events.pass_on_writes(MERCHANT, ids[1:]), label="test")

    report = await audit(db, make_keyring())

    assert report.findings_count == 0
    assert report.rows == {"outbox": 3, "announcements": 1, "deliveries": 3}
    assert report.rows == {table: count for table, count in (await count_rows(db)).items() if count}


async def test_an_announcement_or_delivery_without_its_event_is_found(db: Database) -> None:
    [event_id] = await announce(db, make_event(topic=SCHEDULE))
    await queue(db, ENDPOINT, [event_id])

    await tamper(db, "DELETE FROM outbox WHERE id = :id", id=event_id)

    report = await audit(db, make_keyring())
    text = f"there is no event {event_id}"
    assert [(finding.table, finding.row_id, finding.text) for finding in report.findings] == [
        ("announcements", event_id, text),
        ("deliveries", f"{ENDPOINT.id}/{event_id}", text),
    ]


async def test_what_is_over_needs_no_event(db: Database) -> None:
    [event_id] = await announce(db, make_event(topic=SCHEDULE))
    await queue(db, ENDPOINT, [event_id])
    await db.write(events.pass_on_writes(MERCHANT, [event_id]), label="test")
    [delivery] = await lease(db)
    await end(db, delivery, state=DeliveryState.DELIVERED)

    await tamper(db, "DELETE FROM outbox WHERE id = :id", id=event_id)

    assert (await audit(db, make_keyring())).findings_count == 0
