"""Endpoints and replays as they are stored, and who wins where two change an endpoint."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from databases.delivery_samples import ENDPOINT, add_endpoint
from databases.samples import CHANNEL, MERCHANT, NOON
from tollgate.operations.caches import MerchantCache
from tollgate.payments.webhooks import FieldChoice, Scheme, WebhookState, Wrapper
from tollgate.store import replays, webhooks
from tollgate.store.database import Database
from tollgate.store.merchants import get_merchants_version
from tollgate.values import MerchantId, make_id

pytestmark = pytest.mark.anyio

RICH = replace(
    ENDPOINT,
    channel_id=CHANNEL,
    types=("PAYMENT", "registration.created"),
    payment_types=("DB", "PA"),
    result_groups=("succeeded",),
    fields=FieldChoice.NON_CUSTOMER_DATA,
    wrapper=Wrapper.JSON,
    scheme=Scheme.BOTH,
    is_ordered=True,
    retries_s=(5, 10),
    reason="why",
    sealed_secrets=b"\x00sealed",
)


async def test_an_endpoint_is_read_back_as_it_was_written(db: Database) -> None:
    await webhooks.insert_webhook(db, RICH)

    assert await webhooks.find_webhook(db, MERCHANT, RICH.id) == RICH
    assert await webhooks.find_webhook(db, MerchantId("8a" + "9" * 30), RICH.id) is None


async def test_endpoints_are_listed_by_their_age_and_for_one_merchant_alone(db: Database) -> None:
    young = await add_endpoint(db, id=make_id(), created_at=NOON + 5)
    old = await add_endpoint(db, id=make_id())
    other = await add_endpoint(db, id=make_id(), merchant_id=MerchantId("8a" + "9" * 30), created_at=NOON + 9)

    assert await webhooks.list_webhooks(db, MERCHANT) == [old, young]
    assert await webhooks.list_all_webhooks(db) == [old, young, other]


async def test_of_two_changes_of_one_reading_the_first_counts(db: Database) -> None:
    webhook = await add_endpoint(db)

    assert await webhooks.update_webhook(db, replace(webhook, url="https://shop.example/first"))
    assert not await webhooks.update_webhook(db, replace(webhook, url="https://shop.example/second"))

    stored = await webhooks.find_webhook(db, MERCHANT, webhook.id)
    assert stored == replace(webhook, url="https://shop.example/first", revision=1)


async def test_a_change_of_state_needs_the_state_that_was_seen_and_outdates_other_changes(db: Database) -> None:
    webhook = await add_endpoint(db)

    assert await webhooks.set_webhook_state(db, webhook, WebhookState.DISABLED, "gone")
    assert not await webhooks.set_webhook_state(db, webhook, WebhookState.PAUSED)
    assert not await webhooks.update_webhook(db, replace(webhook, url="https://shop.example/late"))

    stored = await webhooks.find_webhook(db, MERCHANT, webhook.id)
    assert stored == replace(webhook, state=WebhookState.DISABLED, reason="gone", revision=1)


async def test_secrets_are_rewrapped_only_where_they_are_as_they_were_seen(db: Database) -> None:
    webhook = await add_endpoint(db)

    assert await webhooks.rewrap_secrets(db, webhook, b"fresh")
    assert not await webhooks.rewrap_secrets(db, webhook, b"late")

    stored = await webhooks.find_webhook(db, MERCHANT, webhook.id)
    assert stored == replace(webhook, sealed_secrets=b"fresh", revision=1)


async def test_a_deleted_endpoint_is_gone(db: Database) -> None:
    webhook = await add_endpoint(db)

    assert await webhooks.delete_webhook(db, webhook)
    assert not await webhooks.delete_webhook(db, webhook)
    assert not await webhooks.update_webhook(db, webhook)
    assert await webhooks.list_all_webhooks(db) == []


async def test_every_change_is_noticed_by_the_caches_of_all_processes(db: Database) -> None:
    cache, versions = MerchantCache(), [await get_merchants_version(db)]
    webhook = await add_endpoint(db, state=WebhookState.INACTIVE)
    await cache.refresh(db)
    versions.append(await get_merchants_version(db))
    assert cache.list_webhooks(MERCHANT) == (), "nothing is kept for an inactive one"

    await webhooks.set_webhook_state(db, webhook, WebhookState.ACTIVE)
    assert await cache.refresh(db)
    versions.append(await get_merchants_version(db))
    found = cache.find_webhook(MERCHANT, webhook.id)
    assert found is not None
    for state in (WebhookState.PAUSED, WebhookState.DISABLED):
        await webhooks.set_webhook_state(db, found, state)
        await cache.refresh(db)
        found = cache.find_webhook(MERCHANT, webhook.id)
        assert found is not None, "its events are kept"
        assert found.state is state
    await webhooks.delete_webhook(db, found)
    await cache.refresh(db)
    versions.append(await get_merchants_version(db))
    assert cache.list_webhooks(MERCHANT) == ()
    assert versions == sorted(set(versions))


async def test_a_replay_is_recorded(db: Database) -> None:
    record = replays.Replay(
        id=make_id(),
        merchant_id=MERCHANT,
        webhook_id=ENDPOINT.id,
        requested_at=NOON,
        requested_by="operator",
        filter='{"types":["PAYMENT"]}',
        deliveries=17,
    )
    assert await db.write(replays.insert_replay_writes(record), label="test")

    assert await replays.list_replays(db) == [record]
