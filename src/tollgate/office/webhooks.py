"""Endpoints for webhooks: added, changed, tested, rotated, paused, removed. Their events are on pages of their own.

Everything is done by the flows that the interface uses.
"""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, permissions
from tollgate.contract import webhooks as contract
from tollgate.contract.fields import Pairs
from tollgate.flows import sign_in, webhooks
from tollgate.office import approvals, visits
from tollgate.operations.webhooks import open_webhook
from tollgate.payments.webhooks import Webhook, WebhookState
from tollgate.store import deliveries, opening
from tollgate.store import webhooks as store_webhooks
from tollgate.values import HOUR, SECOND
from tollgate.vault.webhooks import hash_secrets, show_secrets
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
PATH = f"{visits.OF_MERCHANT}/webhooks"
MAY = permissions.Permission.MANAGE_WEBHOOKS
_UNSEEN = "webhook_secrets_unseen."
"""The prefix of settings that name who may see the new secrets of an endpoint, once."""
STATE_TONES = {WebhookState.ACTIVE: "good", WebhookState.PAUSED: "open", WebhookState.INACTIVE: "open"}


def _list_terms(webhook: Webhook | None) -> list[dict[str, object]]:
    """Returns the fields of the form: name, value, explanation, and the options where there are few."""
    rows: list[dict[str, object]] = []
    for term in contract.TERMS.values():
        value = "" if webhook is None else getattr(webhook, term.member)
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        options = ["false", "true"] if term.notation == "BOOLEAN" else term.notation.split("|")
        rows.append(
            {
                "name": term.name,
                "label": _make_label(term.name),
                "value": text.lower() if isinstance(value, bool) else text,
                "text": term.text,
                "words": ", ".join(term.words),
                "is_list": term.is_list,
                "options": options if len(options) > 1 else [],
            }
        )
    return rows


def _make_label(name: str) -> str:
    text = "".join(f" {each.lower()}" if each.isupper() else each for each in name)
    return "URL" if name == "url" else text[0].upper() + text[1:]


def _take_pairs(visit: visits.Visit, *, is_new: bool) -> Pairs:
    """Returns the terms as a request sends them; what a new endpoint leaves empty is left to its default."""
    names = {*contract.TERMS, *([contract.SECRET] if is_new else [])}
    sent = [(name, value.strip()) for name, value in visit.request.pairs if name in names]
    return [(name, value) for name, value in sent if value or not is_new]


async def get_webhook(visit: visits.Visit, webhook_id: str) -> Webhook:
    """Returns an endpoint that the user may manage; the listener of a command is none."""
    found = await store_webhooks.find_webhook(visit.app.database, visit.get_merchant().id, webhook_id)
    if found is None or found.is_listener or not visit.may(MAY, found.channel_id or ""):
        raise visits.make_not_found("webhook")
    return found


@ROUTES.add("GET", PATH, MAY)
async def show_webhooks(visit: visits.Visit) -> Reply:
    """Lists the endpoints with their states and what waits for them."""
    merchant_id = visit.get_merchant().id
    backlogs = await deliveries.list_backlogs(visit.app.database, merchant_id)
    found = await store_webhooks.list_webhooks(visit.app.database, merchant_id)
    rows = [
        (each, *backlogs.get(each.id, (0, None)))
        for each in found
        if not each.is_listener and visit.may(MAY, each.channel_id or "")
    ]
    return visit.render(
        "webhooks.html",
        title="Webhooks",
        rows=rows,
        terms=_list_terms(None),
        channels=_list_channel_choices(visit),
        tones=STATE_TONES,
    )


def _list_channel_choices(visit: visits.Visit) -> list[tuple[str, str]]:
    own = [(str(each.id), each.name) for each in visit.list_channels(MAY)]
    return [("", "all channels"), *own] if visit.may(MAY, "") else own


@ROUTES.add("POST", PATH, MAY, needs_confirmation=True)
async def submit_webhook(visit: visits.Visit) -> Reply:
    """Adds an endpoint, whose secrets wait to be shown to the user once."""
    terms = contract.read_terms(_take_pairs(visit, is_new=True), is_new=True)
    channel_id = visit.find("entity_id")
    visit.check(MAY, channel_id)
    if channel_id and channel_id not in dict(_list_channel_choices(visit)):
        raise visits.refuse_field("entity_id", "must be a channel of this merchant")
    await visit.record(
        audit_actions.AuditAction.WEBHOOK_CHANGED, "", change="added", url=terms["url"], channel=channel_id
    )
    new = await webhooks.add_webhook(visit.app, visit.get_merchant().id, **terms, channel_id=channel_id or None)
    await opening.put_setting(visit.app.database, _UNSEEN + new.webhook.id, visit.user.name)
    await visit.app.merchants.refresh(visit.app.database)
    return visit.go(f"{visit.base}/webhooks/{new.webhook.id}", "The webhook was added. Send the test event.")


@ROUTES.add("GET", f"{PATH}/{{id}}", MAY)
async def show_webhook(visit: visits.Visit) -> Reply:
    """Shows an endpoint, its terms and what can be done with it."""
    return await _render(visit, await get_webhook(visit, visit.names[0]))


async def _render(visit: visits.Visit, webhook: Webhook, secrets: tuple[str, str] | None = None) -> Reply:
    backlogs = await deliveries.list_backlogs(visit.app.database, webhook.merchant_id)
    seen_by = await opening.get_setting(visit.app.database, _UNSEEN + webhook.id)
    return visit.render(
        "webhook_page.html",
        title="Webhook",
        webhook=webhook,
        backlog=backlogs.get(webhook.id, (0, None)),
        terms=_list_terms(webhook),
        secrets=secrets,
        may_see=seen_by == visit.user.name and secrets is None,
        tones=STATE_TONES,
    )


async def _record(visit: visits.Visit, webhook: Webhook, change: str, **details: str) -> None:
    await visit.record(audit_actions.AuditAction.WEBHOOK_CHANGED, webhook.id, change=change, **details)


def _make_path(visit: visits.Visit, webhook: Webhook) -> str:
    return f"{visit.base}/webhooks/{webhook.id}"


@ROUTES.add("POST", f"{PATH}/{{id}}", MAY)
async def submit_changes(visit: visits.Visit) -> Reply:
    """Changes the terms of an endpoint; with another address it is inactive until it is tested."""
    webhook = await get_webhook(visit, visit.names[0])
    terms = contract.read_terms(_take_pairs(visit, is_new=False), is_new=False)
    changed = {name: value for name, value in terms.items() if getattr(webhook, name) != value}
    if "url" in changed and not sign_in.is_confirmed(visit.app, visit.session):
        return visits.ask_to_confirm(_make_path(visit, webhook))
    await _record(visit, webhook, "changed", terms=", ".join(changed))
    await webhooks.change_webhook(visit.app, webhook, **changed)
    await visit.app.merchants.refresh(visit.app.database)
    return visit.go(_make_path(visit, webhook), "The webhook was changed.")


@ROUTES.add("POST", f"{PATH}/{{id}}/test", MAY)
async def submit_test(visit: visits.Visit) -> Reply:
    """Sends the test event, and tells what came of it."""
    webhook = await get_webhook(visit, visit.names[0])
    await _record(visit, webhook, "tested")
    attempted = await webhooks.test_webhook(visit.app, webhook)
    await visit.app.merchants.refresh(visit.app.database)
    answer = f"The test event was answered with {attempted.status} in {attempted.record.latency_ms} ms."
    failure = f"The test event was not accepted: {attempted.failure}"
    return visit.go(_make_path(visit, webhook), failure if attempted.failure else answer)


@ROUTES.add("POST", f"{PATH}/{{id}}/rotate", MAY, needs_confirmation=True)
async def submit_rotation(visit: visits.Visit) -> Reply:
    """Makes new secrets, or asks a second person first."""
    webhook = await get_webhook(visit, visit.names[0])
    overlap = visit.find("overlap")
    contract.read_rotation([("overlap", overlap)])
    present = hash_secrets(open_webhook(visit.app, webhook), visit.app.keyring)
    return await approvals.perform(
        visit,
        rotate_secrets,
        {"webhook": webhook.id, "overlap": overlap, "requested_by": visit.user.name, "present": present},
        back=_make_path(visit, webhook),
        subject=webhook.id,
        summary=f"rotate the secrets of {webhook.url}; the present ones end after {overlap} hours",
        channel_id=webhook.channel_id or "",
    )


@approvals.declare_action("rotate webhook secrets", permissions.ApprovalKind.KEY_ROTATION, MAY)
async def rotate_secrets(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Makes new secrets, which only the user who asked for them is shown."""
    webhook = await get_webhook(visit, fields["webhook"])
    overlap_hours, _ = contract.read_rotation([("overlap", fields["overlap"])])
    # A second rotation would end secrets that the receiver may still use.
    if hash_secrets(open_webhook(visit.app, webhook), visit.app.keyring) != fields["present"]:
        return "The secrets were rotated since this was asked for, and are not rotated again."
    await _record(visit, webhook, "secrets rotated", hours=fields["overlap"], requested_by=fields["requested_by"])
    unseen = opening.put_setting_writes(_UNSEEN + webhook.id, fields["requested_by"])
    await webhooks.rotate_webhook(visit.app, webhook, overlap_hours * HOUR // SECOND, *unseen)
    await visit.app.merchants.refresh(visit.app.database)
    return "The webhook has new secrets. They wait to be shown once to who asked for them."


@ROUTES.add("POST", f"{PATH}/{{id}}/secrets", MAY, needs_confirmation=True)
async def show_new_secrets(visit: visits.Visit) -> Reply:
    """Shows the new secrets once, to the user who made them."""
    webhook = await get_webhook(visit, visit.names[0])
    await visit.record(audit_actions.AuditAction.WEBHOOK_SECRETS_VIEWED, webhook.id)
    if not await opening.replace_setting(visit.app.database, _UNSEEN + webhook.id, visit.user.name, ""):
        raise visits.refuse_field("secrets", "are shown once, to who made them; rotate them to get new ones")
    return await _render(visit, webhook, show_secrets(open_webhook(visit.app, webhook)))


_MOVES = {"pause": WebhookState.PAUSED, "resume": WebhookState.ACTIVE}


@ROUTES.add("POST", f"{PATH}/{{id}}/state", MAY)
async def submit_state(visit: visits.Visit) -> Reply:
    """Pauses or resumes deliveries."""
    webhook, move = await get_webhook(visit, visit.names[0]), visit.find("move")
    if move not in _MOVES:
        raise visits.refuse_field("move", f"must be one of [{', '.join(_MOVES)}]")
    await _record(visit, webhook, move)
    if not await webhooks.move_webhook(visit.app, webhook, _MOVES[move]):
        raise visits.refuse_field("move", f"cannot be done: the webhook is {webhook.state.name.lower()}")
    await visit.app.merchants.refresh(visit.app.database)
    return visit.go(_make_path(visit, webhook), f"The webhook is {_MOVES[move].name.lower()}.")


@ROUTES.add("POST", f"{PATH}/{{id}}/remove", MAY)
async def submit_removal(visit: visits.Visit) -> Reply:
    """Removes an endpoint, and what was still to be delivered to it."""
    webhook = await get_webhook(visit, visit.names[0])
    await _record(visit, webhook, "removed", url=webhook.url)
    await webhooks.remove_webhook(visit.app, webhook)
    await visit.app.merchants.refresh(visit.app.database)
    return visit.go(f"{visit.base}/webhooks", f"The webhook {webhook.url} was removed.")
