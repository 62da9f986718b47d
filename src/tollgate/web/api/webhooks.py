"""Endpoints by which platforms manage the webhooks of a merchant. Secrets are answered once.

What a change does is decided in `flows`.
"""

from typing import Any

from tollgate.catalog import codes, results
from tollgate.contract import webhooks as contract
from tollgate.flows import webhooks
from tollgate.operations.app import App
from tollgate.payments.webhooks import Webhook
from tollgate.store import webhooks as store_webhooks
from tollgate.store.deliveries import list_backlogs
from tollgate.values import HOUR, SECOND, NotFound
from tollgate.vault.webhooks import show_secrets
from tollgate.web.request import Access, Caller, Reply, Request, Routes, reply_with

ROUTES = Routes()


@ROUTES.add("POST", "/v1/webhooks", "create_webhook", Access.TOKEN)
async def create_webhook(request: Request, caller: Caller, app: App) -> Reply:
    """Adds an endpoint for webhooks, of one channel if an entity is named; shows its secrets this once."""
    terms = contract.read_terms(request.pairs, is_new=True)
    channel_id = caller.channel.id if caller.channel else None
    new = await webhooks.add_webhook(app, caller.merchant_id, **terms, channel_id=channel_id)
    return await _answer_new(app, caller, new)


@ROUTES.add("GET", "/v1/webhooks", "list_webhooks", Access.TOKEN)
async def read_webhooks(_request: Request, caller: Caller, app: App) -> Reply:
    """Lists the endpoints for webhooks of the merchant, oldest first, with their pending deliveries."""
    found = [each for each in await store_webhooks.list_webhooks(app.database, caller.merchant_id) if _is_own(each)]
    return _answer(app, caller, webhooks=await _render(app, caller, found))


@ROUTES.add("GET", "/v1/webhooks/{id}", "read_webhook", Access.TOKEN)
async def read_webhook(request: Request, caller: Caller, app: App) -> Reply:
    """Reads an endpoint for webhooks; 404 where there is none."""
    webhook = await _get(request, caller, app)
    return _answer(app, caller, **(await _render(app, caller, [webhook]))[0])


@ROUTES.add("POST", "/v1/webhooks/{id}", "update_webhook", Access.TOKEN)
async def update_webhook(request: Request, caller: Caller, app: App) -> Reply:
    """Changes an endpoint for webhooks; with another `url` it is inactive until it is tested again."""
    webhook = await _get(request, caller, app)
    changed = await webhooks.change_webhook(app, webhook, **contract.read_terms(request.pairs, is_new=False))
    await app.merchants.refresh(app.database)
    return _answer(app, caller, **contract.render_webhook(changed))


@ROUTES.add("DELETE", "/v1/webhooks/{id}", "delete_webhook", Access.TOKEN)
async def delete_webhook(request: Request, caller: Caller, app: App) -> Reply:
    """Removes an endpoint for webhooks, and what was still to be delivered to it."""
    webhook = await _get(request, caller, app)
    await webhooks.remove_webhook(app, webhook)
    await app.merchants.refresh(app.database)
    return _answer(app, caller, id=webhook.id)


@ROUTES.add("POST", "/v1/webhooks/{id}/test", "test_webhook", Access.TOKEN)
async def send_test(request: Request, caller: Caller, app: App) -> Reply:
    """Sends the test event, and answers with its status or why it failed; an answer of 2xx activates the endpoint."""
    webhook = await _get(request, caller, app)
    attempted = await webhooks.test_webhook(app, webhook)
    await app.merchants.refresh(app.database)
    tested = contract.render_test(attempted.status, attempted.failure, attempted.record.latency_ms)
    return _answer(app, caller, **contract.render_webhook(await _get(request, caller, app)), **tested)


@ROUTES.add("POST", "/v1/webhooks/{id}/rotate", "rotate_webhook", Access.TOKEN)
async def rotate_webhook(request: Request, caller: Caller, app: App) -> Reply:
    """Makes new secrets and shows them this once; the present ones stay live for `overlap` hours, 24 by default."""
    webhook = await _get(request, caller, app)
    overlap_hours, secret = contract.read_rotation(request.pairs)
    new = await webhooks.rotate_webhook(app, webhook, overlap_hours * HOUR // SECOND, secret=secret)
    return await _answer_new(app, caller, new)


def _is_own(webhook: Webhook) -> bool:
    """Tells whether the merchant made the endpoint; a listener belongs to a command on the host."""
    return not webhook.is_listener


async def _get(request: Request, caller: Caller, app: App) -> Webhook:
    found = await store_webhooks.find_webhook(app.database, caller.merchant_id, request.names[0])
    if found is None or not _is_own(found):
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such webhook")
    return found


async def _render(app: App, caller: Caller, found: list[Webhook]) -> list[dict[str, Any]]:
    backlogs = await list_backlogs(app.database, caller.merchant_id)
    return [
        contract.render_webhook(each, **contract.render_backlog(*backlogs.get(each.id, (0, None)))) for each in found
    ]


async def _answer_new(app: App, caller: Caller, new: webhooks.NewWebhook) -> Reply:
    await app.merchants.refresh(app.database)
    secrets = contract.render_secrets(new.webhook, *show_secrets(new.secrets))
    return _answer(app, caller, **(contract.render_webhook(new.webhook) | secrets))


def _answer(app: App, caller: Caller, **shown: Any) -> Reply:
    return reply_with(contract.answer_webhook(app.envelope, caller.ndc, app.clock.now(), **shown))
