"""The audit of what is still to be delivered: each announcement and delivery has its event."""

from __future__ import annotations

import pytest

from databases.auditing import audit, tamper
from databases.delivery_samples import ENDPOINT, announce, end, lease, make_event, queue
from databases.samples import MERCHANT
from tollgate.flows.auditing import AuditReport
from tollgate.payments.webhooks import DeliveryState
from tollgate.store import events
from tollgate.store.audit import count_rows
from tollgate.store.database import Database
from tollgate.vault.keyring import make_keyring

pytestmark = pytest.mark.anyio


def list_own(report: AuditReport) -> list[tuple[str, str, str]]:
    """Lists what was found about announcements and deliveries; the events of these tests are about nothing."""
    own = [finding for finding in report.findings if finding.table in ("announcements", "deliveries")]
    return [(finding.table, finding.row_id, finding.text) for finding in own]


async def test_what_is_to_be_delivered_passes_and_is_counted(db: Database) -> None:
    ids = await announce(db, *[make_event() for _ in range(3)])
    await queue(db, ENDPOINT, ids)
    await db.write(events.pass_on_writes(MERCHANT, ids[1:]), label="test")

    report = await audit(db, make_keyring())

    assert list_own(report) == []
    assert report.rows == {"outbox": 3, "announcements": 1, "deliveries": 3, "webhooks": 1}
    assert report.rows == {table: count for table, count in (await count_rows(db)).items() if count}


async def test_an_announcement_or_delivery_without_its_event_is_found(db: Database) -> None:
    [event_id] = await announce(db, make_event())
    await queue(db, ENDPOINT, [event_id])

    await tamper(db, "DELETE FROM outbox WHERE id = :id", id=event_id)

    report = await audit(db, make_keyring())
    text = f"there is no event {event_id}"
    assert list_own(report) == [
        ("announcements", event_id, text),
        ("deliveries", f"{ENDPOINT.id}/{event_id}", text),
    ]


async def test_what_is_over_needs_no_event(db: Database) -> None:
    [event_id] = await announce(db, make_event())
    await queue(db, ENDPOINT, [event_id])
    await db.write(events.pass_on_writes(MERCHANT, [event_id]), label="test")
    [delivery] = await lease(db)
    await end(db, delivery, state=DeliveryState.DELIVERED)

    await tamper(db, "DELETE FROM outbox WHERE id = :id", id=event_id)

    assert list_own(await audit(db, make_keyring())) == []
