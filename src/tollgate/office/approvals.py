"""Four eyes: what one user asks for and another confirms. Which actions need it is a table of the host.

The action itself is run by the module that declared it.
"""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum

import msgspec

from tollgate.catalog import audit_actions, limits, permissions
from tollgate.office import form_keys
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit, make_not_found, refuse_field
from tollgate.operations.approvals import needs_approval
from tollgate.payments.users import Approval, ApprovalState, may
from tollgate.store import users
from tollgate.values import Refusal
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_PATH = f"{OF_MERCHANT}/approvals"

Run = Callable[[Visit, Mapping[str, str]], Awaitable[str]]
"""Runs an action with the fields of its form, and returns what to tell the user.

It is run again if its process was killed, so the fields name what it makes, and it looks for that first.
"""


class GuardedAction(msgspec.Struct, frozen=True):
    """An action that may need a second person."""

    name: str
    kind: permissions.ApprovalKind
    permission: permissions.Permission
    """Both users need it; the second needs the permission to approve as well."""
    run: Run


_ACTIONS: dict[str, GuardedAction] = {}


def declare_action(
    name: str, kind: permissions.ApprovalKind, permission: permissions.Permission
) -> Callable[[Run], GuardedAction]:
    """Declares the decorated function as an action, which `perform` runs at once or when it is granted."""

    def declare(run: Run) -> GuardedAction:
        action = GuardedAction(name, kind, permission, run)
        _ACTIONS[name] = action
        return action

    return declare


async def perform(
    visit: Visit,
    action: GuardedAction,
    fields: Mapping[str, str],
    *,
    back: str,
    subject: str,
    summary: str,
    channel_id: str = "",
    amount: int | None = None,
) -> Reply:
    """Runs an action at once, or asks a second person first. Either way the user is led to `back` and told.

    amount: hundredths, for actions whose row has a limit. fields: they are stored in clear, so no secret may be one;
    with `key`, the key of the form, a second person is asked once for it.
    channel_id: what the action is about; without it `channels` of the fields, and without those the whole merchant.
    """
    if not needs_approval(visit.app.four_eyes, action.kind, amount):
        return visit.go(back, await action.run(visit, fields))
    merchant_id, key = visit.get_merchant().id, fields.get("key") or form_keys.make_form_key(visit)
    approval_id = form_keys.derive_id(visit, action.name, key)
    if await users.find_approval(visit.app.database, merchant_id, approval_id) is not None:
        return visit.go(back, form_keys.SENT_BEFORE)
    approval = Approval(
        merchant_id=merchant_id,
        id=approval_id,
        channel_id=channel_id,
        action=action.name,
        subject=subject,
        summary=summary,
        fields=dict(fields),
        requested_by=visit.user.name,
        requested_at=visit.app.clock.now(),
    )
    await visit.record(audit_actions.AuditAction.APPROVAL_REQUESTED, subject, action=action.name, summary=summary)
    await users.insert_approval(visit.app.database, approval)
    return visit.go(back, f"A second person has to confirm this: {summary}. It waits under Approvals.")


@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_PAYMENTS)
async def show_approvals(visit: Visit) -> Reply:
    """Lists what waits for a second person, and what was decided."""
    merchant_id = visit.get_merchant().id
    found = await users.list_approvals(visit.app.database, merchant_id, limits.LIMITS.approvals_shown)
    rows = [(each, _choose_progress(visit, each), _may_decide(visit, each)) for each in found if _may_see(visit, each)]
    return visit.render("approvals.html", title="Approvals", rows=rows, kinds=Progress)


class Progress(StrEnum):
    """The progress of a request, as the page shows it."""

    WAITING = "waiting"
    EXPIRED = "expired"
    RUNNING = "being carried out"
    UNFINISHED = "unfinished"
    """The action was granted, and its process ended before the outcome was noted: it may have been done or not."""
    GRANTED = "granted"
    DECLINED = "declined"


_OPEN = frozenset({Progress.WAITING, Progress.UNFINISHED})
"""Somebody has to decide."""


def _choose_progress(visit: Visit, approval: Approval) -> Progress:
    now = visit.app.clock.now()
    if approval.state is ApprovalState.WAITING:
        is_old = now - approval.requested_at > limits.LIMITS.approval_lifetime
        return Progress.EXPIRED if is_old else Progress.WAITING
    if approval.state is ApprovalState.GRANTED and not approval.outcome:
        is_cut_off = now - (approval.decided_at or 0) > limits.LIMITS.approval_run
        return Progress.UNFINISHED if is_cut_off else Progress.RUNNING
    return Progress[approval.state.name]


def _list_channels(approval: Approval) -> list[str]:
    """Lists the ids of the channels that a request is about; an empty one stands for the whole merchant."""
    return [approval.channel_id] if approval.channel_id else approval.fields.get("channels", "").split(",")


def _may_see(visit: Visit, approval: Approval) -> bool:
    seen = (visit.may(permissions.Permission.VIEW_PAYMENTS, each) for each in _list_channels(approval))
    return approval.requested_by == visit.user.name or all(seen)


def _may_decide(visit: Visit, approval: Approval) -> bool:
    action = _ACTIONS.get(approval.action)
    return (
        action is not None
        and _choose_progress(visit, approval) in _OPEN
        and approval.requested_by != visit.user.name
        and all(
            visit.may(permissions.Permission.APPROVE, each) and visit.may(action.permission, each)
            for each in _list_channels(approval)
        )
    )


@ROUTES.add("POST", f"{_PATH}/{{id}}", permissions.Permission.APPROVE, needs_confirmation=True)
async def decide(visit: Visit) -> Reply:
    """Grants or declines a request of another user, or carries out again what was granted and cut off.

    The decision is saved before the action is run, so of two users at once one runs it. An action that is run again
    does nothing that it had done before.
    """
    approval = await users.find_approval(visit.app.database, visit.get_merchant().id, visit.names[0])
    if approval is None or not _may_see(visit, approval):
        raise make_not_found("request")
    if approval.requested_by == visit.user.name:
        raise refuse_field("decision", "another user has to decide this")
    if not _may_decide(visit, approval):
        raise refuse_field("decision", "the request was decided or has expired, or your role does not allow it")
    is_again = approval.state is ApprovalState.GRANTED
    is_granted = visit.find("decision") == "grant"
    if is_again and not is_granted:
        raise refuse_field("decision", "the request was granted: it can only be carried out")
    if is_granted and not await _may_still(visit, approval):
        raise refuse_field("decision", "whoever asked for this may not do it any more: please decline it")
    await visit.record(
        audit_actions.AuditAction.APPROVAL_GRANTED if is_granted else audit_actions.AuditAction.APPROVAL_DECLINED,
        approval.subject,
        action=approval.action,
        summary=approval.summary,
        requested_by=approval.requested_by,
        **({"again_after": approval.decided_by or ""} if is_again else {}),
    )
    decided = msgspec.structs.replace(
        approval,
        state=ApprovalState.GRANTED if is_granted else ApprovalState.DECLINED,
        decided_by=visit.user.name,
        decided_at=visit.app.clock.now(),
    )
    if not await users.decide_approval(visit.app.database, approval, decided):
        raise refuse_field("decision", "the request was decided at the same moment by somebody else")
    if not is_granted:
        return visit.go(f"{visit.base}/approvals", "Declined.")
    return visit.go(f"{visit.base}/approvals", await _run(visit, decided))


async def _may_still(visit: Visit, approval: Approval) -> bool:
    """Tells whether the user who asked still has the permission; it may have been disabled since, or lost a role."""
    user = await users.find_user_by_name(visit.app.database, approval.requested_by)
    grants = [] if user is None or user.is_disabled else await users.list_grants(visit.app.database, user.id)
    permission = _ACTIONS[approval.action].permission
    return all(may(grants, permission, approval.merchant_id, each) for each in _list_channels(approval))


async def _run(visit: Visit, approval: Approval) -> str:
    try:
        outcome = await _ACTIONS[approval.action].run(visit, approval.fields)
    except Refusal as refusal:
        outcome = f"Not done: {refusal.detail or refusal.result.description}"
    await users.note_outcome(visit.app.database, approval, outcome)
    return outcome
