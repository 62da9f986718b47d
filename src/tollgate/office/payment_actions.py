"""Captures, reversals, refunds and rebills from the page of a payment, through the same flow as the interface.

What is possible is decided by the rows of follow-ups; here it is shown, and asked for once.
"""

from collections.abc import Mapping

import msgspec
import orjson

from tollgate.catalog import audit_actions, payment_types, permissions, results
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.follow_ups import read_follow_up, spell_follow_up
from tollgate.flows.follow_up import decide, follow_up
from tollgate.office import approvals, chains, form_keys, visits
from tollgate.operations import charging, idempotency
from tollgate.operations.app import Call
from tollgate.payments import chain, order
from tollgate.payments.following import FOLLOWINGS
from tollgate.payments.payment import IdempotencyKey, Payment, State
from tollgate.payments.users import find_refund_limit
from tollgate.store import payments
from tollgate.values import make_short_id
from tollgate.web.pages import showing
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/payments/{{id}}"


class ActionRow(msgspec.Struct, frozen=True):
    """An action on the page of a payment."""

    word: str
    payment_type: str
    permission: permissions.Permission
    audit: audit_actions.AuditAction
    text: str


ACTION_ROWS = {
    row.word: row
    for row in (
        ActionRow(
            "capture",
            "CP",
            permissions.Permission.CAPTURE,
            audit_actions.AuditAction.PAYMENT_CAPTURED,
            "Takes the money that the authorization holds, or a part of it.",
        ),
        ActionRow(
            "reverse",
            "RV",
            permissions.Permission.CAPTURE,
            audit_actions.AuditAction.PAYMENT_REVERSED,
            "Gives back all that is left, before it reaches the shopper's statement.",
        ),
        ActionRow(
            "refund",
            "RF",
            permissions.Permission.REFUND,
            audit_actions.AuditAction.PAYMENT_REFUNDED,
            "Gives money back to the shopper, all of it or a part.",
        ),
        ActionRow(
            "rebill",
            "RB",
            permissions.Permission.REFUND,
            audit_actions.AuditAction.PAYMENT_REBILLED,
            "Takes a further amount from the same account, up to that of this payment.",
        ),
    )
}


class Offer(msgspec.Struct, frozen=True):
    """An action as the page shows it."""

    row: ActionRow
    plan: chain.Plan | None
    reason: str
    """The reason why it is not possible."""
    limit: int | None = None
    """The largest sum that the user may give back of one payment, or rebill."""

    @property
    def has_amount(self) -> bool:
        return payment_types.PAYMENT_TYPES[self.row.payment_type].needs_amount_as_follow_up


async def list_offers(visit: visits.Visit, found: chains.Found) -> list[Offer]:
    """Lists the actions that a payment may have, each with its bound or with the reason why it is not possible."""
    if found.tampered or found.is_over:
        return []
    offers = []
    context = await charging.read_own_context(visit.app, found.payment)
    for row in ACTION_ROWS.values():
        if found.payment.payment_type not in payment_types.PAYMENT_TYPES[row.payment_type].follows:
            continue
        decision = decide(visit.app, _make_request(row.payment_type), context, found.channel)
        reason = results.get_result(decision.code).description if isinstance(decision, chain.Refused) else ""
        if not visit.may(row.permission, found.channel.id):
            reason = f"Your role does not allow you to {row.permission}."
        plan = decision if isinstance(decision, chain.Plan) and not reason else None
        limit = _find_limit(visit, found) if plan is not None and _is_limited(plan) else None
        offers.append(Offer(row, plan, reason, limit))
    return offers


def _make_request(payment_type: str) -> order.FollowUp:
    return order.FollowUp(
        payment_type=payment_type, amount=None, currency=None, practice=None, is_final=False, descriptor="", short_id=""
    )


def _is_limited(plan: chain.Plan) -> bool:
    """Tells whether the limit of the user counts: for what gives taken money back, and for rebills."""
    return plan.following.net < 0 or plan.following.payment_type == "RB"


_LIMITED_TYPES = ({"RF", "RV"}, {"RB"})


def _sum_earlier(found: chains.Found, plan: chain.Plan) -> int:
    """Sums what was given back of the chain before, or rebilled: limits count it, or else parts would pass below them.

    The interface may have asked for some of it. Reversals of authorizations move no taken money and do not count.
    """
    types = next((each for each in _LIMITED_TYPES if plan.following.payment_type in each), set())
    return sum(
        each.money.hundredths
        for each in found.chain
        if each.payment_type in types
        and each.state is not State.DECLINED
        and each.action is not None
        and FOLLOWINGS[each.action].net
    )


def _find_limit(visit: visits.Visit, found: chains.Found) -> int | None:
    return find_refund_limit(visit.grants, visit.get_merchant().id, found.channel.id)


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A follow-up that a user asked for, checked like a request of the interface."""

    row: ActionRow
    found: chains.Found
    fields: Fields
    request: order.FollowUp
    key: IdempotencyKey
    plan: chain.Plan | None = None

    @property
    def summary(self) -> str:
        payment, amount = self.found.payment, self.request.amount
        money = amount if amount is not None else payment.left
        label = payment_types.PAYMENT_TYPES[self.row.payment_type].label
        return f"{label} of {showing.show_amount(money, payment.money.currency)} on payment {payment.id}"


async def _read(visit: visits.Visit, row: ActionRow, payment_id: str, sent: Mapping[str, str]) -> _Wanted:
    app = visit.app
    found = await chains.get_found(visit, payment_id, row.permission)
    chains.refuse_tampered(found)
    amount = None
    if payment_types.PAYMENT_TYPES[row.payment_type].needs_amount_as_follow_up:
        amount = sent.get("amount", "").replace(",", "")
        if not amount:
            raise visits.refuse_field("amount", "is needed, as in 12.34")
    pairs = spell_follow_up(row.payment_type, found.payment, amount, is_final=bool(sent.get("final")))
    fields = read_fields(pairs, app.make_situation("follow_up", found.channel))
    request = read_follow_up(fields, found.channel, short_id=make_short_id(app.random_bytes), is_live=app.is_live)
    name = f"office-{form_keys.check_form_key(sent['key'])}"
    key = idempotency.make_idempotency_key(app, name, found.channel, "POST", f"/v1/payments/{found.payment.id}", fields)
    return _Wanted(row=row, found=found, fields=fields, request=request, key=key)


async def _plan(visit: visits.Visit, wanted: _Wanted) -> _Wanted:
    """Refuses what the rows of follow-ups or the limit of the user do not allow, before anything is stored."""
    context = await charging.read_own_context(visit.app, wanted.found.payment)
    decision = decide(visit.app, wanted.request, context, wanted.found.channel)
    if isinstance(decision, chain.Refused):
        raise visits.refuse_field(wanted.row.word, results.get_result(decision.code).description)
    limit = _find_limit(visit, wanted.found) if _is_limited(decision) else None
    if limit is not None and _sum_earlier(wanted.found, decision) + decision.money.hundredths > limit:
        shown = showing.show_amount(limit, decision.money.currency)
        raise visits.refuse_field("amount", f"your limit is {shown} for one payment: ask somebody with a higher one")
    return msgspec.structs.replace(wanted, plan=decision)


async def run_follow_up(visit: visits.Visit, sent: Mapping[str, str]) -> str:
    """Carries an action out, as the user whose visit it is, and returns what to tell the user."""
    row = ACTION_ROWS[sent["action"]]
    wanted = await _read(visit, row, sent["payment"], sent)
    found = wanted.found
    # Looked for in the chain, because the idempotency key itself is forgotten after a day.
    earlier = await payments.find_follow_up(
        visit.app.database, found.payment.merchant_id, found.payment.first_id, wanted.key.key
    )
    if earlier is not None:
        return _render_earlier(earlier)
    wanted = await _plan(visit, wanted)
    await visit.record(row.audit, found.payment.id, summary=wanted.summary)
    call = Call(found.channel, f"{found.channel.id}_{visit.request.trace}", wanted.key)
    # What was given back before was added up for the limits, so nothing may come between.
    answer = await follow_up(visit.app, wanted.request, found.payment.id, call, judged=found.chain[0])
    result = orjson.loads(answer.body)["result"]
    return f"{wanted.summary[:1].upper()}{wanted.summary[1:]}: {result['code']} {result['description']}"


def _render_earlier(payment: Payment) -> str:
    label = payment_types.PAYMENT_TYPES[payment.payment_type].label
    money = showing.show_amount(payment.money.hundredths, payment.money.currency)
    code = payment.result_code
    result = f"{code} {results.get_result(code).description}" if code else "its result is not known yet"
    return f"The {label} of {money} had been sent before, as payment {payment.id}: {result}"


_REFUND = approvals.declare_action("refund", permissions.ApprovalKind.REFUND, permissions.Permission.REFUND)(
    run_follow_up
)
_REVERSAL = approvals.declare_action("reversal", permissions.ApprovalKind.REFUND, permissions.Permission.CAPTURE)(
    run_follow_up
)


async def _act(visit: visits.Visit, word: str) -> Reply:
    row = ACTION_ROWS[word]
    sent = {name: visit.find(name) for name in ("amount", "key", "final")}
    sent |= {"action": word, "payment": visit.names[0]}
    wanted = await _read(visit, row, visit.names[0], sent)
    back = f"{visit.base}{wanted.found.path}"
    if await idempotency.find_earlier_answer(visit.app, wanted.key) is not None:
        return visit.go(back, form_keys.SENT_BEFORE)
    wanted = await _plan(visit, wanted)
    if wanted.plan is None or wanted.plan.following.net >= 0:
        return visit.go(back, await run_follow_up(visit, sent))
    return await approvals.perform(
        visit,
        _REFUND if row.permission is permissions.Permission.REFUND else _REVERSAL,
        sent,
        back=back,
        subject=wanted.found.payment.id,
        summary=wanted.summary,
        channel_id=wanted.found.channel.id,
        amount=_sum_earlier(wanted.found, wanted.plan) + wanted.plan.money.hundredths,
    )


@ROUTES.add("POST", f"{_PATH}/capture", permissions.Permission.CAPTURE)
async def capture(visit: visits.Visit) -> Reply:
    """Captures an authorization."""
    return await _act(visit, "capture")


@ROUTES.add("POST", f"{_PATH}/reverse", permissions.Permission.CAPTURE)
async def reverse(visit: visits.Visit) -> Reply:
    """Reverses a payment."""
    return await _act(visit, "reverse")


@ROUTES.add("POST", f"{_PATH}/refund", permissions.Permission.REFUND)
async def refund(visit: visits.Visit) -> Reply:
    """Refunds a payment."""
    return await _act(visit, "refund")


@ROUTES.add("POST", f"{_PATH}/rebill", permissions.Permission.REFUND)
async def rebill(visit: visits.Visit) -> Reply:
    """Rebills a payment."""
    return await _act(visit, "rebill")
