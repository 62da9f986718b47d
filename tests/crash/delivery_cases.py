"""Gateways that die while an event is on its way to an endpoint; the receiver's record is the evidence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from crash.crashes import Crash, CrashCase, Ending, Request, describe_end, describe_store
from crash.store_reader import StoreReader
from crash.world import PATIENCE_S, World, pay, try_to
from receiving import Receiver
from tollgate.config import Settings
from tollgate.flows.webhooks import add_webhook, rotate_webhook
from tollgate.payments.webhooks import DeliveryState, WebhookState
from tollgate.store.merchants import list_channels
from tollgate.store.webhooks import list_webhooks, set_webhook_state
from tollgate.wiring import open_app

EVENT = Request("DB", title="DB whose event is delivered")
ROTATED = Request("DB", title="DB whose event is refused after a rotation")
"""The receiver refuses it until the gateway dies, so that it would be sent with the previous secret next."""

_OVERLAP_S = 24 * 60 * 60
_TIMES = {1: "heard once", 2: "heard twice"}


@dataclass(frozen=True)
class DeliveryCrash(Crash):
    @property
    def again(self) -> str:
        return ""


@dataclass
class DeliveryCase(CrashCase):
    def tell_more(self, store: StoreReader) -> list[str]:
        """Lists how far the event is on its way."""
        subject = f"SELECT id FROM payments WHERE idempotency_key = '{self.crash.key}'"
        announced = store.query(f"SELECT id FROM announcements WHERE is_pending = 1 AND subject_id IN ({subject})")
        states = store.query(f"SELECT state FROM deliveries WHERE subject_id IN ({subject})")
        told = [f"delivery {DeliveryState(int(state)).name.lower()}" for (state,) in states]
        return [*(["event announced"] if announced else []), *told]

    @property
    def ending(self) -> Ending:
        return Ending(self.rows, "")


async def _set_up_endpoint(world: World, url: str, *, is_rotated: bool = False) -> None:
    """Adds an active endpoint, or gives the one that was added new secrets beside the present ones."""
    settings = Settings(data=str(world.folder), database=world.database, key_file=str(world.folder / "keys.json"))
    app, wires = await open_app(settings, exclusive=False)
    try:
        channels = await list_channels(app.database)
        merchant_id = next(channel.merchant_id for channel in channels if channel.id == world.entity_id)
        if is_rotated:
            [webhook] = await list_webhooks(app.database, merchant_id)
            await rotate_webhook(app, webhook, _OVERLAP_S)
            return
        new = await add_webhook(app, merchant_id, url)
        assert await set_webhook_state(app.database, new.webhook, WebhookState.ACTIVE)
    finally:
        await wires.close()
        await app.database.close()


def run_delivery_crashes(world: World, receiver: Receiver, crashes: Sequence[DeliveryCrash]) -> list[DeliveryCase]:
    """Dies at every crash point, and after each lets a gateway live until nothing is left to be delivered."""
    asyncio.run(_set_up_endpoint(world, receiver.url))
    cases = [DeliveryCase(crash) for crash in crashes]
    for case in cases:
        if case.crash.request is ROTATED:
            asyncio.run(_set_up_endpoint(world, receiver.url, is_rotated=True))
            receiver.choose = lambda _number: 400
        gateway = world.make_gateway(case.crash.kill.point)
        gateway.start()
        # Whether the caller is answered before the gateway dies is chance.
        try_to(partial(pay, world.make_client(gateway), case.crash.amount or "", case.crash.key))
        gateway.wait_for_death()
        case.held.append(describe_store(world, case))
        receiver.choose = lambda _number: 200
        recovery = world.make_gateway()
        recovery.start()
        wait_until_delivered(world)
        recovery.kill()
        _look_at_the_end(world, receiver, case)
    return cases


def wait_until_delivered(world: World) -> None:
    """Waits until every event was passed on and every delivery has ended."""
    deadline = time.monotonic() + PATIENCE_S
    left = "SELECT event_id FROM deliveries WHERE state = 0 UNION ALL SELECT id FROM announcements WHERE is_pending = 1"
    while found := world.store.query(left):
        assert time.monotonic() < deadline, f"after {PATIENCE_S} s still {found}"
        time.sleep(0.1)


def _look_at_the_end(world: World, receiver: Receiver, case: DeliveryCase) -> None:
    case.records = case.find_records(world.store.read_payments())
    [record] = case.records
    paid = describe_end(record, world.acquirer.read_ledger().get(record.id))
    [event_id] = [event_id for event_id in receiver.count_events() if event_id.endswith(record.id)]
    times = receiver.count_events()[event_id]
    case.rows = "; ".join([paid, *case.tell_more(world.store), _TIMES.get(times, f"heard {times} times")])
