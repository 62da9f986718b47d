"""Events delivered again on request: which ones, marked as replays, and recorded."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tollgate.flows.deliver import deliver
from tollgate.flows.replays import EventFilter, list_replayed, replay, walk_events
from tollgate.operations.app import App
from tollgate.store.replays import list_replays
from tollgate.values import HOUR
from tollgate.wire import Received
from unit.app_fixture import MERCHANT, NOW
from unit.flows.chains import begin, follow
from unit.flows.delivering import (
    RecordingNotifier,
    add_active,
    deliver_all,
    equip,
    lease,
    list_attempts,
    move_to,
    open_sent,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def equipped(app: App) -> tuple[App, RecordingNotifier]:
    return equip(app)


async def test_a_replay_has_the_same_event_id_and_payload_and_is_marked_and_recorded(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    new = await add_active(app)
    await begin(app)
    [first] = await deliver_all(app, new.webhook)
    wanted = EventFilter(types=("PAYMENT",))
    ids = await list_replayed(app, new.webhook, wanted)
    assert ids == [first.record.event_id]

    move_to(app, NOW + HOUR)
    assert await replay(app, new.webhook, ids, requested_by="operator", wanted=wanted) == 1
    [again] = await deliver_all(app, new.webhook)

    one, two = notifier.sent
    assert (one.headers["webhook-id"], two.headers["Webhook-Replay"]) == (two.headers["webhook-id"], "true")
    assert open_sent(one, new.secrets.secret) == open_sent(two, new.secrets.secret)
    assert [record.is_replay for record in await list_attempts(app, again.record.event_id)] == [False, True]
    [record] = await list_replays(app.database)
    assert (record.requested_by, record.requested_at, record.deliveries) == ("operator", NOW + HOUR, 1)
    assert orjson.loads(record.filter) == {"types": ["PAYMENT"]}


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({}, 3),
        ({"types": ("payment.refunded",)}, 1),
        ({"types": ("REGISTRATION",)}, 0),
        ({"since": NOW + HOUR}, 2),
        ({"until": NOW + HOUR}, 1),
        ({"since": NOW, "until": NOW + 2 * HOUR}, 2),
        ({"status": "delivered"}, 1),
        ({"status": "pending"}, 1),
        ({"status": "never"}, 1),
        ({"status": "failed"}, 0),
    ],
)
async def test_a_replay_is_chosen_by_type_time_and_status(
    equipped: tuple[App, RecordingNotifier], wanted: dict[str, Any], count: int
) -> None:
    """The first event was delivered, the second failed once, and the third came when nobody listened."""
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    first = await begin(app)
    await deliver_all(app, webhook)
    move_to(app, NOW + HOUR)
    await begin(app)
    [delivery] = await lease(app, webhook)
    notifier.script = [Received(500)]
    await deliver(app, delivery, webhook)
    app.merchants.fill([app.merchants.get_channel(first.channel_id)], [])
    move_to(app, NOW + 2 * HOUR)
    await follow(app, first, "RF", 100)

    assert len(await list_replayed(app, webhook, EventFilter(**wanted))) == count


async def test_one_subject_is_chosen_by_its_id(equipped: tuple[App, RecordingNotifier]) -> None:
    app, _ = equipped
    webhook = (await add_active(app)).webhook
    first, _ = await begin(app), await begin(app)

    wanted = EventFilter(subject_id=first.id)
    assert len(await list_replayed(app, webhook, wanted)) == 1
    assert [event.subject_id async for page in walk_events(app, MERCHANT.id, wanted) for event in page] == [first.id]
