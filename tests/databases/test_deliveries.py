"""Deliveries: queued once, leased by one living worker at a time, in order where that is asked for."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from databases.delivery_samples import (
    ALIVE,
    ENDPOINT,
    add_endpoint,
    announce,
    end,
    lease,
    make_attempt,
    make_event,
    queue,
)
from databases.samples import MERCHANT, NOON
from tollgate.payments.merchants import Merchant
from tollgate.payments.webhooks import DeliveryState, WebhookState
from tollgate.store import deliveries, events
from tollgate.store.database import Database
from tollgate.store.merchants import insert_merchant
from tollgate.store.opening import open_database
from tollgate.store.webhooks import delete_webhook
from tollgate.values import DAY, MINUTE, SECOND, make_id

pytestmark = pytest.mark.anyio

DELIVERED = DeliveryState.DELIVERED


async def pass_on(db: Database, event_ids: list[str]) -> None:
    await db.write(events.pass_on_writes(MERCHANT, event_ids), label="test")


# ---- queueing ----


async def test_what_is_queued_twice_is_delivered_once_and_keeps_its_state(db: Database) -> None:
    ids = await announce(db, make_event(), make_event())
    await queue(db, ENDPOINT, ids)
    [first, _] = await lease(db)
    await end(db, first, state=DELIVERED)

    await queue(db, ENDPOINT, ids, NOON + 5)

    assert await lease(db, "other") == []
    assert await deliveries.list_states(db, ENDPOINT, ids) == {ids[0]: "delivered", ids[1]: "pending"}


async def test_a_delivery_has_the_number_and_the_time_of_its_event(db: Database) -> None:
    event = make_event(sequence=3)
    await queue(db, ENDPOINT, await announce(db, event), NOON + 7)

    [delivery] = await lease(db)

    assert (delivery.event_id, delivery.subject_id) == (event.id, event.subject_id)
    assert (delivery.sequence, delivery.queued_at, delivery.due_at) == (3, event.created_at, NOON + 7)
    assert (delivery.tries, delivery.is_replay, delivery.lease_owner) == (0, False, "me")


async def test_two_processes_that_pass_on_the_same_events_queue_each_once(url: str) -> None:
    first, second = await open_database(url), await open_database(url)
    ids = await announce(first, *[make_event() for _ in range(40)])
    endpoints = [await add_endpoint(first, id=make_id()) for _ in range(3)]

    async def pass_all_on(db: Database, some: list[str]) -> None:
        writes = [write for webhook in endpoints for write in deliveries.queue_writes(webhook, some, NOON)]
        await db.write([*writes, *events.pass_on_writes(MERCHANT, some)], label="test")

    await asyncio.gather(*[pass_all_on(db, some) for db in (first, second) for some in (ids, ids[10:], ids[::-1])])

    for webhook in endpoints:
        queued = await lease(first, webhook_id=webhook.id)
        assert sorted(each.event_id for each in queued) == sorted(ids)
    assert await events.list_pending(second, 100) == []
    await first.close()
    await second.close()


# ---- leasing ----


async def test_two_workers_never_lease_the_same_delivery(url: str) -> None:
    first, second = await open_database(url), await open_database(url)
    ids = await announce(first, *[make_event() for _ in range(60)])
    await queue(first, ENDPOINT, ids)

    async def work(db: Database, owner: str) -> list[str]:
        taken: list[str] = []
        while found := await lease(db, owner, limit=7):
            taken += [each.event_id for each in found]
        return taken

    shares = await asyncio.gather(work(first, "a"), work(second, "b"), work(first, "c"), work(second, "d"))
    await first.close()
    await second.close()

    assert sorted(event_id for share in shares for event_id in share) == sorted(ids)


async def test_those_due_first_are_leased_first_and_only_as_many_as_there_is_room_for(db: Database) -> None:
    ids = await announce(db, *[make_event() for _ in range(4)])
    for event_id, minutes in zip(ids, (3, 1, 2, 9), strict=True):
        await queue(db, ENDPOINT, [event_id], NOON + minutes * MINUTE)

    found = await lease(db, limit=2, now=NOON + 3 * MINUTE)
    more = await lease(db, "other", now=NOON + 3 * MINUTE)

    assert [[each.event_id for each in some] for some in (found, more)] == [[ids[1], ids[2]], [ids[0]]]


async def test_a_dead_workers_deliveries_are_free_when_it_was_not_heard_of_for_a_while(db: Database) -> None:
    await queue(db, ENDPOINT, await announce(db, make_event()))
    [mine] = await lease(db, "first")

    assert await lease(db, "second", wall_now=NOON + ALIVE - 1) == []
    [theirs] = await lease(db, "second", wall_now=NOON + ALIVE)

    assert (theirs.event_id, theirs.lease_owner) == (mine.event_id, "second")


async def test_a_worker_that_beats_keeps_what_it_has_leased(db: Database) -> None:
    await queue(db, ENDPOINT, await announce(db, make_event()))
    await lease(db, "first")

    await deliveries.keep_alive(db, "first", NOON + ALIVE - 1, NOON + 2 * ALIVE)

    assert await lease(db, "second", wall_now=NOON + ALIVE) == []


async def test_a_stopped_worker_gives_back_what_it_has_leased(db: Database) -> None:
    await queue(db, ENDPOINT, await announce(db, make_event()))
    [mine] = await lease(db, "first")

    await deliveries.stop_worker(db, "first")

    [theirs] = await lease(db, "second")
    assert theirs.event_id == mine.event_id


async def test_only_active_endpoints_with_something_due_and_free_are_busy(db: Database) -> None:
    states = {state: await add_endpoint(db, id=make_id(), state=state) for state in WebhookState}
    listener, idle = await add_endpoint(db, id=make_id(), is_listener=True), await add_endpoint(db, id=make_id())
    ids = await announce(db, make_event())
    for webhook in (*states.values(), listener):
        await queue(db, webhook, ids, NOON + 9)

    active = states[WebhookState.ACTIVE]
    assert await deliveries.list_busy(db, NOON + 8, NOON) == []
    assert await deliveries.list_busy(db, NOON + 9, NOON) == [(MERCHANT, active.id)]
    await queue(db, idle, ids, NOON + 10)
    await lease(db, webhook_id=active.id)
    assert await deliveries.list_busy(db, NOON + 10, NOON) == [(MERCHANT, idle.id)]


async def test_a_notification_is_busy_and_leased_like_an_endpoint(db: Database) -> None:
    await insert_merchant(db, Merchant(id=MERCHANT, name="Shop", created_at=NOON))
    event = make_event()
    await queue(db, ENDPOINT, await announce(db, event))
    [delivery] = await lease(db)
    url = "https://shop.example/notify?id=1"
    notification = replace(delivery, webhook_id=MERCHANT, url=url, lease_owner=None)
    for _ in range(2):
        await db.write(deliveries.insert_delivery_writes(notification, rows=None), label="test")

    assert await deliveries.list_busy(db, NOON + 5, NOON) == [(MERCHANT, MERCHANT)]
    [leased] = await lease(db, webhook_id=MERCHANT)
    assert (leased.url, leased.merchant_id) == (url, MERCHANT)


# ---- order ----


async def test_in_order_an_event_waits_for_the_earlier_ones_of_its_object_and_for_no_other(db: Database) -> None:
    one, two = make_event("a"), make_event("a", sequence=2)
    other = make_event("b")
    ids = await announce(db, two, one, other)
    await pass_on(db, ids)
    await queue(db, ENDPOINT, ids)

    first = await lease(db, is_ordered=True)
    assert {each.event_id for each in first} == {one.id, other.id}
    assert await lease(db, "second", is_ordered=True) == []

    [pending] = [each for each in first if each.event_id == one.id]
    waiting = await end(db, pending, due_at=NOON + 2000 * MINUTE, tries=1)
    assert waiting.lease_owner is None
    assert await lease(db, is_ordered=True) == [], "the earlier one failed and waits for its retry"

    [again] = await lease(db, now=NOON + 2000 * MINUTE, is_ordered=True)
    await end(db, again, state=DELIVERED)
    assert [each.event_id for each in await lease(db, is_ordered=True)] == [two.id]


async def test_in_order_an_event_that_was_given_up_holds_up_no_later_one(db: Database) -> None:
    one, two = make_event("a"), make_event("a", sequence=2)
    ids = await announce(db, one, two)
    await pass_on(db, ids)
    await queue(db, ENDPOINT, ids)
    [first] = await lease(db, is_ordered=True)

    await end(db, first, state=DeliveryState.FAILED)

    assert [each.event_id for each in await lease(db, is_ordered=True)] == [two.id]


async def test_in_order_an_event_waits_while_another_of_its_object_was_not_passed_on(db: Database) -> None:
    one, two = make_event("a"), make_event("a", sequence=2)
    ids = await announce(db, one, two)
    await pass_on(db, [two.id])
    await queue(db, ENDPOINT, [two.id])
    assert await lease(db, is_ordered=True) == []

    await pass_on(db, [one.id])

    assert [each.event_id for each in await lease(db, is_ordered=True)] == [two.id]
    assert await deliveries.list_states(db, ENDPOINT, ids) == {two.id: "pending"}


async def test_in_order_the_events_of_another_endpoint_do_not_count(db: Database) -> None:
    one, two = make_event("a"), make_event("a", sequence=2)
    await pass_on(db, await announce(db, one, two))
    await queue(db, replace(ENDPOINT, id=make_id()), [one.id])
    await queue(db, ENDPOINT, [two.id])

    assert [each.event_id for each in await lease(db, is_ordered=True)] == [two.id]


async def test_without_order_all_are_leased_at_once(db: Database) -> None:
    await queue(db, ENDPOINT, await announce(db, make_event("a"), make_event("a", sequence=2)))

    assert [each.sequence for each in await lease(db)] == [1, 2]


# ---- ending ----


async def test_an_ended_delivery_and_its_attempt_are_read_back(db: Database) -> None:
    event = make_event()
    await queue(db, ENDPOINT, await announce(db, event))
    [delivery] = await lease(db)
    attempt = make_attempt(delivery, status=None, failure="connection refused", is_replay=True)

    ended = await end(db, delivery, attempt, tries=1, due_at=NOON + MINUTE, status=None)

    assert ended == replace(delivery, tries=1, due_at=NOON + MINUTE, lease_owner=None)
    assert await deliveries.list_attempts(db, MERCHANT, event.id, 10) == [attempt]
    assert await deliveries.list_deliveries(db, MERCHANT, event.subject_id, event.id) == [ended]


async def test_a_worker_that_lost_its_lease_records_its_attempt_and_changes_nothing(db: Database) -> None:
    event = make_event()
    await queue(db, ENDPOINT, await announce(db, event))
    [mine] = await lease(db, "first")
    [theirs] = await lease(db, "second", wall_now=NOON + ALIVE)
    attempt = make_attempt(mine)

    assert await end(db, mine, attempt, state=DELIVERED, tries=1) == theirs

    assert await deliveries.list_attempts(db, MERCHANT, event.id, 10) == [attempt]
    assert (await end(db, theirs, state=DELIVERED)).state is DELIVERED


async def test_an_ended_delivery_does_not_end_again(db: Database) -> None:
    await queue(db, ENDPOINT, await announce(db, make_event()))
    [delivery] = await lease(db)
    ended = await end(db, delivery, state=DELIVERED, status=204)

    assert await end(db, delivery, state=DeliveryState.FAILED, status=500) == ended


# ---- age ----


async def test_the_oldest_event_that_was_not_passed_on_or_not_delivered_is_found(db: Database) -> None:
    assert await deliveries.find_oldest(db) is None
    old, young = make_event(), make_event()
    ids = await announce(db, young, old)
    assert await deliveries.find_oldest(db) == old.created_at

    await queue(db, ENDPOINT, ids)
    await pass_on(db, ids)
    assert await deliveries.find_oldest(db) == old.created_at

    leased = {each.event_id: each for each in await lease(db)}
    for event, oldest in ((old, young.created_at), (young, None)):
        await end(db, leased[event.id], state=DELIVERED)
        assert await deliveries.find_oldest(db) == oldest


async def test_old_rows_are_purged_a_batch_at_a_time_and_young_ones_stay(db: Database) -> None:
    await insert_merchant(db, Merchant(id=MERCHANT, name="Shop", created_at=NOON))
    old = [make_event() for _ in range(3)]
    young = make_event(created_at=NOON + 9 * DAY)
    await queue(db, ENDPOINT, await announce(db, *old, young))
    leased = {each.event_id: each for each in await lease(db)}
    for event in (old[0], old[1], young):
        attempt = make_attempt(leased[event.id], attempted_at=event.created_at)
        await end(db, leased[event.id], attempt, state=DELIVERED)
    before = NOON + DAY

    assert [await deliveries.purge_deliveries(db, before, 1) for _ in range(3)] == [1, 1, 0]
    assert await deliveries.list_states(db, ENDPOINT, [each.id for each in (*old, young)]) == {
        old[2].id: "pending",
        young.id: "delivered",
    }
    assert [await deliveries.purge_undelivered(db, before, 10) for _ in range(2)] == [1, 0]
    assert [await deliveries.purge_attempts(db, before, 10) for _ in range(2)] == [2, 0]
    assert len(await deliveries.list_attempts(db, MERCHANT, young.id, 10)) == 1
    assert [await events.purge_announcements(db, before, 10) for _ in range(2)] == [3, 0]
    assert await events.find_event(db, MERCHANT, old[0].id) == old[0], "the event itself is kept"


async def test_a_removed_endpoint_loses_what_was_to_be_delivered_and_no_other_does(db: Database) -> None:
    other = replace(ENDPOINT, id=make_id())
    ids = await announce(db, make_event(), make_event())
    await queue(db, ENDPOINT, ids)
    await queue(db, other, ids)
    [done, _] = await lease(db)
    await end(db, done, state=DELIVERED)

    assert await delete_webhook(db, ENDPOINT)
    # A process that does not know yet that it is gone.
    for queueing in (deliveries.queue_writes, deliveries.replay_writes):
        await db.write(queueing(ENDPOINT, ids, NOON), label="test")

    assert await deliveries.list_states(db, ENDPOINT, ids) == {done.event_id: "delivered"}
    assert len(await lease(db, webhook_id=other.id)) == 2


# ---- replays ----


async def test_a_replay_queues_what_was_delivered_given_up_or_never_sent(db: Database) -> None:
    ids = await announce(db, *[make_event() for _ in range(3)])
    await queue(db, ENDPOINT, ids[:2])
    [delivered, failed] = await lease(db)
    await end(db, delivered, state=DELIVERED, tries=1)
    await end(db, failed, state=DeliveryState.FAILED, tries=37)
    at = NOON + 40 * DAY

    await db.write(deliveries.replay_writes(ENDPOINT, ids, at), label="test")

    found = await lease(db, now=at)
    assert [each.event_id for each in found] == sorted(ids)
    assert {(each.tries, each.is_replay, each.queued_at, each.due_at) for each in found} == {(0, True, at, at)}


async def test_a_replay_of_what_is_under_way_is_sent_once_more(db: Database) -> None:
    ids = await announce(db, make_event())
    await queue(db, ENDPOINT, ids)
    [under_way] = await lease(db)

    await db.write(deliveries.replay_writes(ENDPOINT, ids, NOON + SECOND), label="test")
    stored = await end(db, under_way, make_attempt(under_way), state=DELIVERED)

    assert (stored.state, stored.is_replay) == (DeliveryState.PENDING, True)
    assert [each.event_id for each in await lease(db)] == ids
