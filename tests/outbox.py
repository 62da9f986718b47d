"""Events as the tests read them."""

from __future__ import annotations

from tollgate.store import audit
from tollgate.store.database import Database
from tollgate.store.events import Event
from tollgate.values import MerchantId


async def list_events(db: Database, merchant_id: MerchantId) -> list[Event]:
    """Lists a merchant's events in the order of their time."""
    return [event async for page in audit.EVENTS.walk(db) for event in page if event.merchant_id == merchant_id]
