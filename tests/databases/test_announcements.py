"""Events of payments are counted, and announced with the payment as it was; those not passed on yet are listed."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from databases.delivery_samples import announce, make_event
from databases.samples import CHANNEL, MERCHANT, NOON, SHOP, make_completion, make_payment
from outbox import list_events
from tollgate.contract.answers import Envelope, answer_payment, render_answered
from tollgate.contract.events import render_payment_payload
from tollgate.payments.completion import Completion
from tollgate.payments.payment import Outcome, Payment, State
from tollgate.store import events
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, completion_writes, find_payment, reopen_writes, start_payment
from tollgate.values import MerchantId, make_timed_id

pytestmark = pytest.mark.anyio

ENVELOPE = Envelope("build")


def announce_completion(completion: Completion, notification_url: str | None = None) -> Completion:
    payload = render_payment_payload(render_answered(completion.payment, ENVELOPE), completion.payment, SHOP)
    return replace(completion, payload=payload, notification_url=notification_url)


def wait_for_shopper(payment: Payment) -> Completion:
    waiting: dict[str, Any] = {"state": State.WAITING, "outcome": Outcome.WAITING, "result_code": "000.200.000"}
    return announce_completion(make_completion(payment, **waiting))


async def find(db: Database, payment: Payment) -> Payment:
    found = await find_payment(db, MERCHANT, payment.id)
    assert found is not None
    return found


async def test_the_events_of_a_payment_are_counted_from_one(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)
    assert await complete_payment(db, wait_for_shopper(payment))
    waiting = await find(db, payment)
    assert await db.write(reopen_writes(waiting, NOON), label="test")
    reopened = await find(db, payment)

    assert await complete_payment(db, make_completion(reopened, completed_at=payment.created_at + 9))

    assert [(event.topic, event.sequence) for event in await list_events(db, MERCHANT)] == [
        ("payment.pending", 1),
        ("payment.succeeded", 2),
    ]
    assert [row.events for row in (payment, waiting, reopened, await find(db, payment))] == [0, 1, 1, 2]


async def test_a_waiting_payment_that_a_unit_completes_counts_on(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)
    await complete_payment(db, wait_for_shopper(payment))
    final = make_completion(await find(db, payment), completed_at=payment.created_at + 9)

    assert await db.write(completion_writes(final, expected=State.WAITING), label="test")

    assert [event.sequence for event in await list_events(db, MERCHANT)] == [1, 2]


async def test_of_completions_at_once_one_counts_and_is_announced(url: str) -> None:
    first, second = await open_database(url), await open_database(url)
    payments = [make_payment() for _ in range(5)]
    for payment in payments:
        await start_payment(first, payment, None, None)

    async def complete(db: Database, payment: Payment, after: int) -> bool:
        completed = make_completion(payment, completed_at=payment.created_at + after)
        return await complete_payment(db, announce_completion(completed))

    done = await asyncio.gather(
        *[complete(db, payment, after) for payment in payments for after, db in enumerate((first, second, first))]
    )

    written = await list_events(first, MERCHANT)
    pending = await events.list_pending(second, 100)
    await first.close()
    await second.close()
    assert done.count(True) == len(payments)
    assert {(event.subject_id, event.sequence) for event in written} == {(payment.id, 1) for payment in payments}
    assert [each.event for each in pending] == written


async def test_a_payment_is_announced_as_a_read_of_it_answers_at_that_time(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)
    await complete_payment(db, wait_for_shopper(payment))
    waiting = await find(db, payment)
    first = orjson.loads(answer_payment(waiting, ENVELOPE).body)
    final = make_completion(waiting, completed_at=payment.created_at + 9)
    await db.write(completion_writes(announce_completion(final), expected=State.WAITING), label="test")
    second = orjson.loads(answer_payment(await find(db, payment), ENVELOPE).body)

    payloads = [orjson.loads(each.announcement.payload or b"") for each in await events.list_pending(db, 10)]

    assert first["result"] != second["result"]
    for payload, read in zip(payloads, (first, second), strict=True):
        assert {name: payload[name] for name in read} == read
        assert payload["authentication"] == {"entityId": CHANNEL}
        assert (payload["presentationAmount"], payload["presentationCurrency"]) == ("92.00", "EUR")
        assert (payload["channelName"], payload["source"], payload["shortId"]) == ("Shop", "SYSTEM", payment.short_id)


async def test_an_announcement_is_read_back_with_its_type_and_notification(db: Database) -> None:
    payment = make_payment(payment_type="PA")
    await start_payment(db, payment, None, None)
    completion = announce_completion(make_completion(payment), "https://shop.example/notify")

    await complete_payment(db, completion)

    [found] = await events.list_pending(db, 10)
    assert found.announcement == events.Announcement(
        id=make_timed_id(payment.created_at + 5, payment.id),
        merchant_id=MERCHANT,
        subject_id=payment.id,
        channel_id=CHANNEL,
        payment_type="PA",
        created_at=payment.created_at + 5,
        payload=completion.payload,
        notification_url="https://shop.example/notify",
    )
    assert (found.event.topic, found.event.id) == ("payment.authorized", found.announcement.id)


async def test_a_payment_that_nobody_is_told_of_is_not_announced(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)
    await complete_payment(db, make_completion(payment))

    assert await events.list_pending(db, 10) == []
    assert len(await list_events(db, MERCHANT)) == 1


async def test_pending_announcements_are_listed_oldest_first_until_they_are_passed_on(db: Database) -> None:
    ids = await announce(db, *[make_event() for _ in range(4)])
    assert [each.event.id for each in await events.list_pending(db, 3)] == ids[:3]

    for _ in range(2):
        await db.write(events.pass_on_writes(MERCHANT, ids[:2]), label="test")
    await db.write(events.pass_on_writes(MerchantId("8a" + "9" * 30), ids), label="test")

    assert [each.event.id for each in await events.list_pending(db, 10)] == ids[2:]


async def test_a_payload_is_filled_in_once(db: Database) -> None:
    await announce(db, make_event())
    [announced] = await events.list_pending(db, 10)
    assert announced.announcement.payload is None

    for payload in (b'{"version":1}', b'{"version":2}'):
        await db.write(events.fill_payload_writes(announced.announcement, payload), label="test")

    found = await events.find_announcement(db, MERCHANT, announced.event.id)
    assert found is not None
    assert found.payload == b'{"version":1}'


async def test_the_events_of_a_merchant_are_listed_by_their_ids(db: Database) -> None:
    ids = await announce(db, *[make_event() for _ in range(4)])
    await announce(db, make_event(merchant_id=MerchantId("8a" + "9" * 30)))

    found = await events.list_events(db, MERCHANT, ids[0], ids[3], 10)
    assert [event.id for event in found] == ids[1:3]
    newest = await events.list_events(db, MERCHANT, "", events.AFTER_ALL, 2, is_newest_first=True)
    assert [event.id for event in newest] == [ids[3], ids[2]]
