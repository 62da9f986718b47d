"""The endpoints of merchants. A change counts the version of merchants up, by which all processes notice it."""

from tollgate.payments.webhooks import Webhook, WebhookState
from tollgate.store.codec import ONE, Codec, bind
from tollgate.store.database import Database
from tollgate.store.deliveries import drop_deliveries_writes
from tollgate.store.merchants import change_merchants
from tollgate.store.schema import webhooks
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId

WEBHOOKS = Codec(webhooks, Webhook)

find_webhook = WEBHOOKS.find
list_all_webhooks = WEBHOOKS.make_list("created_at", "id")
_FIXED = frozenset({"id", "merchant_id", "created_at", "is_listener", "revision"})
_insert = WEBHOOKS.insert()
_update = WEBHOOKS.update(
    seen=["revision"],
    new=[name for name in WEBHOOKS.names if name not in _FIXED],
    revision=webhooks.c.revision + ONE,
)
_set_state = WEBHOOKS.update(seen=["state"], new=["state", "reason"], revision=webhooks.c.revision + ONE)
_delete = WEBHOOKS.delete()
# Counted as a change, or else whoever read the row before would write back what is sealed under the old key.
_rewrap = WEBHOOKS.update(seen=["sealed_secrets"], new=["sealed_secrets"], revision=webhooks.c.revision + ONE)
_of_merchant = Statement(
    WEBHOOKS.select(webhooks.c.merchant_id == bind("of", webhooks.c.merchant_id)).order_by(
        webhooks.c.created_at, webhooks.c.id
    )
)


async def list_webhooks(db: Database, merchant_id: MerchantId) -> list[Webhook]:
    return await WEBHOOKS.fetch(db, _of_merchant, {"of_merchant_id": merchant_id})


async def insert_webhook(db: Database, webhook: Webhook) -> None:
    await change_merchants(db, _insert(webhook))


async def update_webhook(db: Database, changed: Webhook, *more: Write) -> bool:
    """Saves an endpoint as changed; False where somebody else changed it since it was read, or it is gone."""
    return await change_merchants(db, [*_update(changed, changed), *more])


async def set_webhook_state(db: Database, seen: Webhook, state: WebhookState, reason: str = "") -> bool:
    """Changes the state of an endpoint; False where it is no longer in the state that was seen."""
    return await change_merchants(db, _set_state(seen, new_state=state, new_reason=reason))


async def delete_webhook(db: Database, webhook: Webhook) -> bool:
    """Deletes an endpoint and what was still to be delivered to it."""
    return await change_merchants(db, [*_delete(webhook), *drop_deliveries_writes(webhook)])


async def rewrap_secrets(db: Database, webhook: Webhook, fresh: bytes) -> bool:
    """Writes the same secrets under another key; returns False if they were changed meanwhile."""
    return await change_merchants(db, _rewrap(webhook, new_sealed_secrets=fresh))
