"""The queue of payments under review: an operator accepts each, or rejects it and gives the money back.

Whether a payment is reviewed is decided by its risk rules, and what a decision does in `flows`.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import audit_actions, limits, permissions
from tollgate.catalog.risk_rows import NOTE
from tollgate.flows import reviews as flow
from tollgate.office import approvals, chains, findings, form_keys, visits
from tollgate.operations import signing
from tollgate.payments.payment import Payment
from tollgate.payments.reviews import Decision, Review, ReviewState
from tollgate.payments.users import find_refund_limit
from tollgate.store import reviews, search_index
from tollgate.web.pages import showing
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/reviews"
_HELD = "PA"
"""A reservation takes no money before it is captured, and captures wait for the decision."""
_SEES, _MAY = permissions.Permission.VIEW_RISK, permissions.Permission.DECIDE_REVIEWS


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A review as the queue shows it."""

    review: Review
    payment: Payment | None
    """The payment under review; None if its row is not what was written."""
    hits: list[findings.ShownHit]
    may_decide: bool


@ROUTES.add("GET", _PATH, _SEES, may_be_behind=True)
async def show_reviews(visit: visits.Visit) -> Reply:
    """Lists the open reviews of the channels that the user sees, the oldest first."""
    merchant_id, after = visit.get_merchant().id, visit.find("after")
    is_place = after.isascii() and after.isdecimal() and len(after) < len(str(2**63))
    channels = {str(each.id): each.name for each in visit.list_channels(_SEES)}
    found = await reviews.list_open(
        visit.app.database,
        merchant_id,
        list(channels),
        limits.LIMITS.reviews_shown,
        after=int(after) if is_place else -1,
    )
    payments = await search_index.load_payments(visit.app.database, merchant_id, [each.id for each in found])
    names = await findings.list_names(visit, filter(None, payments.values()))
    cases = [_make_case(visit, each, payments.get(each.id), names) for each in found]
    return visit.render(
        "reviews.html",
        title="Reviews",
        cases=cases,
        channels=channels,
        following=found[-1].opened_at if len(found) == limits.LIMITS.reviews_shown else "",
        is_first=not is_place,
        key=form_keys.make_form_key(visit),
    )


def _make_case(visit: visits.Visit, review: Review, payment: Payment | None, names: Mapping[str, str]) -> Case:
    is_sound = payment is not None and signing.has_signature(payment, visit.app.keyring)
    return Case(
        review=review,
        payment=payment if is_sound else None,
        hits=findings.list_hits(payment, names) if payment is not None and is_sound else [],
        may_decide=is_sound and visit.may(_MAY, review.channel_id),
    )


@ROUTES.add("POST", f"{_PATH}/{{id}}", _MAY)
async def submit_decision(visit: visits.Visit) -> Reply:
    """Decides a review. Taken money that goes back counts like a refund: for limits, and for a second person."""
    found = await chains.get_found(visit, visit.names[0], _MAY)
    chains.refuse_tampered(found)
    payment, decision, note = found.payment, visit.find("decision"), visit.find("note")
    if decision not in list(Decision):
        raise visits.refuse_field("decision", "must be to accept or to reject")
    if not NOTE.accepts(note):
        raise visits.refuse_field("note", NOTE.message)
    back = f"{visit.base}{found.path if visit.find('from') == 'payment' else '/reviews'}"
    review = await _get_review(visit, payment.id)
    if review.state is not ReviewState.OPEN:
        return visit.go(back, _render_ended(review))
    fields = {"payment": payment.id, "decision": decision, "note": note, "key": visit.find("key")}
    if decision == Decision.ACCEPT or payment.payment_type == _HELD:
        return visit.go(back, await decide.run(visit, fields))
    limit = find_refund_limit(visit.grants, payment.merchant_id, payment.channel_id)
    money = showing.show_amount(payment.money.hundredths, payment.money.currency)
    if limit is not None and payment.left > limit:
        shown = showing.show_amount(limit, payment.money.currency)
        raise visits.refuse_field("decision", f"your limit is {shown} for one payment: ask somebody with a higher one")
    return await approvals.perform(
        visit,
        decide,
        fields,
        back=back,
        subject=payment.id,
        summary=f"reject payment {payment.id} and give {money} back",
        channel_id=payment.channel_id,
        amount=payment.left,
    )


async def _get_review(visit: visits.Visit, payment_id: str) -> Review:
    review = await reviews.find_review(visit.app.database, visit.get_merchant().id, payment_id)
    if review is None:
        raise visits.make_not_found("review")
    return review


def _render_ended(review: Review) -> str:
    by = f" by {review.decided_by}" if review.decided_by else ""
    return f"The review had ended before: it was {review.state.name.lower()}{by}."


@approvals.declare_action("reject payment", permissions.ApprovalKind.REFUND, _MAY)
async def decide(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Decides a review that is still open."""
    found = await chains.get_found(visit, fields["payment"], _MAY)
    chains.refuse_tampered(found)
    payment, decision = found.payment, Decision(fields["decision"])
    review = await _get_review(visit, payment.id)
    if review.state is not ReviewState.OPEN:
        return _render_ended(review)
    await visit.record(audit_actions.AuditAction.REVIEW_DECIDED, payment.id, decision=decision)
    await flow.decide(visit.app, payment.merchant_id, payment.id, decision, visit.user.name, fields["note"])
    word = "accepted" if decision is Decision.ACCEPT else "rejected, and its money goes back"
    return f"Payment {payment.short_id} is {word}."
