"""One attempt to deliver an event: what an answer means for the delivery, its endpoint and the record."""

from __future__ import annotations

from email.utils import format_datetime

import orjson
import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.flows import webhooks
from tollgate.flows.deliver import deliver, pass_on_announcements, postpone, read_retry_after
from tollgate.hosting.log import JsonLines
from tollgate.operations.app import App
from tollgate.payments.webhooks import Delivery, DeliveryState, Scheme, WebhookState
from tollgate.store import deliveries
from tollgate.store.events import Event, append_event_writes
from tollgate.store.webhooks import find_webhook
from tollgate.values import DAY, MINUTE, SECOND, Refusal, make_timed_id, to_datetime
from tollgate.wire import Forbidden, Received, Silent, Unsent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows.chains import PENDING, begin, follow
from unit.flows.delivering import (
    URL,
    RecordingNotifier,
    add_active,
    deliver_all,
    equip,
    lease,
    list_attempts,
    look_at,
    look_at_delivery,
    move_to,
    open_sent,
)
from unit.flows.shopping import run_due

pytestmark = pytest.mark.anyio

Equipped = tuple[App, RecordingNotifier]


@pytest.fixture
def equipped(app: App) -> Equipped:
    return equip(app)


async def fail_once(equipped: Equipped, answer: Received | Exception) -> Delivery:
    """Makes a payment, delivers its event with this answer, and returns the delivery as it is then."""
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    await begin(app)
    [delivery] = await lease(app, webhook)
    notifier.script = [answer]
    await deliver(app, delivery, webhook)
    return await look_at_delivery(app, delivery)


# ---- what an answer means ----


@pytest.mark.parametrize("status", [200, 201, 204, 299])
async def test_an_answer_of_2xx_is_a_success(equipped: Equipped, status: int) -> None:
    ended = await fail_once(equipped, Received(status, b"thanks"))

    assert (ended.state, ended.tries, ended.status, ended.lease_owner) == (DeliveryState.DELIVERED, 1, status, None)
    [record] = await list_attempts(equipped[0], ended.event_id)
    assert (record.status, record.answer, record.failure, record.attempted_at) == (status, b"thanks", "", NOW)
    assert equipped[1].timeouts_s == [LIMITS.webhook_timeout_s] == [30.0]


@pytest.mark.parametrize(
    ("answer", "status", "failure"),
    [
        (Received(199), 199, "answered 199"),
        (Received(301), 301, "answered 301"),
        (Received(302), 302, "answered 302"),
        (Received(404), 404, "answered 404"),
        (Received(500, b"oops"), 500, "answered 500"),
        (Silent("no answer within 30 s"), None, "no answer within 30 s"),
        (Unsent("connection refused"), None, "connection refused"),
        (Forbidden("address 10.0.0.1 is private"), None, "address 10.0.0.1 is private"),
        (Silent(), None, "silent"),
    ],
)
async def test_any_other_answer_is_recorded_and_tried_again_in_a_minute(
    equipped: Equipped, answer: Received | Exception, status: int | None, failure: str
) -> None:
    ended = await fail_once(equipped, answer)

    assert (ended.state, ended.tries, ended.status) == (DeliveryState.PENDING, 1, status)
    assert (ended.due_at, ended.lease_owner) == (NOW + MINUTE, None)
    [record] = await list_attempts(equipped[0], ended.event_id)
    assert (record.status, record.failure) == (status, failure)
    assert len(equipped[1].sent) == 1, "no redirect is followed"


@pytest.mark.parametrize(
    ("header", "pause_s"),
    [
        (None, 60),
        ("120", 120),
        ("5", 60),
        (format_datetime(to_datetime(NOW + 600 * SECOND), usegmt=True), 600),
        (format_datetime(to_datetime(NOW - 600 * SECOND), usegmt=True), 60),
        ("999999999", 86400),
        ("soon", 60),
        ("-5", 60),
        ("", 60),
    ],
)
async def test_a_receiver_may_say_when_to_come_again(equipped: Equipped, header: str | None, pause_s: int) -> None:
    ended = await fail_once(equipped, Received(503, retry_after=header))

    assert ended.due_at == NOW + pause_s * SECOND


def test_a_date_to_come_again_is_read_by_the_wall_clock() -> None:
    assert read_retry_after("Sun, 15 Nov 2026 12:10:00 GMT", NOW) == 600
    assert read_retry_after("Sun, 15 Nov 2026 11:10:00 GMT", NOW) == 0


async def test_an_endpoint_has_its_own_pauses_and_gives_up_at_thirty_days(equipped: Equipped) -> None:
    app, notifier = equipped
    webhook = (await add_active(app, retries_s=(10, 20 * 86400))).webhook
    await begin(app)
    ended: list[Delivery] = []
    for at in (NOW, NOW + 10 * SECOND, NOW + 10 * SECOND + 20 * DAY):
        if ended:
            move_to(app, at - 1)
            assert await lease(app, webhook) == []
        move_to(app, at)
        notifier.script = [Received(500)]
        [delivery] = await lease(app, webhook)
        await deliver(app, delivery, webhook)
        ended.append(await look_at_delivery(app, delivery))

    assert [each.state for each in ended] == [DeliveryState.PENDING, DeliveryState.PENDING, DeliveryState.FAILED]
    assert [each.due_at for each in ended[:2]] == [NOW + 10 * SECOND, NOW + 10 * SECOND + 20 * DAY]
    move_to(app, NOW + 100 * DAY)
    assert await lease(app, webhook) == []


async def test_410_disables_the_endpoint_and_keeps_its_events_until_a_test_is_answered(equipped: Equipped) -> None:
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    await begin(app)
    notifier.script = [Received(410)]
    [attempted] = await deliver_all(app, webhook)

    disabled = await look_at(app, webhook)
    assert (disabled.state, disabled.reason) == (WebhookState.DISABLED, "the receiver answered 410")
    await begin(app)
    await pass_on_announcements(app)
    assert await deliveries.list_busy(app.database, NOW + DAY, NOW) == []

    assert (await webhooks.test_webhook(app, disabled)).is_success
    active = await look_at(app, webhook)
    assert (active.state, active.reason) == (WebhookState.ACTIVE, "")
    move_to(app, NOW + MINUTE)
    again = await deliver_all(app, active)
    assert [each.is_success for each in again] == [True, True]
    assert attempted.record.event_id in {each.record.event_id for each in again}


async def test_the_first_4_kib_of_the_answer_and_the_request_headers_are_recorded(equipped: Equipped) -> None:
    ended = await fail_once(equipped, Received(500, b"x" * 4096))

    [record] = await list_attempts(equipped[0], ended.event_id)
    assert record.answer == b"x" * 4096
    assert orjson.loads(record.request_headers) == equipped[1].sent[0].headers


async def test_each_attempt_has_the_same_event_id_and_an_iv_of_its_own(equipped: Equipped) -> None:
    app, notifier = equipped
    new = await add_active(app)
    await begin(app)
    notifier.script = [Received(500)]
    await deliver_all(app, new.webhook)
    move_to(app, NOW + MINUTE)
    await deliver_all(app, new.webhook)

    first, second = notifier.sent
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["X-Initialization-Vector"] != second.headers["X-Initialization-Vector"]
    assert open_sent(first, new.secrets.secret) == open_sent(second, new.secrets.secret)
    assert (first.url, first.method) == (URL, "POST")


async def test_a_failure_is_logged_with_its_endpoint_and_event(
    equipped: Equipped, caplog: pytest.LogCaptureFixture
) -> None:
    ended = await fail_once(equipped, Received(500))

    [line] = [JsonLines().format(record) for record in caplog.records]
    logged = orjson.loads(line)
    assert (logged["event"], logged["failure"], logged["try"]) == ("webhook delivery failed", "answered 500", 1)
    assert (logged["webhook"], logged["event_id"]) == (ended.webhook_id, ended.event_id)


async def test_an_attempt_that_broke_is_tried_again_by_the_same_table(equipped: Equipped) -> None:
    app, _ = equipped
    webhook = (await add_active(app)).webhook
    await begin(app)
    [delivery] = await lease(app, webhook)

    await postpone(app, delivery, webhook)

    stored = await look_at_delivery(app, delivery)
    assert (stored.state, stored.tries, stored.due_at) == (DeliveryState.PENDING, 1, NOW + MINUTE)
    assert stored.lease_owner is None


# ---- who gets what ----


async def test_each_endpoint_gets_the_events_that_it_wants(equipped: Equipped) -> None:
    app, _ = equipped
    all_events, refunds = await add_active(app), await add_active(app, payment_types=("RF",))
    registrations = await add_active(app, types=("REGISTRATION",))
    debit = await begin(app)
    await follow(app, debit, "RF", 100)

    counts = [len(await lease(app, each.webhook)) for each in (all_events, refunds, registrations)]

    assert counts == [2, 1, 0]


async def test_nothing_is_kept_for_an_endpoint_that_was_not_tested(equipped: Equipped) -> None:
    app, notifier = equipped
    webhook = (await webhooks.add_webhook(app, MERCHANT.id, URL)).webhook
    await app.merchants.refresh(app.database)
    await begin(app)
    assert await lease(app, webhook) == []

    notifier.script = [Received(500)]
    assert not (await webhooks.test_webhook(app, webhook)).is_success
    assert (await look_at(app, webhook)).state is WebhookState.INACTIVE


async def test_a_pause_stays_when_a_test_is_answered(equipped: Equipped) -> None:
    app, _ = equipped
    webhook = (await add_active(app)).webhook
    await webhooks.change_webhook(app, webhook, state=WebhookState.PAUSED)

    assert (await webhooks.test_webhook(app, await look_at(app, webhook))).is_success

    assert (await look_at(app, webhook)).state is WebhookState.PAUSED


async def test_a_removed_endpoint_gets_nothing_more(equipped: Equipped) -> None:
    app, _ = equipped
    webhook = (await add_active(app)).webhook
    await begin(app)
    await pass_on_announcements(app)

    assert await webhooks.remove_webhook(app, webhook)

    assert await find_webhook(app.database, MERCHANT.id, webhook.id) is None
    assert await lease(app, webhook) == []


async def test_a_merchant_has_a_limited_number_of_endpoints(equipped: Equipped) -> None:
    app, _ = equipped
    for _ in range(LIMITS.webhooks_per_merchant_max):
        await webhooks.add_webhook(app, MERCHANT.id, URL)

    with pytest.raises(Refusal) as refused:
        await webhooks.add_webhook(app, MERCHANT.id, URL)
    assert refused.value.detail == "a merchant has at most 50 webhooks"


# ---- notifications ----


async def test_a_payment_whose_result_was_open_is_told_to_its_notification_url(
    equipped: Equipped, wire: ScriptedWire
) -> None:
    app, notifier = equipped
    url = "https://shop.example/told?order=7"
    wire.script = [PENDING]
    waiting = await begin(app, "CD", echo={"notificationUrl": url})
    assert await lease(app, None) == [], "the result is still open"

    move_to(app, NOW + DAY)
    await run_due(app)
    [attempted] = await deliver_all(app, None)

    assert attempted.is_success
    [sent] = notifier.sent
    assert (sent.method, sent.body) == ("GET", b"")
    assert sent.url == f"{url}&id={waiting.id}&resourcePath=%2Fv1%2Fpayments%2F{waiting.id}"
    assert notifier.timeouts_s == [LIMITS.notification_timeout_s]


async def test_a_payment_that_is_answered_at_once_is_not_told_to_its_notification_url(equipped: Equipped) -> None:
    app, notifier = equipped
    await begin(app, echo={"notificationUrl": "https://shop.example/told"})

    assert await deliver_all(app, None) == []
    assert notifier.sent == []


async def test_a_notification_that_fails_is_tried_again_like_an_event(equipped: Equipped) -> None:
    app, notifier = equipped
    delivery = replace(
        await fail_once(equipped, Received(200)),
        webhook_id=MERCHANT.id,
        url="http://shop.example/told",
        state=DeliveryState.PENDING,
        tries=0,
    )
    await app.database.write(deliveries.insert_delivery_writes(delivery), label="test")
    notifier.script = [Received(503, retry_after="300")]
    [attempted] = await deliver_all(app, None)

    assert attempted.failure == "answered 503"
    stored = await look_at_delivery(app, delivery)
    assert (stored.state, stored.due_at) == (DeliveryState.PENDING, NOW + 300 * SECOND)


async def test_an_object_that_cannot_be_read_holds_up_no_other_event(
    equipped: Equipped, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise ValueError("somebody changed the row")

    monkeypatch.setattr("tollgate.flows.deliver.find_registration", fail)
    app, notifier = equipped
    webhook = (await add_active(app, scheme=Scheme.SIGNED)).webhook
    event = Event(
        id=make_timed_id(NOW, "8a"),
        merchant_id=MERCHANT.id,
        subject_id="8a",
        topic="registration.created",
        created_at=NOW,
    )
    assert await app.database.write(append_event_writes(event, CHANNEL.id), label="test")
    await begin(app)

    await deliver_all(app, webhook)

    bodies = {body["type"]: body["payload"] for body in (orjson.loads(sent.body) for sent in notifier.sent)}
    assert bodies["REGISTRATION"] == {"id": "8a"}
    assert bodies["PAYMENT"]["amount"] == "92.00"
    assert "object of an event cannot be read" in caplog.text
